import type { Digits } from '../json/numeral.js';

export type { Digits };

/*
 * The items behind the gauges, as plain data: they cross from the collect thread inside a snapshot, and are the `items` of the
 * JSON of `/pending`. Numbers of the chain are exact texts of digits; `null` stands for what the document does not tell. Rows,
 * names and the length of texts are bounded: some tens of KiB as JSON, and under 6 MiB when a node means harm.
 */

/** Rows of one section. The oldest are kept, so that a queue of any length stays one page. */
export const MAX_ROWS = 50;

/** Members listed of those who have not signed or voted: the most powerful. */
export const MAX_MEMBERS = 20;

export type Items = BridgeItems | CrosschainItems;

/** A list of the document; one that cannot be read is not the same as an empty one. */
export type ItemList<Row> = ReadableList<Row> | UnreadableList;

export interface ReadableList<Row> {
  readonly readable: true;
  /** How many there are, also those that are not in `rows`. */
  readonly total: number;
  /** How many of them do not tell what they are sorted by. They come last, so `rows` may lack one that is older. */
  readonly unsortable: number;
  /** The oldest, at most `MAX_ROWS`, oldest first. */
  readonly rows: readonly Row[];
}

export interface UnreadableList {
  readonly readable: false;
  /** How many there are, when that much can be read. */
  readonly total: number | null;
}

export interface BridgeItems {
  readonly document: 'module_state';
  readonly hubHeight: Digits | null;
  readonly lastObservedNonce: Digits | null;
  /** External height the hub knows, from the last observed event. */
  readonly lastObservedExternalHeight: Digits | null;
  /** External height by now, reckoned with the block times of the parameters. */
  readonly projectedExternalHeight: Digits | null;
  /** Signed share that a batch or a validator set needs, as configured; 0 to 1. */
  readonly powerThreshold: Digits;
  /** Live batches, and unrelayed validator sets, of which too little power has signed. */
  readonly batchesBelowThreshold: number | null;
  readonly valsetsBelowThreshold: number | null;
  /** Events claimed and not observed yet; more than claims when those of an event between are gone. */
  readonly pendingEvents: Digits | null;
  /** Events not observed yet of which validators claim different things. */
  readonly conflictingEvents: number | null;
  /** Live batches, by the height they were built at. */
  readonly batches: ItemList<BatchItem>;
  /** Validator sets newer than the one in the contract, by nonce. */
  readonly valsets: ItemList<ValsetItem>;
  /** Claims of pending events, by event nonce. */
  readonly claims: ItemList<ClaimItem>;
  /** Transfers that wait for a batch, by id. */
  readonly transfers: ItemList<TransferItem>;
}

export interface TransferItem {
  readonly id: Digits;
  readonly sender: string | null;
  readonly destination: string | null;
  readonly amount: CoinItem;
  readonly fee: CoinItem;
}

export interface TokenItem {
  /** In lower case. */
  readonly contract: string | null;
  readonly denom: string | null;
  /** From the configuration. */
  readonly symbol: string | null;
}

export interface CoinItem extends TokenItem {
  /** In the smallest unit of the token. */
  readonly amount: Digits | null;
  /** In whole tokens, when the decimals of the token are configured. */
  readonly wholeAmount: Digits | null;
}

/** A number of blocks and about how long they take, by the block times of the parameters. Negative when it is over. */
export interface BlockSpan {
  readonly blocks: Digits;
  readonly seconds: number | null;
}

/** Who has not signed, or not voted, of the members of a validator set. */
export interface MissingMembers {
  readonly total: number;
  /** Their share of the power of the set, 0 to 1. */
  readonly powerRatio: number | null;
  /** The most powerful, at most `MAX_MEMBERS`. */
  readonly members: readonly MissingMember[];
}

export interface MissingMember {
  readonly externalAddress: string;
  readonly orchestrator: string | null;
  readonly powerRatio: number | null;
  /** Whether the configuration names it in `watch`. */
  readonly watched: boolean;
}

/** The signatures under a batch or a validator set. */
export interface Signatures {
  /** Signed share of the power of the set in the contract, 0 to 1. */
  readonly signedPowerRatio: number | null;
  readonly belowThreshold: boolean | null;
  readonly missing: MissingMembers | null;
}

/** `expired`: over by the height the hub knows, so it cancels it. `overdue`: dead outside and still held by the hub. */
export type BatchState = 'live' | 'overdue' | 'expired';

/** Its `missing` are of the newest validator set. */
export interface BatchItem extends Signatures {
  readonly nonce: Digits;
  readonly token: TokenItem;
  readonly transfers: number | null;
  readonly createdHeight: Digits | null;
  /** Hub blocks. */
  readonly age: BlockSpan | null;
  /** External height from which the contract refuses it. */
  readonly timeoutHeight: Digits | null;
  /** External blocks to the timeout from the height the hub knows. */
  readonly headroom: BlockSpan | null;
  /** External blocks to the timeout from the projected height. */
  readonly projectedHeadroom: BlockSpan | null;
  readonly state: BatchState | null;
}

/** Its `missing` are of its own members. */
export interface ValsetItem extends Signatures {
  readonly nonce: Digits;
  readonly members: number | null;
  readonly createdHeight: Digits | null;
  /** Hub blocks. */
  readonly age: BlockSpan | null;
  /** Hub height after which members that have not signed are jailed. */
  readonly deadlineHeight: Digits | null;
  /** Hub blocks to the deadline. */
  readonly headroom: BlockSpan | null;
}

export interface ClaimItem {
  readonly eventNonce: Digits;
  /** Whether there is another claim of the same event. */
  readonly conflicting: boolean;
  readonly votes: number | null;
  /** Share of the power of the newest validator set that voted for this claim, 0 to 1. */
  readonly votedPowerRatio: number | null;
  readonly firstVoteHeight: Digits | null;
  /** Hub blocks since the first vote. */
  readonly age: BlockSpan | null;
  /** Members of the newest validator set that have not voted for this claim. */
  readonly missing: MissingMembers | null;
}

export interface CrosschainItems {
  readonly document: 'rate_limiter_input';
  readonly height: Digits | null;
  /** Missed and pending ones, also those the service left out of its lists. */
  readonly totalPending: Digits | null;
  /** Rows of both lists, as the service sent them. */
  readonly listed: number | null;
  /** Those in neither list: while there are some, the oldest may be among them. */
  readonly hidden: Digits | null;
  /** Each index once, oldest first. */
  readonly missed: ItemList<CctxItem>;
  readonly pending: ItemList<CctxItem>;
}

export interface CctxItem {
  readonly index: string;
  readonly status: string | null;
  /** The chain it waits on. */
  readonly chainId: string | null;
  /** Name of the chain, from the configuration. */
  readonly chain: string | null;
  readonly coinType: string | null;
  /** In the smallest unit of its asset, whose decimals the document does not tell. */
  readonly amount: Digits | null;
  /** ISO 8601; of very old ones, when it last changed. */
  readonly createdAt: string | null;
  /** Hash of the outbound; empty when it is not broadcast yet. */
  readonly hash: string | null;
  /** Sequence number of the signers on that chain. */
  readonly nonce: Digits | null;
}
