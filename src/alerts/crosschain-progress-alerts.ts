import { MINUTE_MS } from '../config/units.js';
import { chainIdsOfType, chainType, type ChainType } from '../chain/known-chains.js';
import type { CctxItem } from '../facts/items/items.js';
import { count, duration, list } from '../text/format.js';
import { above, dataAlert } from './alert.js';
import { CCTXS, byChain, CHAIN, chainOf, ON_CHAIN, RATE_LIMITER_INPUT, THE_CHAIN } from './crosschain-chains.js';
import { countOfValue, ON_TARGET, TARGET } from './promql.js';
import { crosschainItemsOf, listedRows, unixSecondsOf, withList } from './sentences.js';
import { labelOf } from './samples.js';
import { beganAt, lastedSince, type DatedFinding, type Finding, findingIf, type PollView } from './view.js';

/* Alerts on pending cross-chain transactions that do not move. */

const HOUR_SECONDS = 3600;

/** What the hash of an outbound proves. */
const hashActions: Readonly<Record<ChainType, string>> = {
  evm: 'On an EVM chain, an outbound with a hash is in a block and waits for confirmations or votes. Without one, compare its nonce with the transactions of the signers: it is not sent, in the mempool, or executed.',
  bitcoin:
    'On Bitcoin, an outbound with a hash was broadcast: check its fee and its confirmations. Without one, check the signers.',
  other:
    'On this chain, an outbound with a hash was executed and waits for votes. Without one, check the relayer and the signers.',
};

/** The action for the chain of an alert. */
const hashAction = `{{ if ${isChainOfType('bitcoin')} }}${hashActions.bitcoin}{{ else if ${isChainOfType('other')} }}${hashActions.other}{{ else }}${hashActions.evm}{{ end }}`;

function isChainOfType(type: ChainType): string {
  return `eq $labels.chain_id ${chainIdsOfType(type)
    .map((id) => `"${id}"`)
    .join(' ')}`;
}

/** The same for an outbound that is known to have a hash, or to have none. */
const knownHashActions: Readonly<Record<ChainType, readonly [withHash: string, withoutHash: string]>> = {
  evm: [
    'The outbound has a hash, so it is in a block and waits for confirmations or votes: look it up on the chain, then check the observers.',
    'The outbound has no hash: compare its nonce with the transactions of the signers. It is not sent, in the mempool, or executed.',
  ],
  bitcoin: [
    'The outbound has a hash, so it was broadcast: check its fee and its confirmations.',
    'The outbound has no hash: check the signers.',
  ],
  other: [
    'The outbound has a hash, so it was executed and waits for votes: check the observers.',
    'The outbound has no hash: check the relayer and the signers.',
  ],
};

/** The actions for the chains of all findings. A single outbound may be known to have a hash. */
function hashActionsOf(all: readonly Finding[], hash: string | undefined): string {
  const [only, ...others] = all;
  if (only !== undefined && others.length === 0 && hash !== undefined) {
    const [withHash, withoutHash] = knownHashActions[chainType(labelOf(only.labels, 'chain_id'))];
    return hash === '' ? withoutHash : withHash;
  }
  const types = new Set(all.map(({ labels }) => chainType(labelOf(labels, 'chain_id'))));
  return Array.from(types, (type) => hashActions[type]).join(' ');
}

const AGE_LIMIT = 'crosschain_age_limit_seconds';

/** The limit of each chain, aggregated for a join. */
function ageLimits(limit = AGE_LIMIT): string {
  return `max by (${CHAIN}) (${limit})`;
}

/** The age limit of the critical alert, from an expression of the age limit: four times the limit, twice from an hour on. */
export function criticalAge(limit: string): string {
  return `${limit} * 4 < ${4 * HOUR_SECONDS} or ${limit} * 2`;
}

function criticalAgeSeconds(limitSeconds: number): number {
  return limitSeconds < HOUR_SECONDS ? limitSeconds * 4 : limitSeconds * 2;
}

/* The lowest pending nonce of a chain. */

const NONCE_CHANGED = 'crosschain_lowest_pending_nonce_changed_timestamp_seconds';
const LOWEST_NONCE = 'crosschain_lowest_pending_nonce';
const OLDEST = 'crosschain_oldest_cctx_created_timestamp_seconds';
const HIDDEN = 'crosschain_cctxs_hidden';

/** After a halt of the hub, all chains need some minutes. */
const STUCK_FOR_MINUTES = 5;

function findStuck({
  samples,
  history: { firstSuccessAt },
  now,
}: PollView<typeof NONCE_CHANGED | typeof LOWEST_NONCE | typeof OLDEST | typeof HIDDEN | typeof AGE_LIMIT>): Finding[] {
  // A truncated list does not tell whether the nonce has changed.
  if (samples.value(HIDDEN) !== 0) return [];
  const limits = byChain(samples, AGE_LIMIT);
  const nonces = byChain(samples, LOWEST_NONCE);
  const pending = samples.series(OLDEST).filter(({ labels }) => labels['list'] === 'pending');
  return samples.series(NONCE_CHANGED).flatMap(({ labels, value: changedSeconds }) => {
    const chainId = labelOf(labels, 'chain_id');
    const limitSeconds = limits.get(chainId);
    const nonce = nonces.get(chainId);
    if (limitSeconds === undefined || nonce === undefined) return [];
    const ageSeconds = now.epochSeconds - changedSeconds;
    return {
      labels,
      value: nonce,
      start: {
        kind: 'counted',
        since: { epochSeconds: changedSeconds, monotonicMs: now.monotonicMs - ageSeconds * 1000 },
        // The exporter does not know when the nonces of the first document have changed.
        mayBeOlder: firstSuccessAt !== undefined && changedSeconds <= firstSuccessAt.epochSeconds,
        // Its transaction was not pending before it was created.
        notBeforeSeconds: () => pending.find((own) => own.labels['chain_id'] === chainId)?.value,
        requiredMs: limitSeconds * 1000 + STUCK_FOR_MINUTES * MINUTE_MS,
      },
    };
  });
}

/** The outbound hash of a pending transaction, empty while nobody has posted one; `undefined` for a node that lists no hashes. */
function outboundHash({ items }: Pick<PollView, 'items'>, isWanted: (cctx: CctxItem) => boolean): string | undefined {
  const rows = listedRows(crosschainItemsOf({ items })?.pending);
  const hasHashes = rows.some(({ hash }) => hash !== null && hash !== '');
  return hasHashes ? (rows.find(isWanted)?.hash ?? undefined) : undefined;
}

/** The outbound hash of the transaction of the nonce of a finding. */
function hashOf({ labels, value }: Finding, view: Pick<PollView, 'items'>): string | undefined {
  return outboundHash(view, ({ chainId, nonce }) => chainId === labels['chain_id'] && Number(nonce) === value);
}

function hashText(hash: string | undefined): string {
  if (hash === undefined) return '';
  return hash === '' ? ' without an outbound hash' : ' with an outbound hash';
}

/* The oldest pending transaction of a chain. */

function tooOld(severity: 'critical' | 'warning') {
  const isCritical = severity === 'critical';
  return dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainOldestPendingTooOld',
    severity,
    description: isCritical
      ? 'The oldest pending transaction of a chain is older than four times the age limit of the chain, or twice from a limit of an hour on: 2 hours by default, 4 hours on Bitcoin.'
      : 'The oldest pending transaction of a chain is older than the age limit of the chain: 30 minutes by default, 2 hours on Bitcoin.',
    expr: `time() - ${OLDEST}{list="pending"}
> ${ON_CHAIN} group_left ()
${isCritical ? ageLimits(criticalAge(AGE_LIMIT)) : ageLimits()}`,
    forMinutes: 5,
    families: [OLDEST, AGE_LIMIT],
    find: ({ samples, now }) => {
      const limits = byChain(samples, AGE_LIMIT);
      return samples.series(OLDEST).flatMap(({ labels, value }) => {
        const ageLimit = limits.get(labelOf(labels, 'chain_id')) ?? Infinity;
        const limit = isCritical ? criticalAgeSeconds(ageLimit) : ageLimit;
        const isTooOld = labels['list'] === 'pending' && now.epochSeconds - value > limit;
        return isTooOld ? [{ labels, value, start: beganAt(() => value + limit) }] : [];
      });
    },
    summary: `a pending transaction on ${THE_CHAIN} is {{ $value | humanizeDuration }} old.`,
    action: hashAction,
    sentence: ({ all }, { samples, now }) => {
      const waitingOf = ({ value }: DatedFinding): string => duration(now.epochSeconds - value);
      const longer = `${isCritical ? 'far ' : ''}longer than`;
      const oldestFirst = all.toSorted((a, b) => a.value - b.value);
      const [oldest, ...others] = oldestFirst;
      if (oldest !== undefined && others.length === 0) {
        const limit = byChain(samples, AGE_LIMIT).get(labelOf(oldest.labels, 'chain_id')) ?? 0;
        return `a transaction on chain ${chainOf(oldest.labels)} has waited for ${waitingOf(oldest)}, ${longer} its limit of ${duration(limit)}`;
      }
      const chains = oldestFirst.map((own) => `${chainOf(own.labels)} for ${waitingOf(own)}`);
      return withList(
        `transactions on ${count(chains.length, 'chain')} have waited ${longer} the age limit of their chain`,
        list(chains),
      );
    },
    actionFor: ({ all, oldest: { labels, value } }, view) => {
      const isOldest = ({ chainId, createdAt }: CctxItem): boolean =>
        chainId === labels['chain_id'] && unixSecondsOf(createdAt) === value;
      return hashActionsOf(all, outboundHash(view, isOldest));
    },
  });
}

/** The hub says so itself, and the alerts on what does not move would only repeat it. */
const outboundDisabled = dataAlert(RATE_LIMITER_INPUT, {
  name: 'CrosschainOutboundDisabled',
  severity: 'warning',
  description:
    'The hub has switched off transactions to other chains (isOutboundEnabled of crosschain_flags). Pending ones wait until it switches them on again.',
  expr: 'crosschain_outbound_enabled == 0',
  forMinutes: 2,
  families: ['crosschain_outbound_enabled'],
  find: ({ samples }) => findingIf(samples.value('crosschain_outbound_enabled') === 0, 0),
  summary: 'transactions to other chains are switched off.',
  action: 'Look for an announcement of the chain: only its operational policy can switch them on again.',
  sentence: ({ duration: lasting }) => `the hub has switched off transactions to other chains for ${lasting}`,
  inhibits: [
    { alert: 'CrosschainBacklogStuck' },
    { alert: 'CrosschainOldestPendingTooOld' },
    { alert: 'CrosschainBacklogHigh' },
  ],
});

export const progressAlerts = [
  outboundDisabled,
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainBacklogStuck',
    severity: 'critical',
    // A truncated list does not show whether the lowest nonce has changed, so it changes nothing; the next complete
    // list does. After a halt of the hub, all chains need some minutes.
    description:
      'The lowest pending nonce of a chain has not changed for longer than the age limit of the chain. Later nonces wait for it.',
    expr: `time() - ${NONCE_CHANGED}
> ${ON_CHAIN} group_left ()
${ageLimits()}
and ${ON_TARGET} ${HIDDEN} == 0`,
    forMinutes: STUCK_FOR_MINUTES,
    families: [NONCE_CHANGED, LOWEST_NONCE, OLDEST, HIDDEN, AGE_LIMIT, CCTXS],
    find: findStuck,
    summary: `nothing has moved on ${THE_CHAIN} for {{ $value | humanizeDuration }}.`,
    action: `If a transaction of the chain is missed, begin with that. ${hashAction}`,
    sentence: ({ all, duration: lasting }, view) => {
      const chains = all.map(({ labels, value }) => `${chainOf(labels)} at nonce ${value}`);
      const [only, ...others] = all;
      return only !== undefined && others.length === 0
        ? `nothing has moved for ${lasting} on chain ${list(chains)}${hashText(hashOf(only, view))}`
        : withList(`nothing has moved for ${lasting} on ${count(chains.length, 'chain')}`, list(chains));
    },
    actionFor: ({ all, oldest }, view) => {
      const { samples } = view;
      const missed = samples.series(CCTXS).filter(({ labels, value }) => labels['list'] === 'missed' && value > 0);
      const chains = new Set(missed.map(({ labels }) => labels['chain_id']));
      const hasMissed = all.some(({ labels }) => chains.has(labels['chain_id']));
      const next = hashActionsOf(all, hashOf(oldest, view));
      return hasMissed ? `Begin with the missed transactions of the chain, the lowest nonce first. ${next}` : next;
    },
    inhibits: [{ alert: 'CrosschainOldestPendingTooOld', equal: ['chain_id'] }],
  }),
  tooOld('critical'),
  tooOld('warning'),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainPendingListTruncated',
    severity: 'warning',
    description:
      'The node omits pending transactions from its list. Counts by chain are lower bounds, the oldest transaction may be hidden, and CrosschainBacklogStuck waits for a complete list.',
    ...above(HIDDEN, 0),
    forMinutes: 10,
    summary: `${countOfValue('pending cross-chain transaction is', 'pending cross-chain transactions are')} not listed.`,
    action:
      'Remove limit from the configuration if it is set. Otherwise the backlog is longer than the 500 that a node lists: find out which chain does not move.',
    sentence: ({ oldest, duration: lasting }) =>
      `the node has omitted pending cross-chain transactions from its list for ${lasting}, ${oldest.value} at present`,
  }),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainBacklogHigh',
    severity: 'warning',
    description:
      'More transactions are missed or pending than `crosschain.backlog_limit`, including those that the node omits from its list.',
    expr: `crosschain_total_pending
> ${ON_TARGET} group_left ()
max by (${TARGET}) (crosschain_backlog_limit_cctxs)`,
    forMinutes: 30,
    families: ['crosschain_total_pending', 'crosschain_backlog_limit_cctxs'],
    find: (view) => {
      const pending = view.samples.value('crosschain_total_pending');
      const limit = view.samples.value('crosschain_backlog_limit_cctxs');
      if (pending === undefined || limit === undefined) return [];
      const start = lastedSince(() => unixSecondsOf(crosschainItemsOf(view)?.aboveLimitSince));
      return findingIf(pending > limit, pending, undefined, start);
    },
    summary: `${countOfValue('cross-chain transaction is', 'cross-chain transactions are')} pending.`,
    action:
      'Check whether outbounds are switched off (crosschain_flags), then in the list of pending transactions which chains they wait for.',
    sentence: ({ oldest, duration: lasting }, { samples }) =>
      `the number of pending cross-chain transactions has been above ${samples.value('crosschain_backlog_limit_cctxs') ?? 'its limit'} for ${lasting}, ${oldest.value} at present`,
  }),
];
