import type { Instant } from '../clock.js';
import { lowest, subtract } from '../chain/numeral.js';
import { isScheduledByDistance } from '../chain/known-chains.js';
import type { Cctx } from '../chain/rate-limiter-input.js';
import { unlistedCctxs } from '../flow/unlisted-cctxs.js';
import type { CrosschainInput } from '../facts/crosschain/crosschain-input.js';
import {
  ageLimitMs,
  highestNonce,
  lowestMissedNonce,
  lowestNonces,
  missedOnly,
  outboundNonce,
  scheduleLookahead,
} from '../facts/crosschain/chains.js';
import { groupBy } from '../facts/grouping.js';
import { MAX_ID_CHARACTERS } from '../facts/plain-values.js';
import { required, WITHDRAWN } from '../facts/required-fields.js';
import { crosschainFlags } from '../queries/crosschain-queries.js';
import { isNodeBehind, nodeDelaySeconds } from '../queries/node-status.js';
import { count, durationInWords, list, percent } from '../text/format.js';
import { DAY_SECONDS, HOUR_SECONDS } from '../units.js';
import {
  CHECK_SIGNERS,
  haltTracking,
  isOutboundEnabled,
  joinChains,
  offSeconds,
  standstillSeconds,
  type CrosschainEvidence,
  type HaltMark,
} from './chains.js';
import { findEntry } from './marks.js';
import {
  byNewAnswer,
  defineProblem,
  OTHERS_NOT_SHOWN,
  OTHERS_UNJUDGED,
  type Finding,
  type Findings,
  type Inhibition,
  type Severity,
} from './problem.js';
import { cctxAmountsText, chainText, clockTime, outboundTexts, pendingTexts } from './sentence.js';
import {
  consideredCctxs,
  createdAt,
  distinctCctxs,
  groupByChain,
  hasCreation,
  hiddenCount,
  isTruncated,
} from '../facts/crosschain/cctxs.js';

/* Pending and missed cross-chain transactions. */

/** A truncated list ends no problem. */
function unlessTruncated(input: CrosschainInput, found: readonly Finding[]): Findings {
  return isTruncated(input) ? [...found, OTHERS_NOT_SHOWN] : found;
}

const LOOK_UP =
  'Look up the outbound on its chain: by its hash, or by its nonce if the outbound has no hash (see the runbook).';

/** Votes of observers take a block of the hub; a missed run of the observers takes some minutes. */
const STUCK_SECONDS = 300;

const chainStuck = defineProblem('rate_limiter_input', {
  name: 'CrosschainBacklogStuck',
  severity: 'critical',
  age: 'over',
  afterMinutes: 0,
  description:
    'The lowest pending nonce of a chain has not changed for the age limit of the chain plus five minutes. Times when the hub had halted or outbounds were switched off do not count.',
  action: LOOK_UP,
  mark: haltTracking,
  find: ({ input }: CrosschainEvidence, mark: HaltMark | undefined) => {
    if (isTruncated(input)) return OTHERS_NOT_SHOWN;
    const pending = groupByChain(distinctCctxs.pending(input));
    const considered = groupByChain(consideredCctxs.pending(input));
    const missed = groupByChain(missedOnly(input));
    const found = lowestNonces(input).map(({ chainId, nonce, since }) => {
      if (!considered.has(chainId)) return undefined;
      const standstill = standstillSeconds(mark, since);
      const limit = ageLimitMs(chainId, input.settings) / 1000 + STUCK_SECONDS + standstill;
      const age = input.at - since;
      if (age < limit) return undefined;
      const first = pending.get(chainId)?.find((cctx) => outboundNonce(cctx) === nonce);
      const outbound = outboundTexts(input, first);
      return {
        subject: { chain_id: chainId },
        progressKey: String(nonce),
        start: since + limit,
        summary: `nothing moves on chain ${chainText(input, chainId)} at nonce ${nonce}${outbound.hash}`,
        details: [
          `for ${durationInWords(age)}, since ${clockTime(input, -age)}; the limit is ${durationInWords(limit)}`,
          outbound.ids,
          ...pendingTexts(input, considered.get(chainId) ?? []),
        ],
        action: missed.has(chainId)
          ? 'Begin with the missed transactions of the chain, the lowest nonce first.'
          : undefined,
      };
    });
    return joinChains(input, found, consideredCctxs.pending(input), {
      summary: (chains) => `nothing moves on ${chains}`,
    });
  },
  inhibits: [{ problem: 'CrosschainOldestPendingTooOld', equal: ['chain_id'] }, { problem: 'CrosschainBacklogHigh' }],
});

function tooOld(severity: Severity) {
  const isCritical = severity === 'critical';
  return defineProblem('rate_limiter_input', {
    name: 'CrosschainOldestPendingTooOld',
    severity,
    age: 'over',
    // Later than CrosschainBacklogStuck, which hides it. On a chain that moves, only this one fires.
    afterMinutes: isCritical ? 0 : 15,
    description: isCritical
      ? 'The oldest pending cctx of a chain is older than four times the age limit of the chain, or twice a limit of an hour or more.'
      : 'The oldest pending cctx of a chain is older than the age limit of the chain: 30 minutes by default, 2 hours on Bitcoin.',
    action: LOOK_UP,
    mark: haltTracking,
    find: ({ input, answers }: CrosschainEvidence, mark: HaltMark | undefined) => {
      // Nothing gets older while outbounds are off.
      if (isOutboundEnabled(answers) === false) return OTHERS_NOT_SHOWN;
      // A node that is behind shows transactions as of its newest block: their ages end there.
      const delaySeconds = isNodeBehind(answers, input) ? (nodeDelaySeconds(answers, input) ?? 0) : 0;
      const considered = consideredCctxs.pending(input);
      const dated = considered.filter(hasCreation);
      if (dated.length === 0 && considered.length > 0) throw WITHDRAWN;
      const pending = groupByChain(considered);
      const found = Array.from(groupByChain(dated), ([chainId, cctxs]) => {
        const all = pending.get(chainId) ?? cctxs;
        const undated = all.length - cctxs.length;
        const created = lowest(cctxs.map(createdAt));
        if (created === undefined) return undefined;
        const createdSeconds = Number(created) - input.clockOffset;
        const limit = ageLimitMs(chainId, input.settings) / 1000;
        const times = !isCritical ? 1 : limit < HOUR_SECONDS ? 4 : 2;
        const allowed = limit * times + offSeconds(mark, createdSeconds);
        const age = input.at - delaySeconds - createdSeconds;
        if (age <= allowed) return undefined;
        const oldest = cctxs.find((cctx) => createdAt(cctx) === created);
        const outbound = outboundTexts(input, oldest);
        return {
          subject: { chain_id: chainId },
          progressKey: String(created),
          chainStart: Number(created) + allowed + delaySeconds,
          summary: `a transaction on chain ${chainText(input, chainId)} is ${isCritical ? 'far ' : ''}older than the limit of ${durationInWords(limit)}`,
          details: [
            `the transaction has waited for ${durationInWords(age)}`,
            outbound.ids,
            ...pendingTexts(input, all),
            undated === 0 ? '' : `${undated} not judged, because their time of creation is unknown`,
          ],
        };
      });
      const joined = joinChains(input, found, considered, {
        summary: (chains) =>
          `on ${chains}, a transaction is ${isCritical ? 'far ' : ''}older than the limit of its chain`,
      });
      return unlessTruncated(input, joined);
    },
  });
}

const outboundDisabled = defineProblem('rate_limiter_input', {
  name: 'CrosschainOutboundDisabled',
  severity: 'warning',
  isUrgent: true,
  // The answer of the hub is certain, and the problems of waiting transactions would only repeat it.
  afterMinutes: 0,
  description: 'The hub has switched off transactions to other chains: `isOutboundEnabled` of its flags is false.',
  action: 'Look for an announcement of the hub: only its operational policy can switch outbounds on again.',
  find: (evidence) =>
    byNewAnswer(evidence, crosschainFlags, ({ isOutboundEnabled: isEnabled }) =>
      isEnabled ? undefined : { summary: 'the hub has switched off transactions to other chains' },
    ),
  inhibits: [
    { problem: 'CrosschainBacklogStuck' },
    { problem: 'CrosschainOldestPendingTooOld' },
    { problem: 'CrosschainBacklogHigh' },
    { problem: 'CrosschainPendingListTruncated' },
  ],
});

const truncated = defineProblem('rate_limiter_input', {
  name: 'CrosschainPendingListTruncated',
  severity: 'warning',
  afterMinutes: 10,
  description:
    'The node omits pending cctxs from its list. Meanwhile CrosschainBacklogStuck is not judged; CrosschainOldestPendingTooOld and CrosschainFreezeNear are judged by the listed cctxs.',
  action:
    'If `crosschain.limit` is configured, remove it. Otherwise, the backlog is longer than the 500 cctxs that a node lists: find out which chain does not move.',
  find: ({ input }) => {
    if (!isTruncated(input)) return undefined;
    return {
      summary: 'the node omits pending cross-chain transactions from its list',
      details: [`${String(hiddenCount(input))} at present`],
    };
  },
});

const crosschainBacklogHigh = defineProblem('rate_limiter_input', {
  name: 'CrosschainBacklogHigh',
  severity: 'warning',
  afterMinutes: 30,
  description: 'The number of missed and pending cctxs, listed or not, is above `crosschain.backlog_limit`.',
  action:
    'Check whether outbounds are switched off (crosschain_flags). Then check for which chains the pending transactions wait.',
  find: ({ input }) => {
    const { backlog_limit } = input.settings;
    const pending = required(input.document.total_pending);
    if (pending <= backlog_limit) return undefined;
    return {
      summary: `more than ${backlog_limit} cross-chain transactions are pending`,
      details: [`${String(pending)} at present`],
    };
  },
});

/* Missed transactions, and their consequences. */

const MISSED_ACTION =
  'A missed transaction was almost certainly executed, because a later nonce was. Look up the transaction on its chain by nonce, then have an observer post its hash. Do not abort it: that can pay twice.';

/** The transactions that were seen first are kept. Later ones cannot be judged. */
const MAX_MISSED = 1000;

/** When each missed transaction was first seen; 0 if by one of the first two documents, because it may be old. */
type MissedMark = Readonly<Record<string, Instant>>;

/** Indexes are bounded like labels. */
const missedKey = ({ index }: Cctx): string => required(index).slice(0, MAX_ID_CHARACTERS);

const missed = defineProblem('rate_limiter_input', {
  name: 'CrosschainCctxsMissed',
  severity: 'warning',
  afterMinutes: 15,
  description:
    'Cctxs of a chain were missed within the last day. Cctxs that were missed at the first two polls do not count.',
  action: MISSED_ACTION,
  mark: {
    isDebounced: true,
    next: ({ input }, before: MissedMark | undefined): MissedMark => {
      const seen = before === undefined ? 0 : input.at;
      const entries = distinctCctxs.missed(input).map((cctx): [string, Instant] => {
        const key = missedKey(cctx);
        return [key, findEntry(before, key) ?? seen];
      });
      return Object.fromEntries(entries.toSorted(([, a], [, b]) => a - b).slice(0, MAX_MISSED));
    },
  },
  find: ({ input }, mark) => {
    const missedCctxs = consideredCctxs.missed(input);
    const remembered = missedCctxs.filter((cctx) => findEntry(mark, missedKey(cctx)) !== undefined);
    const seenAt = (cctx: Cctx): Instant => required(findEntry(mark, missedKey(cctx)));
    const recent = remembered.filter((cctx) => input.at - seenAt(cctx) < DAY_SECONDS);
    const each = Array.from(groupByChain(recent), ([chainId, cctxs]) => ({
      subject: { chain_id: chainId },
      start: Math.min(...cctxs.map(seenAt)),
      summary: `cross-chain transactions on chain ${chainText(input, chainId)} are missed`,
      details: [`${cctxs.length} at present`, cctxAmountsText(input, cctxs)],
    }));
    const found = joinChains(input, each, recent, {
      summary: (chains) => `cross-chain transactions on ${chains} are missed`,
      action: `${CHECK_SIGNERS} Do not abort missed ones: most were executed.`,
    });
    return remembered.length < missedCctxs.length ? [...found, OTHERS_UNJUDGED] : found;
  },
});

const unlisted = defineProblem('rate_limiter_input', {
  name: 'CrosschainCctxsUnlisted',
  severity: 'warning',
  // A node behind the node of the document may answer for moments that a finished transaction is pending.
  afterMinutes: 15,
  description: 'Cctxs are in neither list any more, but the node answers that they are pending.',
  action:
    'Observers no longer see the transaction, so a posted hash does not help. Look it up on its chain by nonce, and have enough observers vote for its outbound by hand. Do not abort it: that can pay twice.',
  find: ({ input, flow }) => {
    const considered = required(unlistedCctxs({ input, flow })).filter(({ isIgnored }) => !isIgnored);
    const byChain = groupBy(considered, ({ chainId }) => chainId);
    return Array.from(byChain, ([chainId, cctxs]) => {
      const nonces = cctxs
        .flatMap(({ nonce }) => nonce ?? [])
        .toSorted((a, b) => Number(a) - Number(b))
        .map(String);
      return {
        subject: { chain_id: chainId },
        summary: `cross-chain transactions on chain ${chainText(input, chainId)} are pending and no longer listed`,
        details: [
          `${cctxs.length} at present`,
          nonces.length === 0 ? '' : `${nonces.length === 1 ? 'nonce' : 'nonces'} ${list(nonces, cctxs.length)}`,
        ],
      };
    });
  },
});

function freezeNear(severity: Severity, share: number, afterMinutes: number, inhibits: readonly Inhibition[]) {
  return defineProblem('rate_limiter_input', {
    name: 'CrosschainFreezeNear',
    severity,
    afterMinutes,
    description: `Less than ${percent(share)} of the lookahead is left above the lowest missed nonce of a chain.`,
    action: `Begin with the lowest missed nonce. ${MISSED_ACTION}`,
    find: ({ input }: CrosschainEvidence) => {
      const pending = groupByChain(distinctCctxs.pending(input));
      const found = Array.from(groupByChain(missedOnly(input)).keys(), (chainId) => {
        const pendingOfChain = pending.get(chainId) ?? [];
        const lowestMissed = lowestMissedNonce(input, chainId);
        const highest = highestNonce(pendingOfChain);
        if (!isScheduledByDistance(chainId) || lowestMissed === undefined || highest === undefined) return undefined;
        const lookahead = scheduleLookahead(chainId, input);
        const left = lookahead - Number(subtract(highest, lowestMissed));
        if (left >= lookahead * share) return undefined;
        return {
          subject: { chain_id: chainId },
          // When the lowest missed transaction is finished, that is progress.
          progressKey: String(lowestMissed),
          summary: `missed nonce ${lowestMissed} freezes chain ${chainText(input, chainId)}`,
          details: [
            left > 0 ? `after ${count(left, 'more nonce')}` : 'it is frozen',
            ...pendingTexts(input, pendingOfChain),
          ],
        };
      });
      const joined = joinChains(input, found, distinctCctxs.pending(input), {
        summary: (chains) => `missed nonces freeze ${chains}`,
        action: `${CHECK_SIGNERS} Then have the hashes of the lowest missed nonces posted.`,
      });
      return unlessTruncated(input, joined);
    },
    inhibits: [{ problem: 'CrosschainCctxsMissed', equal: ['chain_id'] }, ...inhibits],
  });
}

export const crosschainProblems = [
  outboundDisabled,
  freezeNear('critical', 0.2, 2, [
    { problem: 'CrosschainBacklogStuck', equal: ['chain_id'] },
    { problem: 'CrosschainOldestPendingTooOld', equal: ['chain_id'] },
    { problem: 'CrosschainBacklogHigh' },
  ]),
  chainStuck,
  tooOld('critical'),
  freezeNear('warning', 0.5, 5, []),
  missed,
  unlisted,
  tooOld('warning'),
  truncated,
  crosschainBacklogHigh,
];
