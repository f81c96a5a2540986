import { hubSide } from '../contract/read-hub-side.js';
import { heightSamples } from '../hub-blocks.js';
import { relayableSince } from './batches.js';
import type { BridgeInput, BridgePast } from './bridge-input.js';
import { executedBatches, rememberedBatches } from './executions.js';
import { lastEventSeen } from './external-height.js';
import { watchedOrchestrators } from './registrations.js';
import { hubCoinDenom, rememberedBatchNonces } from './tokens.js';

/** The past of the next document. */
export function bridgePast(input: BridgeInput): BridgePast {
  return {
    at: input.at,
    heights: heightSamples(input),
    lastEvent: lastEventSeen(input),
    watched: watchedOrchestrators(input),
    hubCoinDenom: hubCoinDenom(input),
    batchNonces: rememberedBatchNonces(input),
    hubSide: hubSide(input),
    live: rememberedBatches(input),
    executed: executedBatches(input),
    relayableSince: relayableSince(input),
  };
}
