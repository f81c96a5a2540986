import { describe, expect, it } from 'vitest';
import type { ContractReading, TokenBacking } from '../../src/facts/contract/reading.js';
import { judgeProblems, NO_PROBLEMS, type Judgement, type ProblemMemory } from '../../src/problems/problem-memory.js';
import type { Evidence } from '../../src/problems/problem.js';
import { joinTexts } from '../../src/problems/sentence.js';
import { runToEnd } from '../../src/tasks.js';
import { answeredQueries } from '../support/answered-queries.js';

/* What is found in the readings of the contract, in minutes of a simulated clock. One reading is enough for a problem to begin. */

const START_SECONDS = 1_790_000_000;
const at = (minute: number) => ({ at: START_SECONDS + minute * 60, clockOffset: 0 });

const [OWNER, OTHER_OWNER] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`];

/** A reading without a problem. */
function readingAt(minute: number, changes: Partial<ContractReading>): ContractReading {
  return {
    at: at(minute).at,
    contract: '0xc',
    height: 100,
    blockSeconds: at(minute).at,
    lastEventNonce: 10,
    lastValsetNonce: 3,
    paused: false,
    batchNonces: [],
    unobservedEvents: 0,
    isValsetUnknown: false,
    owner: OWNER,
    implementation: '',
    powerThreshold: 2_834_678_415,
    isHubTimeKnown: true,
    hubHeight: 1,
    balances: [],
    backing: [],
    configuredThreshold: '0.66',
    ...changes,
  };
}

type Reading = readonly [minute: number, changes: Partial<ContractReading>, answeredMinute?: number];

/** The judgement of the last reading. Each answer about tokens is new, unless it is said of which minute it is. */
function judgeAll(readings: readonly Reading[], isSinglePoll = true) {
  let last: (Judgement & { readonly memory: ProblemMemory }) | undefined;
  for (const [minute, changes, answeredMinute = minute] of readings) {
    const { backing: [token] = [] } = changes;
    const newAnswers = answeredQueries(
      at(minute),
      { hub_supply: minute === answeredMinute ? token : undefined },
      '0xc t',
    );
    const input = { ...readingAt(minute, changes), clockOffset: 0 };
    const evidence = { input, newAnswers, lacking: [] } as unknown as Evidence<'external_contract'>;
    const options = { isSinglePoll, staleAfterMs: 100 * 60 * 60_000, maxSeries: 200 };
    last = runToEnd(judgeProblems(last?.memory ?? NO_PROBLEMS, 'external_contract', evidence, at(minute), options));
  }
  return last;
}

/** The problems after the last reading, with their start in minutes. */
function foundAfter(...readings: readonly Reading[]) {
  return (judgeAll(readings)?.present ?? []).map(({ problem: { name }, startAt, summary, details }) => ({
    name,
    start: (startAt - START_SECONDS) / 60,
    text: joinTexts('; ', summary, details),
  }));
}

const HOUR = 60;

it('is not compared with a hub whose time was never known, and is unjudged when it is no longer known', () => {
  const behind = { unobservedEvents: undefined, isValsetUnknown: undefined };
  const unknown = { ...behind, isHubTimeKnown: false };
  const compared = ['BridgeContractValsetMismatch', 'BridgeOracleSilent'];
  expect(judgeAll([[0, unknown]])?.notJudgedHere).toEqual(expect.arrayContaining(compared));
  const unjudgedAfter = (changes: Partial<ContractReading>) =>
    judgeAll([
      [0, {}],
      [1, changes],
    ])
      ?.unjudged.map(({ problem: { name } }) => name)
      .toSorted();
  expect(unjudgedAfter(unknown)).toEqual(compared);
  expect(unjudgedAfter(behind)).toEqual([]);
});

describe('a token', () => {
  const backing = (surplus: number | undefined): Pick<ContractReading, 'backing'> => {
    const token: TokenBacking = { contract: '0xt', denom: 't', supply: 1, surplus };
    return { backing: [token] };
  };

  it('is not backed while the shortfall is new or has grown within a day', () => {
    expect(foundAfter([0, backing(0)])).toEqual([]);
    expect(foundAfter([0, backing(0)], [5, backing(-3)], [10, backing(-3)])).toEqual([
      {
        name: 'BridgeTokenUnbacked',
        start: 5,
        text: 'the contract holds less of 0xt than the hub owes; 3 smallest units are missing',
      },
    ]);
    const later: Reading[] = [25, 26, 27].map((hours) => [hours * HOUR, backing(-3)]);
    expect(foundAfter([0, backing(0)], [5, backing(-3)], [10, backing(-3)], ...later)).toEqual([]);
    const grown: Reading[] = [20 * HOUR, 20 * HOUR + 5].map((minute) => [minute, backing(-4)]);
    expect(foundAfter([0, backing(0)], [5, backing(-3)], [10, backing(-3)], ...grown, ...later)).toHaveLength(1);
  });

  it('is not newly unbacked after one odd reading without the shortfall, or with a larger one', () => {
    for (const odd of [0, -4]) {
      const surpluses = [-3, -3, odd, -3, -3];
      const later = surpluses.map((surplus, index): Reading => [25 * HOUR + 5 * index, backing(surplus)]);
      expect(foundAfter([0, backing(-3)], ...later)).toEqual([]);
    }
  });

  it('is judged once by each answer: an odd one that five polls have does not begin the problem', () => {
    const presentAt = (...surpluses: readonly number[]): number | undefined => {
      const readings = surpluses.flatMap((surplus, index) =>
        [0, 1, 2, 3, 4].map((minute): Reading => [5 * index + minute, backing(surplus), 5 * index]),
      );
      const [found] = judgeAll(readings, false)?.present ?? [];
      return found?.presentAt === undefined ? undefined : (found.presentAt - START_SECONDS) / 60;
    };
    expect(presentAt(0, 0, -3)).toBeUndefined();
    expect(presentAt(0, 0, -3, 0)).toBeUndefined();
    expect(presentAt(0, 0, -3, -3)).toBe(15);
    expect(presentAt(0, 0, -3, -3, 0)).toBe(15);
    expect(presentAt(0, 0, -3, -3, 0, 0)).toBeUndefined();
  });

  it('stays unbacked while its surplus is unknown', () => {
    const readings: Reading[] = [0, 5, 10].map((minute) => [minute, backing(-3)]);
    expect(foundAfter(...readings, [15, backing(undefined)], [20, backing(undefined)])).toHaveLength(1);
  });
});

describe('the events of the contract', () => {
  const events = (lastEventNonce: number, unobservedEvents: number | undefined) => ({
    lastEventNonce,
    unobservedEvents,
  });

  const quiet: Reading = [0, events(10, 0)];
  const waiting: Reading = [10, events(11, 1)];

  it('are not observed since a reading had the oldest of them, until they become fewer', () => {
    const text = 'the hub does not observe event 11 of the contract; the hub has not observed 2 events of the contract';
    expect(foundAfter(quiet, waiting, [20, events(12, 2)])).toEqual([{ name: 'BridgeOracleSilent', start: 10, text }]);
    expect(foundAfter(quiet, waiting, [20, events(11, 1)], [30, events(11, 1)])).toMatchObject([{ start: 10 }]);
    expect(foundAfter(quiet, [10, events(13, 3)], [20, events(13, 2)], [30, events(13, 2)])).toEqual([]);
    // The hub may be behind.
    expect(foundAfter(quiet, waiting, [20, events(11, undefined)], [30, events(11, undefined)])).toHaveLength(1);
  });

  it('begin anew when one of them is observed', () => {
    expect(foundAfter(quiet, waiting, [20, events(12, 1)])).toMatchObject([{ start: 20 }]);
  });
});

describe('the contract', () => {
  it('has another owner for six hours, with both addresses', () => {
    const other = { owner: OTHER_OWNER };
    const readings: Reading[] = [0, 1, 5, 10].map((minute) => [minute, minute < 5 ? {} : other]);
    const text = 'the owner or the implementation of the contract changed; owner (0xaaaaaa…aaaaaa → 0xbbbbbb…bbbbbb)';
    expect(foundAfter(...readings)).toEqual([{ name: 'BridgeContractOwnerChanged', start: 5, text }]);
    const atMinutes = (...minutes: readonly number[]): Reading[] => minutes.map((minute) => [6 * HOUR + minute, other]);
    expect(foundAfter(...readings, ...atMinutes(3, 4))).toHaveLength(1);
    expect(foundAfter(...readings, ...atMinutes(5, 7))).toEqual([]);
    expect(foundAfter([0, {}], [5, other], [10, {}], [15, {}])).toEqual([]);
    const upgraded = foundAfter(
      ...[0, 1].map((minute): Reading => [minute, {}]),
      ...[5, 10].map((minute): Reading => [minute, { implementation: OTHER_OWNER }]),
    );
    expect(upgraded).toMatchObject([{ name: 'BridgeContractOwnerChanged', start: 5 }]);
  });

  it.each<[string, Partial<ContractReading>, string]>([
    ['BridgeContractPaused', { paused: true }, 'the contract is paused'],
    [
      'BridgeContractValsetMismatch',
      { isValsetUnknown: true },
      'the validator set in the contract is newer than every set of the hub',
    ],
    [
      'BridgePowerThresholdTooLow',
      { configuredThreshold: '0.6' },
      'the contract requires 66.0 % of the power, more than power_threshold',
    ],
    [
      'BridgeNodeBehind',
      { blockSeconds: START_SECONDS - 301 },
      'the node of the external chain is behind its chain; its newest block is 5 min old',
    ],
  ])('has the problem %s', (name, changes, text) => {
    expect(foundAfter([0, {}])).toEqual([]);
    expect(foundAfter([0, changes])).toMatchObject([{ name, text }]);
  });
});
