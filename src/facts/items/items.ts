import type { BatchState } from '../bridge/batches.js';
import type { ClaimType } from '../../chain/claim.js';
import type { DecimalString } from '../../chain/numeral.js';

export type { BatchState, DecimalString };

/*
 * The individual batches, transfers and transactions behind the metrics, for `/pending` and its JSON. Plain data. Numbers are exact decimal strings; unknown values are `null`. The number of rows and the length
 * of strings are limited, so that the items have some tens of KiB as JSON, and at most 6 MiB for a hostile document.
 */

/** Maximum number of rows per list; the oldest are kept, and of batches those that lack signatures. */
export const MAX_ROWS = 50;

/** Maximum number of characters of a free text, such as the error of a transaction. */
export const MAX_TEXT_CHARACTERS = 300;

/** Maximum number of listed members whose signature or vote is missing; the most powerful are kept. */
export const MAX_MEMBERS = 20;

export type Items = BridgeItems | ContractItems | CrosschainItems;

/** A list of the document. A list that is missing or invalid is unreadable, not empty. */
export type ItemList<Row> = ReadableList<Row> | UnreadableList;

export interface ReadableList<Row> {
  readonly readable: true;
  /** Number of all items, including those that are not in `rows`. */
  readonly total: number;
  /** Number of items with an unknown sort key. They come last, so an older one may be missing in `rows`. */
  readonly unsortable: number;
  /** The oldest, at most `MAX_ROWS`, oldest first; batches that lack signatures before all others. */
  readonly rows: readonly Row[];
}

interface UnreadableList {
  readonly readable: false;
  /** Number of items, if it can be read. */
  readonly total: number | null;
}

export interface BridgeItems {
  readonly document: 'module_state';
  readonly hubHeight: DecimalString | null;
  readonly lastObservedNonce: DecimalString | null;
  /** External height of the last observed event. */
  readonly lastObservedExternalHeight: DecimalString | null;
  /** Estimated current external height. */
  readonly projectedExternalHeight: DecimalString | null;
  /** Block time of the hub, by which durations are calculated; a parameter is often wrong. */
  readonly hubBlockTime: { readonly seconds: number; readonly source: 'configured' | 'measured' | 'parameter' } | null;
  /** Configured share of the power that must sign a batch or a validator set, 0 to 1. */
  readonly powerThreshold: DecimalString;
  /** Numbers of live batches and of unrelayed validator sets whose signed power is below the threshold. */
  readonly batchesBelowThreshold: number | null;
  readonly valsetsBelowThreshold: number | null;
  /** Number of events that are claimed and not yet observed. */
  readonly pendingEvents: DecimalString | null;
  /** Number of pending events with conflicting claims. */
  readonly conflictingEvents: number | null;
  /** Hub height of the first vote for the last observed event. */
  readonly lastEventHeight: DecimalString | null;
  /** Hub height since which more transfers than `backlog_limit` are known to have been pending; `null` without a proof. */
  readonly aboveLimitSinceHeight: DecimalString | null;
  /** The coin that pays for transactions on the hub; `null` if it is unknown. */
  readonly hubCoin: HubCoin | null;
  /** One for each entry of `watch`. */
  readonly watched: readonly WatchedItem[];
  /** Live batches: those that lack signatures, then the others, each by creation height. */
  readonly batches: ItemList<BatchItem>;
  /** Validator sets newer than the one in the contract by nonce. */
  readonly valsets: ItemList<ValsetItem>;
  /** Claims of pending events by event nonce. */
  readonly claims: ItemList<ClaimItem>;
  /** What waits by token: the most worth first, in multiples of the minimum fee; then configured tokens, then by the number of transfers. */
  readonly tokens: ItemList<WaitingTokenItem>;
  /** Transfers that are not yet in a batch, by id. */
  readonly transfers: ItemList<TransferItem>;
}

export interface HubCoin {
  readonly denom: string;
  /** From the configuration of its contract. */
  readonly symbol: string | null;
  readonly decimals: number | null;
}

/** The transfers of a token that are not executed. */
export interface WaitingTokenItem {
  readonly token: TokenItem;
  /** Numbers of transfers in no batch, and in live batches. */
  readonly unbatchedTransfers: number;
  readonly batchedTransfers: number;
  readonly unbatched: CoinItem;
  readonly batched: CoinItem;
  /** Numbers and amounts in the batches that a relayer can execute and is paid for; `null` when these are unknown. */
  readonly relayableTransfers: number | null;
  readonly relayable: CoinItem | null;
  /** Hub height at which the newest live batch of the token was built; `null` without one. */
  readonly newestBatchHeight: DecimalString | null;
  /** Hub height since which the transfers in no batch are known to have paid for one, and none was built; `null` without a proof. */
  readonly standstillSinceHeight: DecimalString | null;
}

export interface TransferItem {
  readonly id: DecimalString;
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
  readonly amount: DecimalString | null;
  /** In whole tokens, when the decimals of the token are configured. */
  readonly wholeAmount: DecimalString | null;
}

/** A number of blocks and their approximate duration by the average block times. Negative when the deadline has passed. */
export interface BlockSpan {
  readonly blocks: DecimalString;
  readonly seconds: number | null;
}

/** Members of a validator set. */
export interface Members {
  readonly total: number;
  /** Their share of the power of the set, 0 to 1. */
  readonly powerRatio: number | null;
  /** The watched ones, then the most powerful, at most `MAX_MEMBERS`. */
  readonly members: readonly Member[];
}

export interface Member {
  readonly externalAddress: string;
  readonly orchestrator: string | null;
  /** Configured, or from the staking module. Not unique: anyone can choose any name. */
  readonly name: string | null;
  readonly powerRatio: number | null;
  /** Whether it is configured in `watch`. */
  readonly watched: boolean;
}

/** The signatures of a batch or validator set. */
export interface Signatures {
  /** Signed share of the power of the validator set in the contract, 0 to 1. */
  readonly signedPowerRatio: number | null;
  readonly belowThreshold: boolean | null;
  readonly missing: Members | null;
}

/** `missing` lists members of the newest validator set. */
export interface BatchItem extends Signatures {
  readonly nonce: DecimalString;
  readonly token: TokenItem;
  readonly transfers: number | null;
  /** Sum of its transfers. */
  readonly amount: CoinItem;
  /** Sum of their fees that are in the token of the batch, which a relayer earns. */
  readonly fee: CoinItem;
  readonly createdHeight: DecimalString | null;
  /** Hub blocks. */
  readonly age: BlockSpan | null;
  /** External height from which the contract rejects it. */
  readonly timeoutHeight: DecimalString | null;
  /** External blocks from the last observed external height to the timeout. */
  readonly headroom: BlockSpan | null;
  /** External blocks from the estimated external height to the timeout. */
  readonly projectedHeadroom: BlockSpan | null;
  readonly state: BatchState | null;
  /** Whether its fees reach the minimum fee of its token; `unknown` without a minimum, or without sufficient signatures. */
  readonly fees: 'sufficient' | 'insufficient' | 'unknown' | null;
}

/** `missing` lists members of this validator set. */
export interface ValsetItem extends Signatures {
  readonly nonce: DecimalString;
  readonly members: number | null;
  readonly createdHeight: DecimalString | null;
  /** Hub blocks. */
  readonly age: BlockSpan | null;
  /** Hub height after which members that have not signed are jailed. */
  readonly deadlineHeight: DecimalString | null;
  /** Hub blocks to the deadline. */
  readonly headroom: BlockSpan | null;
}

export interface ClaimItem {
  readonly eventNonce: DecimalString;
  /** Whether there is another claim of the same event. */
  readonly conflicting: boolean;
  readonly votes: number | null;
  /** Share of the power of the newest validator set that voted for this claim, 0 to 1. */
  readonly votedPowerRatio: number | null;
  readonly firstVoteHeight: DecimalString | null;
  /** Hub blocks since the first vote. */
  readonly age: BlockSpan | null;
  /** What it contradicts: the stored validator sets or the batches of the hub; `null` for a plausible claim. */
  readonly violation: 'valset_claim_mismatch' | 'withdraw_claim_without_batch' | null;
  /** `null` for an unknown type, of which the following fields are not read. */
  readonly type: ClaimType | null;
  /** Height of the event on the external chain. */
  readonly externalHeight: DecimalString | null;
  /** Of a deposit, of the batch of a withdrawal, or the deployed one. */
  readonly token: TokenItem | null;
  /** Deposited amount. */
  readonly amount: CoinItem | null;
  /** External address that deposited, and the account of the hub that receives it. */
  readonly sender: string | null;
  readonly receiver: string | null;
  /** Batch that a withdrawal claim says was executed. */
  readonly batchNonce: DecimalString | null;
  /** Validator set that is claimed to be in the contract. */
  readonly valsetNonce: DecimalString | null;
  /** Members of the newest validator set that have voted for this claim. */
  readonly voted: Members | null;
  /** Members of the newest validator set that have not voted for this claim. */
  readonly missing: Members | null;
  /** Those of them that voted for another claim of the event. */
  readonly dissenting: Members | null;
}

/** Own validator: what it has signed and voted. Unknown values are `null`, and all of a validator that is not in the set. */
export interface WatchedItem {
  /** As configured. */
  readonly address: string;
  readonly name: string | null;
  readonly orchestrator: string | null;
  readonly externalAddress: string | null;
  /** Whether it is in the newest validator set; `unregistered`: it has no orchestrator on this bridge. */
  readonly membership: 'active' | 'inactive' | 'unregistered' | null;
  /** Share of the power of the newest validator set, 0 to 1. */
  readonly powerRatio: number | null;
  /** Live batches that it has not signed. */
  readonly missingBatches: MissingItems | null;
  /** Validator sets that it has to sign and has not. */
  readonly missingValsets: MissingItems | null;
  /** On the last observed event. `dissenting`: for another claim than the observed one. */
  readonly lastVote: 'voted' | 'missing' | 'dissenting' | null;
  /** On the next event; `null` also while nobody has claimed it. */
  readonly nextVote: 'voted' | 'missing' | null;
  /** Hub height of its first deadline, after which it is jailed; `null` when nothing is missing. */
  readonly deadlineHeight: DecimalString | null;
  readonly jailedIn: BlockSpan | null;
  /** What it has left the validator set for; `null` while it is in the set, or when the reason is another one. */
  readonly missedSignature: MissedSignature | null;
}

export interface MissedSignature {
  readonly of: 'validator set' | 'batch';
  readonly nonce: DecimalString;
}

export interface MissingItems {
  readonly total: number;
  /** The oldest. */
  readonly nonces: readonly DecimalString[];
}

/** What was read of the contract on the external chain. */
export interface ContractItems {
  readonly document: 'external_contract';
  readonly contract: string;
  readonly externalHeight: DecimalString;
  /** Time of that block, ISO 8601. */
  readonly externalTime: string;
  /** Events of the contract that the hub has not observed; `null` when that is unknown. */
  readonly unobservedEvents: DecimalString | null;
  /** The configured share of the power, with which the threshold of the contract is compared. */
  readonly powerThreshold: DecimalString | null;
  /** The tokens with `backing`, at most 20; the surplus is `null` when it is unknown. */
  readonly backing: readonly { readonly token: string; readonly surplus: DecimalString | null }[];
}

export interface CrosschainItems {
  readonly document: 'rate_limiter_input';
  readonly height: DecimalString | null;
  /** Number of missed and pending transactions, including those that are not listed. */
  readonly totalPending: DecimalString | null;
  /** Number of rows in both lists. */
  readonly listed: number | null;
  /** Number of transactions in neither list; above 0, an older one may be missing in the lists. */
  readonly hidden: DecimalString | null;
  /** The chains on which transactions are pending: those with missed ones first, then by the time at which the age limit is reached. */
  readonly chains: ItemList<ChainItem>;
  /** Since when more transactions than `backlog_limit` are known to have been missed or pending, ISO 8601; `null` without a proof. */
  readonly aboveLimitSince: string | null;
  /** Distinct transactions, oldest first. */
  readonly missed: ItemList<CctxItem>;
  readonly pending: ItemList<CctxItem>;
  /** Those that have left both lists and are pending according to the node; `null` while the node has said nothing about any. */
  readonly unlisted: ItemList<UnlistedItem> | null;
}

export interface UnlistedItem {
  readonly index: string;
  /** The chain on which it is pending. */
  readonly chainId: string | null;
  readonly chain: string | null;
  /** ISO 8601. */
  readonly createdAt: string | null;
  /** When it was gone from the lists, ISO 8601. */
  readonly goneAt: string | null;
  /** Whether the configuration ignores it. */
  readonly ignored: boolean;
}

/** The transactions of one chain. The numbers are those of the metrics, so ignored transactions count only in `ignored` and the nonces. */
export interface ChainItem {
  /** Empty for transactions without a chain. */
  readonly chainId: string;
  readonly chain: string | null;
  readonly pending: number | null;
  readonly missed: number | null;
  /** Of both lists. */
  readonly ignored: number | null;
  /** Pending ones for whose outbound nobody has posted a hash. */
  readonly withoutHash: number | null;
  /** Of the oldest pending one, ISO 8601; the time of its last update when its creation time is unknown. */
  readonly oldestCreatedAt: string | null;
  /** How long a transaction of the chain may be pending. */
  readonly ageLimitSeconds: number;
  readonly lowestPendingNonce: DecimalString | null;
  readonly highestPendingNonce: DecimalString | null;
  /** The lowest missed nonce that still affects the chain. */
  readonly lowestMissedNonce: DecimalString | null;
  /** Since when a pending nonce is known to be a lookahead or more above the lowest missed one, ISO 8601; `null` without a proof. */
  readonly frozenSince: string | null;
}

export interface CctxItem {
  readonly index: string;
  readonly status: string | null;
  /** What the node says about the status, and the error that led to it; `null` without one. */
  readonly statusMessage: string | null;
  readonly error: string | null;
  /** Whether the configuration ignores it. */
  readonly ignored: boolean;
  /** The chain from which it was sent, with its name. */
  readonly sourceChainId: string | null;
  readonly sourceChain: string | null;
  readonly sender: string | null;
  /** Account that signed the inbound transaction; differs from the sender if that is a contract. */
  readonly origin: string | null;
  readonly receiver: string | null;
  /** Hash of the transaction on the source chain. */
  readonly inboundHash: string | null;
  /** The chain on which it is pending. */
  readonly chainId: string | null;
  /** Configured or built-in name of the chain. */
  readonly chain: string | null;
  readonly coinType: string | null;
  /** Of the coin of the hub, of the gas coin of a known chain, or of a configured token. */
  readonly symbol: string | null;
  /** In the smallest unit of its asset. */
  readonly amount: DecimalString | null;
  /** In whole coins, if their decimals are known. */
  readonly wholeAmount: DecimalString | null;
  /** ISO 8601; the time of the last update when the creation time is unknown. */
  readonly createdAt: string | null;
  /** Whether `createdAt` is the time of the last update, before which it was created. */
  readonly isCreationEstimated: boolean;
  /** Hash of the outbound; empty while nobody has posted one. */
  readonly hash: string | null;
  /** Nonce of the outbound on its chain. */
  readonly nonce: DecimalString | null;
}
