import type { HeadlineNumber } from '../items/headline.js';
import type { BatchRow, ClaimRow, TokenRow, TransferRow, ValsetRow } from '../items/bridge-items.js';
import type { CctxRow, ChainRow, UnlistedRow } from '../items/crosschain-items.js';
import type { Subject } from '../problems/problem.js';
import type { ProblemName } from '../problems/problems.js';
import type { CellKind, CellValues } from './cells.js';

/*
 * The lists of the page of a target: their columns, their order, and the alerts about them, which color numbers and
 * rows.
 */

/** The kinds of cells by field, in the order in which they are shown. The first is the largest. */
type Cells<Row> = {
  readonly [Field in keyof Row & string]?: {
    [Kind in CellKind]: Row[Field] extends CellValues[Kind] | undefined ? Kind : never;
  }[CellKind];
};

export interface Column<Row> {
  readonly title: string;
  readonly cells: Cells<Row>;
  /** Whether it takes the full width of a card on a phone. */
  readonly isWide?: true;
}

export interface List<Row> {
  /** Id of the section. */
  readonly name: string;
  readonly title: string;
  /** The order in which rows are listed. */
  readonly order: string;
  /** The number that counts the rows. */
  readonly number?: HeadlineNumber['list'];
  /**
   * The alerts about the list. An alert is about the rows that have all values of its entry here, and the labels of its
   * subject. `null`: about no single row.
   */
  readonly alerts: Readonly<Partial<Record<ProblemName, Partial<Row> | null>>>;
  /** The labels of alerts about a row; absent if alerts have no label that tells rows apart. */
  readonly subject?: (row: Row) => Subject;
  /** Identifies a row when the page is refreshed. */
  readonly rowId: (row: Row) => readonly (string | null | undefined)[];
  readonly columns: readonly Column<Row>[];
  /** The field with the id of the chain, for ids with a link to its explorer. */
  readonly chains?: Readonly<Partial<Record<keyof Row & string, keyof Row & string>>>;
}

const TRANSFER_ALERTS = { BridgeBacklogStuck: {}, BridgeBacklogHigh: null } as const;

const tokens: List<TokenRow> = {
  name: 'tokens',
  title: 'Waiting tokens',
  order: 'configured tokens first, then most transfers',
  number: 'tokens',
  alerts: TRANSFER_ALERTS,
  subject: ({ token }) => ({ token_contract: token.contract ?? '' }),
  rowId: ({ token }) => [token.contract],
  columns: [
    { title: 'Token', cells: { token: 'token' } },
    { title: 'In no batch', cells: { queued: 'count' } },
    { title: 'Amount', cells: { queuedAmount: 'coin' } },
    { title: 'Fees', cells: { fees: 'coin' } },
    { title: 'Minimum', cells: { minimumFee: 'coin' } },
    { title: 'Waits', cells: { waits: 'text' } },
    { title: 'In batches', cells: { batched: 'count' } },
    { title: 'Amount in batches', cells: { batchedAmount: 'coin' } },
  ],
};

const batches: List<BatchRow> = {
  name: 'batches',
  title: 'Live batches',
  order: 'those that lack signatures first, then the oldest',
  number: 'tokens',
  alerts: {
    BridgeBatchUnsigned: { lacksSignatures: true },
    BridgeBatchNotRelayed: { waitsFor: 'relayer' },
    BridgeBatchTimeoutNear: { waitsFor: 'relayer' },
    BridgeBatchOverdue: { waitsFor: 'timeout' },
  },
  rowId: ({ nonce, token }) => [nonce, token.contract],
  columns: [
    { title: 'Nonce', cells: { nonce: 'id' } },
    { title: 'Token', cells: { token: 'token' } },
    { title: 'Transfers', cells: { transfers: 'count' } },
    { title: 'Amount', cells: { amount: 'coin' } },
    { title: 'Waits', cells: { waits: 'text', age: 'ago' }, isWide: true },
    { title: 'Timeout', cells: { timeout: 'left' } },
    { title: 'Signed', cells: { signedPowerRatio: 'share' } },
    { title: 'Missing', cells: { missingNames: 'text' }, isWide: true },
  ],
};

const valsets: List<ValsetRow> = {
  name: 'valsets',
  title: 'Unrelayed validator sets',
  order: 'those that lack signatures first, then the oldest',
  number: 'valsets',
  alerts: { BridgeValsetUnsigned: { lacksSignatures: true }, BridgeValsetDrift: null },
  rowId: ({ nonce }) => [nonce],
  columns: [
    { title: 'Nonce', cells: { nonce: 'id' } },
    { title: 'Members', cells: { members: 'count' } },
    { title: 'Created', cells: { age: 'ago' } },
    { title: 'Deadline', cells: { deadline: 'left' } },
    { title: 'Signed', cells: { signedPowerRatio: 'share' } },
    { title: 'Missing', cells: { missingNames: 'text' }, isWide: true },
  ],
};

const claims: List<ClaimRow> = {
  name: 'claims',
  title: 'Claims of pending events',
  order: 'oldest first; events are observed in this order',
  number: 'claims',
  alerts: {
    BridgeOracleStalled: { isNext: true },
    BridgeOracleSilent: { isNext: true },
    BridgeConflictingClaims: { conflicting: true },
    BridgeClaimWithoutBatch: { violation: 'withdraw_claim_without_batch' },
    BridgeContractValsetMismatch: { violation: 'valset_claim_mismatch' },
  },
  rowId: ({ eventNonce }) => [eventNonce],
  columns: [
    { title: 'Event', cells: { eventNonce: 'id' } },
    {
      title: 'Claim',
      cells: { claim: 'text', deposited: 'coin', depositedFor: 'id', contradiction: 'text' },
      isWide: true,
    },
    { title: 'Votes', cells: { votes: 'count' } },
    { title: 'Power', cells: { votedPowerRatio: 'share' } },
    { title: 'First vote', cells: { age: 'ago' } },
    { title: 'Voted by', cells: { votedBy: 'text' }, isWide: true },
    { title: 'Others', cells: { others: 'text' }, isWide: true },
  ],
};

const transfers: List<TransferRow> = {
  name: 'transfers',
  title: 'Transfers',
  order: 'oldest first',
  number: 'tokens',
  alerts: TRANSFER_ALERTS,
  subject: ({ amount }) => ({ token_contract: amount.contract ?? '' }),
  rowId: ({ id, batch }) => [id, batch],
  columns: [
    { title: 'Id', cells: { id: 'id' } },
    { title: 'Batch', cells: { batch: 'id' } },
    { title: 'Token', cells: { amount: 'token' } },
    { title: 'Amount', cells: { amount: 'coin' } },
    { title: 'Age at least', cells: { age: 'ago' } },
    { title: 'Waits', cells: { waits: 'text' } },
    { title: 'Sender', cells: { sender: 'id' } },
    { title: 'Destination', cells: { destination: 'id' } },
  ],
};

const OLDEST_ALERTS = { CrosschainBacklogStuck: {}, CrosschainOldestPendingTooOld: {} } as const;
const MISSED_ALERTS = { CrosschainCctxsMissed: {}, CrosschainFreezeNear: {} } as const;

const onChain = ({ chainId }: { readonly chainId: string | null }): Subject => ({ chain_id: chainId ?? '' });

const chains: List<ChainRow> = {
  name: 'chains',
  title: 'Chains',
  order: 'those with missed cctxs first, then those that reach their age limit first',
  alerts: { ...OLDEST_ALERTS, ...MISSED_ALERTS, CrosschainCctxsUnlisted: {} },
  subject: onChain,
  rowId: ({ chainId }) => [chainId],
  columns: [
    { title: 'Chain', cells: { chain: 'text', chainId: 'text' } },
    { title: 'Pending', cells: { pending: 'count' } },
    { title: 'Oldest', cells: { oldestCreatedAt: 'time' } },
    { title: 'Limit', cells: { ageLimit: 'text' } },
    { title: 'Lowest nonce', cells: { lowestPendingNonce: 'id' } },
    { title: 'Missed', cells: { missed: 'count' } },
    { title: 'Lowest missed', cells: { lowestMissedNonce: 'id' } },
    { title: 'No hash', cells: { withoutHash: 'count' } },
  ],
};

const cctxColumns: readonly Column<CctxRow>[] = [
  { title: 'Created', cells: { createdAt: 'time', createdText: 'text' } },
  { title: 'Index', cells: { index: 'id' } },
  { title: 'From', cells: { sourceChain: 'text', sender: 'id', inboundHash: 'id' } },
  { title: 'To', cells: { chain: 'text', receiver: 'id' } },
  { title: 'Nonce', cells: { nonce: 'id' } },
  {
    title: 'Waits',
    cells: { waits: 'text', status: 'text', statusMessage: 'text', error: 'text', ignored: 'text' },
    isWide: true,
  },
  { title: 'Amount', cells: { coin: 'coin', coinType: 'text' } },
  { title: 'Hash', cells: { hash: 'id' } },
];

const cctxs: Pick<List<CctxRow>, 'rowId' | 'subject' | 'columns' | 'chains'> = {
  rowId: ({ index }) => [index],
  subject: onChain,
  columns: cctxColumns,
  chains: { hash: 'chainId', inboundHash: 'sourceChainId' },
};

const missed: List<CctxRow> = {
  ...cctxs,
  name: 'missed',
  title: 'Missed cctxs',
  order: 'oldest first; each was overtaken by a later nonce of its chain',
  number: 'missed',
  alerts: MISSED_ALERTS,
};

const pending: List<CctxRow> = {
  ...cctxs,
  name: 'pending',
  title: 'Pending cctxs',
  order: 'oldest first',
  number: 'pending',
  alerts: { ...OLDEST_ALERTS, CrosschainBacklogHigh: null, CrosschainPendingListTruncated: null },
};

const unlisted: List<UnlistedRow> = {
  name: 'unlisted',
  title: 'Unlisted cctxs',
  order: 'oldest first; the node no longer lists these transactions, but answers that they are pending',
  alerts: { CrosschainCctxsUnlisted: {} },
  subject: onChain,
  rowId: ({ index }) => [index],
  columns: [
    { title: 'Created', cells: { createdAt: 'time' } },
    { title: 'Gone', cells: { goneAt: 'time', ignored: 'text' } },
    { title: 'Index', cells: { index: 'id' } },
    { title: 'To', cells: { chain: 'text' } },
    { title: 'Nonce', cells: { nonce: 'id' } },
    { title: 'Amount', cells: { coin: 'coin' } },
  ],
};

/** The lists of the module state. */
export const bridgeLists = { tokens, batches, valsets, claims, transfers } as const;

/** The lists of the rate limiter input. */
export const crosschainLists = { chains, missed, unlisted, pending } as const;

/** The alerts that color a number: those of the lists that it counts. */
export function alertsOfNumber(number: HeadlineNumber['list']): readonly ProblemName[] {
  return [...Object.values(bridgeLists), ...Object.values(crosschainLists)].flatMap((list) =>
    // A cast, because `Object.keys` returns `string[]`.
    list.number === number ? (Object.keys(list.alerts) as ProblemName[]) : [],
  );
}
