import type { Instant } from '../../clock.js';
import type { Numeral } from '../../chain/numeral.js';
import { lastEventSeen, type SeenEvent } from './batches.js';
import { heightSamples, type HeightSample } from './block-times.js';
import { contractFacts, type ContractFacts } from '../contract/facts.js';
import type { BridgeInput } from './input.js';
import { rememberedQueues, type PayingQueue } from './objective.js';
import { watchedOrchestrators, type WatchedOrchestrator } from './registrations.js';
import { hubCoinDenom, rememberedBatchNonces } from './tokens.js';

/** What families remember of the earlier module states of an endpoint: a bounded number of values, as plain data. */
export interface BridgeObservations {
  /** When the last document was received. */
  readonly at: Instant;
  /** Heights of the last hour. */
  readonly heights: readonly HeightSample[];
  /** The last observed event. */
  readonly lastEvent: SeenEvent | undefined;
  /** The orchestrators of the entries of `watch`. */
  readonly watched: readonly WatchedOrchestrator[];
  /** The coin that pays for transactions on the hub. */
  readonly hubCoinDenom: string | undefined;
  /** The highest nonce of a batch by token, also of batches that are gone. */
  readonly batchNonces: ReadonlyMap<string, Numeral>;
  /** The tokens whose unbatched transfers pay for a batch. */
  readonly payingQueues: readonly PayingQueue[];
  /** What the next poll of the contract needs. */
  readonly contractFacts: ContractFacts | undefined;
}

/** What is remembered from this document on. The first document of an endpoint has no previous observations. */
export function bridgeObservations(input: BridgeInput): BridgeObservations {
  return {
    at: input.at,
    heights: heightSamples(input),
    lastEvent: lastEventSeen(input),
    watched: watchedOrchestrators(input),
    hubCoinDenom: hubCoinDenom(input),
    batchNonces: rememberedBatchNonces(input),
    payingQueues: rememberedQueues(input),
    contractFacts: contractFacts(input),
  };
}
