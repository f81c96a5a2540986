import type { ModuleState } from '../../chain/module-state.js';
import type { TokenConfig, ValidatorConfig } from '../../config/config.js';
import type { BridgeSettings } from '../../config/endpoint-config.js';
import type { Instant } from '../../clock.js';
import { isValid, validOrUndefined } from '../../chain/field.js';
import type { Numeral } from '../../chain/numeral.js';
import { contractFacts, type ContractFacts } from '../contract/hub-side.js';
import { toLabelValue } from '../label-value.js';
import { lastEventSeen, type SeenEvent } from './batches.js';
import { heightSamples, type HeightSample } from './block-times.js';
import { oldestDueSeconds, rememberedQueues, type PayingQueue } from './objective.js';
import { watchedOrchestrators, type WatchedOrchestrator } from './registrations.js';
import { hubCoinDenom, rememberedBatchNonces } from './tokens.js';

/** The input of the bridge families: one response and the configuration. */
export interface BridgeInput {
  readonly state: ModuleState;
  /** Hub height of the response; `undefined` when the node does not send the header. */
  readonly height: Numeral | undefined;
  readonly settings: BridgeSettings;
  readonly tokens: readonly TokenConfig[];
  readonly names: ValidatorNames;
  /** The external height that was read a moment ago; `undefined` without such a reading. */
  readonly externalHeight?: Numeral | undefined;
  /** Whether the contract is paused, for texts; `undefined` without a recent reading. */
  readonly isContractPaused?: boolean | undefined;
  /** Whether the node is behind the chain: then nothing says how much time is left until a height. */
  readonly isNodeBehind?: boolean | undefined;
  /** When the response was received. */
  readonly at: Instant;
  /** `undefined` for the first document of an endpoint. */
  readonly past: BridgePast | undefined;
}

/** Names of validators for people. */
interface ValidatorNames {
  readonly configured: readonly ValidatorConfig[];
  /** Names from the staking module of the node, by the data part of the operator address. */
  readonly staking: ReadonlyMap<string, string>;
}

/** What families remember of the earlier module states of an endpoint: a bounded number of values, as plain data. */
export interface BridgePast {
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
  /** Since when the oldest withdrawal is due, for the pages. */
  readonly oldestDueSeconds: number | undefined;
  /** What the next poll of the contract needs. */
  readonly contractFacts: ContractFacts | undefined;
}

/** What the next document gets as its past. The first one of an endpoint has none. */
export function bridgePast(input: BridgeInput): BridgePast {
  return {
    at: input.at,
    heights: heightSamples(input),
    lastEvent: lastEventSeen(input),
    watched: watchedOrchestrators(input),
    hubCoinDenom: hubCoinDenom(input),
    batchNonces: rememberedBatchNonces(input),
    payingQueues: rememberedQueues(input),
    oldestDueSeconds: oldestDueSeconds(input),
    contractFacts: contractFacts(input),
  };
}

/** The contract with its bridge id, in one string; empty without one of both. */
export function bridgeIdentity({ params }: ModuleState): readonly string[] {
  const { bridge_id: id, bridge_external_address: contract } = validOrUndefined(params) ?? {};
  return isValid(id) && isValid(contract) && id !== '' ? [`${contract} ${toLabelValue(id)}`] : [];
}
