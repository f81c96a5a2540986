import { compare, floorDivide, lowest } from '../chain/numeral.js';
import type { Batch } from '../chain/module-state.js';
import {
  expectedBatches,
  isOverdue,
  paysMinimum,
  relayableBatches,
  relayableSince,
  waitOfBatch,
} from '../facts/bridge/batches.js';
import {
  estimateDuration,
  externalBlockTime,
  timeOfHeight,
  estimatedExternalHeight,
  isExternalHeightReliable,
} from '../facts/bridge/block-times.js';
import { heightOfLastObserved } from '../facts/bridge/events.js';
import type { BridgeInput } from '../facts/bridge/bridge-input.js';
import { executedTokens, lastExecutionAt } from '../facts/bridge/executions.js';
import { isBatchSigned, readBatchKey } from '../facts/bridge/signatures.js';
import { contractLabel } from '../facts/bridge/tokens.js';
import { newestValset, powerDrift, unrelayedValsets } from '../facts/bridge/valsets.js';
import { groupBy } from '../facts/grouping.js';
import { orUndefined, required, rows } from '../facts/required-fields.js';
import { count, percent } from '../text/format.js';
import {
  defineProblem,
  OTHERS_NOT_SHOWN,
  OTHERS_UNJUDGED,
  type Evidence,
  type NotShown,
  type Severity,
  HIDDEN_WITHOUT_RELAYS,
} from './problem.js';
import { about, amountsText, batchText, secondsToTimeout, timeoutText } from './sentence.js';

/* Unrelayed batches and validator sets, and batches that time out. */

const CHECK_RELAYERS =
  'Check the relayers: funds for gas, maximum gas price and minimum fee. Anyone can relay a signed batch, unless the contract is paused.';

/** The higher time; `undefined` if either is unknown. */
function latest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.max(a, b);
}

function relayable(input: BridgeInput): readonly Batch[] {
  return relayableBatches(input) ?? [];
}

function firstToTimeOut(batches: readonly Batch[]): Batch | undefined {
  return batches.toSorted((a, b) => compare(required(a.batch_timeout), required(b.batch_timeout)))[0];
}

function notRelayed(severity: Severity, hours: number, needsKnownFees: boolean, description: string) {
  return defineProblem('module_state', {
    name: 'BridgeBatchNotRelayed',
    severity,
    afterMinutes: hours * 60,
    description,
    action: CHECK_RELAYERS,
    find: ({ input }: Evidence<'module_state'>) => {
      const executed = executedTokens(input);
      const batches = relayable(input).filter((batch) => {
        if (waitOfBatch(input, batch) === 'observation') return false;
        // Where executions are seen, nobody may ever relay the batches of a token that has none.
        const isRelayed = executed.size < 2 || executed.has(contractLabel(batch.token_contract));
        return paysMinimum(input, batch) ?? (isRelayed && !needsKnownFees);
      });
      const byToken = groupBy(batches, ({ token_contract }) => contractLabel(token_contract));
      // Two tokens, because the contract can refuse the batches of a single token.
      if (byToken.size < 2) return undefined;
      const oldestOfTokens = Array.from(byToken.values(), (tokenBatches) =>
        lowest(
          tokenBatches.map(
            (batch) =>
              relayableSince(input).get(readBatchKey(batch)) ?? timeOfHeight(input, () => required(batch.block)),
          ),
        ),
      );
      const [, second] = oldestOfTokens.every((time) => time !== undefined)
        ? oldestOfTokens.toSorted((a, b) => a - b)
        : [];
      // Nothing is executed without an observed event.
      const lastEvent = lastExecutionAt(input) || timeOfHeight(input, () => heightOfLastObserved(input));
      return {
        progressKey: String(lastExecutionAt(input)),
        start: latest(second, lastEvent),
        summary: 'signed batches of two tokens or more wait, and none is executed',
        details: [
          `${batches.length} waiting`,
          amountsText(input, batches),
          timeoutText(input, firstToTimeOut(batches), 'the first'),
        ],
      };
    },
    // A warning hides no critical problem.
    inhibits:
      severity === 'warning' ? HIDDEN_WITHOUT_RELAYS.map((hidden) => ({ ...hidden, severity })) : HIDDEN_WITHOUT_RELAYS,
  });
}

/** Where no fees are known to be sufficient (`expectedBatches`). */
const UNKNOWN_FEES =
  'If sufficient fees are unknown, only batches of two or more tokens with executions within 14 days count.';

/** Remaining share of the lifetime of a batch. */
const TIMEOUT_RATIO = 0.2;

const timeoutNear = defineProblem('module_state', {
  name: 'BridgeBatchTimeoutNear',
  severity: 'warning',
  afterMinutes: 5,
  description: `Less than ${TIMEOUT_RATIO * 100} % of the lifetime of a signed batch with sufficient fees is left. ${UNKNOWN_FEES}`,
  action: CHECK_RELAYERS,
  find: ({ input }) => {
    const batches = relayable(input);
    if (batches.length === 0 || estimatedExternalHeight(input) === undefined) return undefined;
    if (!isExternalHeightReliable(input)) return unreliableTimeouts(input);
    const params = required(input.state.params);
    const blocks = required(
      floorDivide(required(params.target_batch_timeout), required(params.average_external_block_time)),
    );
    const near = estimateDuration(blocks, externalBlockTime(input)) * TIMEOUT_RATIO;
    const nearBatches = batches.filter((batch) => (secondsToTimeout(input, batch) ?? near) < near);
    const expected = expectedBatches(input, nearBatches);
    const first = firstToTimeOut(expected);
    const left = first && secondsToTimeout(input, first);
    if (first === undefined || left === undefined) return undefined;
    return {
      progressKey: readBatchKey(first),
      start: input.at - (near - left),
      summary: 'signed batches time out soon',
      details: [`${batchText(input, first)} in ${about(input, left)}`, amountsText(input, expected)],
    };
  },
});

const GET_EVENT_OBSERVED =
  'The hub cancels the batch with the next observed event. If events are pending, find out who has not voted for them. If none are, a small deposit on the external chain makes one, unless the contract is paused.';

/**
 * No problem ends while the external height is not reliable. After ten minutes of polls the block time is measured; the
 * only document of `once` proves nothing.
 */
function unreliableTimeouts({ past }: BridgeInput): NotShown {
  return past === undefined ? OTHERS_UNJUDGED : OTHERS_NOT_SHOWN;
}

function overdue(severity: Severity, afterMinutes: number, description: string) {
  return defineProblem('module_state', {
    name: 'BridgeBatchOverdue',
    severity,
    afterMinutes,
    description,
    action: GET_EVENT_OBSERVED,
    find: ({ input }: Evidence<'module_state'>) => {
      if (estimatedExternalHeight(input) === undefined) return undefined;
      if (!isExternalHeightReliable(input)) return unreliableTimeouts(input);
      const overdueBatches = rows(input.state.batches).filter((batch) => isOverdue(input, batch) === true);
      const paying = overdueBatches.filter((batch) => paysMinimum(input, batch) === true);
      const unknown = overdueBatches.filter((batch) => paysMinimum(input, batch) === undefined);
      const batches =
        severity === 'critical'
          ? paying.filter((batch) => isBatchSigned(input, batch) === true)
          : [...paying.filter((batch) => isBatchSigned(input, batch) !== true), ...expectedBatches(input, unknown)];
      const first = firstToTimeOut(batches);
      if (first === undefined) return undefined;
      const left = secondsToTimeout(input, first);
      return {
        // The hub can cancel a batch and hold the next one.
        progressKey: readBatchKey(first),
        start: left === undefined ? undefined : input.at + left,
        summary: `transfers are locked in ${batchText(input, first)}, which has timed out`,
        details: [
          batches.length > 1 ? `${count(batches.length, 'batch', 'batches')} in all` : '',
          amountsText(input, batches),
        ],
      };
    },
  });
}

/** Sum of the differences of power shares. */
export const DRIFT_RATIO = 0.1;

const valsetDrift = defineProblem('module_state', {
  name: 'BridgeValsetDrift',
  severity: 'warning',
  afterMinutes: 120,
  dashboard: 'bridge-validator',
  // The hub creates a new set at 0.05; twice that means that it was not relayed. Relayers may wait for low gas prices.
  description: `The power shares of the newest validator set differ in sum by more than ${DRIFT_RATIO * 100} % from those of the set in the contract.`,
  action:
    'If the newest validator set is unsigned, get it signed first. Then have a relayer relay it, which anyone can, unless the contract is paused; the hub pays no reward.',
  find: ({ input }) => {
    const value = powerDrift(input);
    if (value === undefined || value <= DRIFT_RATIO) return undefined;
    // The difference has been the same since the newer of the two sets.
    const newest = orUndefined(() => (unrelayedValsets(input).length === 0 ? undefined : newestValset(input)));
    return {
      start: latest(
        timeOfHeight(input, () => required(newest?.height)),
        timeOfHeight(input, () => heightOfLastObserved(input)),
      ),
      summary: 'the validator set in the contract is out of date',
      details: [`its power shares differ in sum by ${percent(value)} from those of the newest set`],
    };
  },
});

export const relayProblems = [
  // The hub cancels the batch with the next observed event. Half an hour without an event is an idle bridge or a
  // stalled oracle.
  overdue(
    'critical',
    30,
    'A signed batch with sufficient fees has timed out at the estimated external height, but is still held by the hub.',
  ),
  notRelayed(
    'critical',
    4,
    true,
    'Signed batches of two or more tokens with sufficient fees are not relayed, and no other batch has been executed meanwhile.',
  ),
  // It is unknown whether a relayer should have executed the batch. Even on a quiet bridge, an event is usually
  // observed within two hours.
  overdue(
    'warning',
    120,
    `A batch that lacks signatures, or whose sufficient fees are unknown, has timed out at the estimated external height, but is still held by the hub. ${UNKNOWN_FEES}`,
  ),
  timeoutNear,
  notRelayed(
    'warning',
    2,
    false,
    'Signed batches of two or more tokens are not relayed, and no other batch has been executed meanwhile. Their sufficient fees may be unknown.',
  ),
  valsetDrift,
];
