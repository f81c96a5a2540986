import { describe, expect, it } from 'vitest';
import { initialState, type EndpointState } from '../../src/engine/endpoint-state.js';
import { afterRound, initialQueryState, type QueryContext, type QueryStates } from '../../src/queries/query.js';
import { signingInfo } from '../../src/queries/validator-queries.js';
import { cctx, outbound, rateLimiterInput, status } from '../facts/crosschain/document.js';
import { idleState, validators } from '../items/bridge-state.js';
import { answeredQueries } from '../support/answered-queries.js';
import { bridgeContext, bridgePoll, bridgeSnapshot, crosschainContext, crosschainPoll } from '../support/snapshots.js';
import { step } from '../support/steps.js';

/* Problems that answers of queries show. A document comes every 15 seconds, and an answer every minute. */

const START_SECONDS = 1_700_000_000;
const SECONDS_OF_POLL = 15;
const BLOCKS_OF_MINUTE = 30;
const OWN = validators[3]?.orchestrator ?? '';
const at = (seconds: number) => ({ at: START_SECONDS + seconds, clockOffset: 0 });
const heightAt = (seconds: number): number => 100_000 + seconds / 2;

type Answers = (minute: number, before: QueryStates) => QueryStates;

/** The names of the problems that are there after each document, with the second of the document. */
function problemsAfter(
  minutes: number,
  answers: Answers,
  stepWith: (state: EndpointState, seconds: number) => EndpointState,
  before: EndpointState,
): readonly (readonly [number, readonly string[]])[] {
  let state = before;
  return Array.from({ length: (minutes * 60) / SECONDS_OF_POLL }, (_, index) => {
    const seconds = index * SECONDS_OF_POLL;
    const arrived = seconds % 60 === 0 ? answers(seconds / 60, state.queries) : new Map();
    state = stepWith({ ...state, queries: new Map([...state.queries, ...arrived]) }, seconds);
    const present = state.lastSuccess?.snapshot.judgement.present ?? [];
    return [seconds, present.map(({ problem: { name, severity } }) => `${name}/${severity}`)];
  });
}

const bridgeOptions = { watch: [OWN], block_time: 2000 };

function bridgeProblemsAfter(minutes: number, answers: Answers, document: (minute: number) => object = () => ({})) {
  const context = bridgeContext(bridgeOptions);
  return problemsAfter(
    minutes,
    answers,
    (state, seconds) => {
      const options = { ...bridgeOptions, height: String(heightAt(seconds)), atMs: seconds * 1000 };
      const poll = bridgePoll({ ...idleState, ...document(Math.floor(seconds / 60)) }, options);
      return step(state, poll, context, at(seconds));
    },
    initialState(context, START_SECONDS),
  );
}

/** The seconds of the documents after which a problem is there. */
const secondsWith = (name: string, all: ReturnType<typeof problemsAfter>): readonly number[] =>
  all.flatMap(([seconds, names]) => (names.some((each) => each.startsWith(name)) ? [seconds] : []));

const jailed = (minute: number, isJailed: boolean): QueryStates =>
  answeredQueries(at(minute * 60), { staking_validator: { operator: '', isJailed, isBonded: !isJailed } }, OWN);

const firstAndLast = (seconds: readonly number[]) => [seconds[0], seconds.at(-1)];

describe('a problem that an answer shows', () => {
  it('does not begin by one odd answer, however many documents come before the next answer', () => {
    const jailedIn = (...minutes: readonly number[]) =>
      bridgeProblemsAfter(8, (minute) => jailed(minute, minutes.includes(minute)));
    expect(secondsWith('BridgeWatchedValidatorJailed', jailedIn(2))).toEqual([]);
    expect(secondsWith('BridgeWatchedValidatorJailed', jailedIn(2, 4))).toEqual([]);
  });

  it('begins by the second answer, and ends by the second one without it', () => {
    const found = bridgeProblemsAfter(12, (minute) => jailed(minute, minute >= 2 && minute < 6));
    expect(firstAndLast(secondsWith('BridgeWatchedValidatorJailed', found))).toEqual([180, 405]);
    const odd = bridgeProblemsAfter(12, (minute) => jailed(minute, minute >= 2 && minute !== 6));
    expect(secondsWith('BridgeWatchedValidatorJailed', odd)).toHaveLength((12 - 3) * 4);
  });

  it('goes on while the same answer stays, because the next ones fail', () => {
    const found = bridgeProblemsAfter(6, (minute) => (minute < 2 ? jailed(minute, true) : new Map()));
    expect(firstAndLast(secondsWith('BridgeWatchedValidatorJailed', found))).toEqual([60, 345]);
    const once = bridgeProblemsAfter(6, (minute) => (minute < 1 ? jailed(minute, true) : new Map()));
    expect(secondsWith('BridgeWatchedValidatorJailed', once)).toEqual([]);
  });

  it('is not hidden or shown by one odd answer that explains what a document shows', () => {
    const members = idleState.last_observed_valset.members.slice(0, 3);
    const without = { valsets: [{ ...idleState.valsets[0], nonce: '2', members }] };
    const document = (minute: number) => (minute < 2 ? {} : without);
    const inJail = bridgeProblemsAfter(20, (minute) => jailed(minute, minute >= 1 && minute !== 15), document);
    expect(secondsWith('BridgeWatchedValidatorInactive', inJail)).toEqual([]);
    const left = bridgeProblemsAfter(20, (minute) => jailed(minute, minute === 15), document);
    const found = secondsWith('BridgeWatchedValidatorInactive/critical', left);
    expect(found).toHaveLength((20 * 60 - (found[0] ?? 0)) / SECONDS_OF_POLL);
  });
});

/** A transaction that was created with the first document. */
const pending = cctx('0x1', [outbound('1', { amount: '1', tss_nonce: '1', hash: '' })], {
  cctx_status: status({ created_timestamp: String(START_SECONDS) }),
});

describe('outbounds that are switched off', () => {
  const crosschainProblemsAfter = (minutes: number, isOutboundEnabled: (minute: number) => boolean) => {
    const context = crosschainContext();
    return problemsAfter(
      minutes,
      (minute) =>
        answeredQueries(at(minute * 60), {
          crosschain_flags: { isInboundEnabled: true, isOutboundEnabled: isOutboundEnabled(minute) },
        }),
      (state, seconds) => {
        const body = rateLimiterInput({
          height: String(heightAt(seconds)),
          cctxs_pending: [pending],
          total_pending: '1',
        });
        return step(state, crosschainPoll(body, { at: at(seconds) }), context, at(seconds));
      },
      initialState(context, START_SECONDS),
    );
  };

  it('are told by the second answer, and not by one odd one', () => {
    const off = (...minutes: readonly number[]) =>
      secondsWith(
        'CrosschainOutboundDisabled',
        crosschainProblemsAfter(8, (minute) => !minutes.includes(minute)),
      );
    expect(off(2)).toEqual([]);
    expect(firstAndLast(off(2, 3, 4))).toEqual([180, 345]);
  });

  it('do not make transactions too old by one odd answer, after they were off before', () => {
    const found = crosschainProblemsAfter(80, (minute) => (minute < 2 || minute > 60) && minute !== 70);
    expect(secondsWith('CrosschainOldestPendingTooOld', found)).toEqual([]);
  });
});

/** What the node answers about the blocks of an own validator, of which it may miss 500 of 1000. */
interface Blocks {
  readonly missed: number;
  /** `null` for a response without the header. */
  readonly height?: number | null;
}

const { past } = bridgeSnapshot(idleState, { watch: [OWN] });

function blockAnswers(minute: number, before: QueryStates, blocks: Blocks): QueryStates {
  const { at: now } = at(minute * 60);
  const { missed, height = heightAt(minute * 60) } = blocks;
  const value = { address: '', startHeight: 1n, missed, isTombstoned: false };
  const exchange = {
    request: { key: OWN, path: '' },
    height: height === null ? undefined : String(height),
    result: { ok: true, value },
  } as const;
  const context = {
    ...bridgeContext(bridgeOptions),
    past: { ...past, at: now },
    flow: {} as QueryContext<'module_state'>['flow'],
    dialect: 'neutral',
    operators: new Map(),
    answers: before,
  };
  const last = before.get(signingInfo.name) ?? initialQueryState(signingInfo);
  return new Map([
    ...answeredQueries(at(minute * 60), { slashing_params: { window: 1000, minSigned: 0.5 } }),
    ...jailed(minute, false),
    [signingInfo.name, afterRound(last, context, [exchange], now, now)],
  ]);
}

describe('the blocks of a validator', () => {
  const SIGNS_NONE = 'BridgeWatchedValidatorSignsNoBlocks/critical';
  const MISSING = 'BridgeWatchedValidatorMissingBlocks/critical';
  /** The minutes of documents with each problem, when a validator signs no blocks from minute 5 until minute 20. */
  const minutesWithBoth = (odd: Partial<Blocks> = {}) => {
    const found = bridgeProblemsAfter(35, (minute, before) => {
      const missed = 3 + BLOCKS_OF_MINUTE * Math.min(15, Math.max(0, minute - 5));
      return blockAnswers(minute, before, { missed, ...([15, 25, 33].includes(minute) && odd) });
    });
    return [SIGNS_NONE, MISSING].map((name) => secondsWith(name, found).map((seconds) => seconds / 60));
  };
  const [signsNone = [], missing = []] = minutesWithBoth();

  it('are not signed since the second answer that says so, until two say that some are', () => {
    expect([firstAndLast(signsNone), signsNone.length]).toEqual([[7, 21.75], (22 - 7) * 4]);
    expect([firstAndLast(missing), missing.length]).toEqual([[11, 30.75], (31 - 11) * 4]);
  });

  it.each<[string, Partial<Blocks>]>([
    ['a number that is too high', { missed: 499 }],
    ['a number that is too low', { missed: 0 }],
    ['no height', { height: null }],
    ['a lower height', { missed: 3, height: 100_001 }],
    ['a height that is too high', { height: 200_000 }],
    ['the height of the answer before', { missed: 33, height: heightAt(14 * 60) }],
  ])('are not told to be signed, or missed faster, by single answers with %s', (_, odd) => {
    expect(minutesWithBoth(odd)).toEqual([signsNone, missing]);
  });

  it('are known after a restart before what is remembered of them ends', () => {
    // Until minute 12 an earlier process has the answers.
    const restarted = (name: string, missedAt: (minute: number) => number) =>
      secondsWith(
        name,
        bridgeProblemsAfter(25, (minute, before) =>
          blockAnswers(minute, minute === 12 ? new Map() : before, { missed: missedAt(minute) }),
        ),
      ).map((seconds) => seconds / 60);
    const unsigned = restarted(SIGNS_NONE, (minute) => 3 + BLOCKS_OF_MINUTE * Math.max(0, minute - 5));
    expect([unsigned[0], unsigned.length]).toEqual([7, (25 - 7) * 4]);
    // At this rate, it is jailed in less than two hours.
    const rising = restarted(MISSING, (minute) => 3 + 5 * minute);
    expect([rising[0], rising.length]).toEqual([6, (25 - 6) * 4]);
  });
});
