import type { ModuleState } from '../../chain/module-state.js';
import type { TokenConfig, ValidatorConfig } from '../../config/config.js';
import type { BridgeSettings } from '../../config/endpoint-config.js';
import type { Instant } from '../../clock.js';
import { isValid, validOrUndefined } from '../../chain/fields.js';
import type { Numeral } from '../../chain/numeral.js';
import type { HubSide } from '../contract/reading.js';
import type { HeightSample } from '../hub-blocks.js';
import { toLabelValue } from '../plain-values.js';

/** The input of the bridge families: one response and the configuration. */
export interface BridgeInput {
  readonly state: ModuleState;
  /** Hub height of the response; `undefined` when the node does not send the header. */
  readonly height: Numeral | undefined;
  readonly settings: BridgeSettings;
  readonly tokens: readonly TokenConfig[];
  readonly names: ValidatorNames;
  /** The external height in a recent reading of the contract. */
  readonly externalHeight?: Numeral | undefined;
  /** Whether the node is behind the chain: then the time until a height is unknown. */
  readonly isNodeBehind?: boolean | undefined;
  /** When the response was received. */
  readonly at: Instant;
  readonly clockOffset: number;
  /** Whether no other document follows, as in `once`, so that block times cannot be measured. */
  readonly isSinglePoll?: boolean | undefined;
  /** `undefined` for the first document of an endpoint. */
  readonly past: BridgePast | undefined;
}

interface ValidatorNames {
  readonly configured: readonly ValidatorConfig[];
  /** Names from the staking module of the node, by the data part of the operator address. */
  readonly staking: ReadonlyMap<string, string>;
}

/** The memory of earlier module states of an endpoint: plain data of bounded size. */
export interface BridgePast {
  /** When the last document was received. */
  readonly at: Instant;
  readonly heights: readonly HeightSample[];
  readonly lastEvent: SeenEvent | undefined;
  /** The orchestrators of the entries of `watch`. */
  readonly watched: readonly WatchedOrchestrator[];
  readonly hubCoinDenom: string | undefined;
  /** The highest nonce of a batch by token, also of past batches. */
  readonly batchNonces: ReadonlyMap<string, Numeral>;
  readonly hubSide: HubSide | undefined;
  /** The live batches of the last document in which they could be read. */
  readonly live: LiveBatches | undefined;
  /** By token. */
  readonly executed: ReadonlyMap<string, ExecutedBatches>;
  /** By the key of the batch. */
  readonly relayableSince: ReadonlyMap<string, Instant | null>;
}

/** The last observed event in the polls so far. Times are in milliseconds of the process clock. */
export interface SeenEvent {
  readonly nonce: Numeral;
  /** The last document with the nonce. */
  readonly readAtMs: number;
  /** When the event was observed; `undefined` unless that was between two polls. */
  readonly observedAtMs: number | undefined;
}

/** The orchestrator of an entry of `watch`. */
export interface WatchedOrchestrator {
  readonly orchestrator: string;
  /** The account of the validator. */
  readonly sender: string;
  /** Empty without a name. */
  readonly name: string;
  readonly hasNamesake: boolean;
}

/** A live batch, as it is remembered until the next document. */
export interface LiveBatch {
  readonly contract: string;
  readonly nonce: Numeral;
  readonly timeout: Numeral | undefined;
  readonly block: Numeral | undefined;
  readonly fees: Numeral | undefined;
  /** The ids of its transfers. */
  readonly transfers: readonly Numeral[];
  /** The nonce of the pending event whose only claim is the execution of this batch. */
  readonly event: Numeral | undefined;
}

/** The batches of a document, with which the next one is compared. */
export interface LiveBatches {
  /**
   * When the document was received; `undefined` if a later document could not be read: what happened since is
   * not counted.
   */
  readonly at: Instant | undefined;
  readonly bridgeContract: string | undefined;
  /** The counters of the hub. */
  readonly lastEvent: Numeral;
  readonly lastBatch: Numeral;
  readonly lastTransfer: Numeral;
  /** By key. */
  readonly batches: ReadonlyMap<string, LiveBatch>;
}

export interface Day {
  /** Since 1970, by the process clock. */
  readonly day: number;
  /** The two lowest sums of fees, ascending. */
  readonly lows: readonly Numeral[];
  readonly batches: number;
}

/** The executed batches of a token: plain data of bounded size. */
export interface ExecutedBatches {
  /** The highest nonce: each batch counts once, also when a node with an older state answers. */
  readonly nonce: Numeral;
  readonly at: Instant;
  /** Of claimed executions in the last fourteen days, ascending. */
  readonly days: readonly Day[];
}

/** The contract and the bridge id, in one string; empty without either. */
export function bridgeIdentity({ params }: ModuleState): readonly string[] {
  const { bridge_id: id, bridge_external_address: contract } = validOrUndefined(params) ?? {};
  return isValid(id) && isValid(contract) && id !== '' ? [`${contract} ${toLabelValue(id)}`] : [];
}

/**
 * The id of the bridge in the identity of a document; `undefined` if the document has none. Documents with different
 * ids are of different networks.
 */
export function readBridgeId(document: string, [identity = '']: readonly string[]): string | undefined {
  const separator = identity.indexOf(' ');
  return document === 'module_state' && separator > 0 ? identity.slice(separator + 1) : undefined;
}
