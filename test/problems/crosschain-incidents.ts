import { cctx, outbound, status } from '../facts/crosschain/document.js';
import type { JsonObject } from '../support/json.js';
import type { RateLimiterInput } from '../../src/simulator/responses.js';
import { HEALTHY, HEALTHY_MINUTES, healthy, incident, type Incident } from './incident.js';
import { changedInput, START_HEIGHT, START_SECONDS, type Phase } from './recording.js';

/* Incidents of cross-chain transactions, with the healthy cases that look like them. */

/** A transaction whose outbound has this nonce. */
interface AddedCctx {
  readonly chainId: string;
  readonly nonce: number;
  readonly createdMinute: number;
}

const cctxRow = ({ chainId, nonce, createdMinute }: AddedCctx): JsonObject =>
  cctx(
    `0x${chainId}_${nonce}`,
    [outbound(chainId, { amount: '250000000000000000', tss_nonce: String(nonce), hash: '' })],
    { cctx_status: status({ created_timestamp: String(START_SECONDS + 60 * createdMinute) }) },
  );

/** Replaces the transactions of a chain by these, which depend on the minute of the recording. */
function withCctxs(chainId: string, missed: (minute: number) => readonly AddedCctx[], pending = missed) {
  const isOther = ({ outbound_params }: RateLimiterInput['cctxs_pending'][number]): boolean =>
    outbound_params.at(-1)?.receiver_chainId !== chainId;
  return changedInput((input) => {
    const minute = minuteOf(input);
    const cctxs_missed = [...input.cctxs_missed.filter(isOther), ...missed(minute).map(cctxRow)];
    const cctxs_pending = [...input.cctxs_pending.filter(isOther), ...pending(minute).map(cctxRow)];
    return { cctxs_missed, cctxs_pending, total_pending: String(cctxs_missed.length + cctxs_pending.length) };
  });
}

/** The recordings have three blocks a minute. */
const minuteOf = ({ height }: RateLimiterInput): number => Math.floor((Number(height) - START_HEIGHT) / 3);

const none = (): readonly AddedCctx[] => [];
const range = (first: number, last: number): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

const MONTH_MINUTES = 30 * 24 * 60;
const [BITCOIN, ARBITRUM, AVALANCHE] = ['8332', '42161', '43114'];

/** Three transactions that only an administrator could clear. */
const missedLongAgo = range(1, 3).map((nonce) => ({ chainId: AVALANCHE, nonce, createdMinute: -MONTH_MINUTES }));

/** At the first sample, alerts on data are suspended. With the list from the beginning, their start would depend on the order of the rules. */
const withoutMissedList = changedInput(() => ({ cctxs_missed: undefined }));

/** One transaction is missed from minute 20 on, and every minute another one is created. */
const withMissedNonce = withCctxs(
  ARBITRUM,
  (minute) =>
    minute < HEALTHY_MINUTES ? [] : [{ chainId: ARBITRUM, nonce: 1000, createdMinute: HEALTHY_MINUTES - 5 }],
  (minute) =>
    range(minute - 3, minute).map((createdMinute) => ({
      chainId: ARBITRUM,
      nonce: 990 + createdMinute,
      createdMinute,
    })),
);

/** Every 40 minutes, one response lists nothing. Incidents are sampled in even minutes. */
const truncatedNowAndThen = changedInput((input) =>
  minuteOf(input) % 40 === 38 ? { cctxs_pending: [], total_pending: String(Number(input.total_pending) + 500) } : {},
);

/** Every minute a transaction is created, and every tenth one finishes one: the chain moves, and the oldest ones wait for hours. */
const withSlowChain = withCctxs(ARBITRUM, none, (minute) =>
  range(Math.floor(minute / 10), minute).map((createdMinute) => ({
    chainId: ARBITRUM,
    nonce: 1000 + createdMinute,
    createdMinute,
  })),
);

const unlistedCctx: AddedCctx = { chainId: BITCOIN, nonce: 7, createdMinute: 5 };

/** The answer of the node about the added transaction. */
const withCctxStatus =
  (own: string): NonNullable<Phase['queries']> =>
  (path, response) => {
    const { index } = cctxRow(unlistedCctx);
    if (!path.endsWith(`/cctx/${index as string}`)) return response;
    return {
      ...response,
      status: 200,
      body: Buffer.from(JSON.stringify({ CrossChainTx: { index, cctx_status: { status: own } } })),
    };
  };

export const crosschainIncidents: readonly Incident[] = [
  incident(
    'the hub switches off transactions to other chains',
    [HEALTHY, { minutes: 20, scenario: 'outbound-disabled' }, { minutes: 40, scenario: 'healthy' }],
    { 'CrosschainOutboundDisabled/warning': 5 },
  ),
  incident(
    'another transaction is missed besides three old ones',
    [
      { minutes: 5, crosschain: withoutMissedList },
      { minutes: 20, crosschain: withCctxs(AVALANCHE, () => missedLongAgo, none) },
      {
        minutes: 50,
        crosschain: withCctxs(
          AVALANCHE,
          () => [...missedLongAgo, { chainId: AVALANCHE, nonce: 4, createdMinute: 20 }],
          none,
        ),
      },
    ],
    { 'CrosschainCctxsMissed/warning': 36 },
    { beginsAtMinute: 5, isOngoingAtEnd: true },
  ),
  healthy(
    'missed and pending transactions that nobody can clear are ignored',
    [
      {
        minutes: 150,
        crosschain: withCctxs(
          AVALANCHE,
          () => missedLongAgo,
          () => [{ chainId: AVALANCHE, nonce: 5, createdMinute: -MONTH_MINUTES }],
        ),
      },
    ],
    { options: { ignore: [1, 2, 3, 5].map((nonce) => `0x${AVALANCHE}_${nonce}`) } },
  ),
  incident(
    'new transactions come within the lookahead of Arbitrum, which is shorter',
    [{ minutes: 45, crosschain: withMissedNonce }, { minutes: 40 }],
    {
      'CrosschainFreezeNear/warning': 12,
      'CrosschainFreezeNear/critical': 18,
    },
  ),
  incident(
    'a chain moves much more slowly than transactions come',
    [{ minutes: 170, crosschain: withSlowChain }, { minutes: 40 }],
    {
      'CrosschainOldestPendingTooOld/warning': 60,
      'CrosschainOldestPendingTooOld/critical': 140,
    },
    { beginsAtMinute: 0 },
  ),
  incident(
    'a missed transaction on Bitcoin is no longer listed, and finishes later',
    [
      HEALTHY,
      { minutes: 5, crosschain: withCctxs(BITCOIN, () => [unlistedCctx], none) },
      { minutes: 40, queries: withCctxStatus('PendingOutbound') },
      { minutes: 40, queries: withCctxStatus('OutboundMined') },
    ],
    { 'CrosschainCctxsUnlisted/warning': 20 },
    { beginsAtMinute: HEALTHY_MINUTES + 5 },
  ),
  healthy('the node is behind and says for minutes that finished transactions are pending', [
    HEALTHY,
    { minutes: 5, crosschain: withCctxs(BITCOIN, () => [unlistedCctx], none) },
    { minutes: 10, queries: withCctxStatus('PendingOutbound') },
    { minutes: 40, queries: withCctxStatus('OutboundMined') },
  ]),
  incident(
    'a list is truncated every 40 minutes while a chain stands still',
    [
      HEALTHY,
      { minutes: 135, scenario: 'stuck-chain', crosschain: truncatedNowAndThen },
      { minutes: 40, scenario: 'healthy' },
    ],
    { 'CrosschainBacklogStuck/critical': 45 },
    { options: { scenario: 'quiet' } },
  ),
];
