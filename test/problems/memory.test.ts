import { describe, expect, it } from 'vitest';
import { WITHDRAWN } from '../../src/facts/required-fields.js';
import { judgeProblems, NO_PROBLEMS, type Judgement, type ProblemMemory } from '../../src/problems/problem-memory.js';
import {
  defineProblem,
  OTHERS_NOT_SHOWN,
  OTHERS_UNJUDGED,
  type Found,
  type Evidence,
  type Problem,
  type ProblemSettings,
} from '../../src/problems/problem.js';
import { runToEnd } from '../../src/tasks.js';
import { latestMark } from '../../src/problems/marks.js';

/* Since when a problem is there. The problem of these tests finds what it is told. */

const START_SECONDS = 1_790_000_000;
const at = (seconds: number, clockOffset = 0) => ({ at: START_SECONDS + seconds, clockOffset });
const summary = 'something is wrong';

type Finding = Omit<Found, 'summary'> & Partial<Pick<Found, 'summary'>>;
type Outcome = readonly Finding[] | 'truncated' | 'without a' | 'hidden part' | 'withdrawn';

function withdraw(): never {
  throw WITHDRAWN;
}

/** A problem that is judged at seconds of a simulated clock. */
function judge(declaration: Partial<Problem> = {}, settings: ProblemSettings = {}, maxSeries = 200) {
  let memory: ProblemMemory = NO_PROBLEMS;
  return {
    poll: (
      seconds: number,
      outcome: Outcome,
      isSinglePoll = false,
      staleAfterMs = 300_000,
      clockOffset = 0,
    ): Judgement => {
      const problem = defineProblem('module_state', {
        name: 'BridgeTest',
        severity: 'critical',
        afterMinutes: 30,
        description: '',
        action: 'Repair it.',
        ...(declaration as object),
        find: () => {
          if (outcome === 'withdrawn') withdraw();
          if (outcome === 'truncated') return OTHERS_NOT_SHOWN;
          if (outcome === 'without a') return { notShown: { kind: 'a' } };
          if (outcome === 'hidden part') return [{ summary }, OTHERS_UNJUDGED];
          return outcome.map((one) => ({ summary, ...one }));
        },
      });
      const options = { problemSettings: settings, isSinglePoll, staleAfterMs, maxSeries };
      const judged = runToEnd(
        judgeProblems(
          memory,
          'module_state',
          { input: {}, lacking: [] as readonly string[] } as Evidence,
          at(seconds, clockOffset),
          options,
          [problem],
        ),
      );
      ({ memory } = judged);
      return judged;
    },
    marks: () => Array.from(memory.remembered.values(), latestMark),
  };
}

/** When the problems that are there began, in seconds of the clock. */
const starts = ({ present }: Judgement): number[] => present.map(({ startAt }) => startAt - START_SECONDS);

/** A judgement at a second, and when the problems began that are there after it. */
type Step = readonly [seconds: number, outcome: Outcome, starts: readonly number[]];

const FOUND = [{}];
const [A, B, C] = [[{ progressKey: 'a' }], [{ progressKey: 'b' }], [{ progressKey: 'c' }]];

/** The starts after each judgement, with this age at which data is stale. */
function startsAfter(steps: readonly Step[], staleAfterMs = 300_000): readonly Step[] {
  const { poll } = judge();
  return steps.map(([seconds, outcome]) => [seconds, outcome, starts(poll(seconds, outcome, false, staleAfterMs))]);
}

describe('a problem', () => {
  it.each<[string, ...Step[]]>([
    [
      'begins when judgements 20 seconds apart agree, at the time of the first one',
      [0, FOUND, []],
      [19, FOUND, []],
      [20, FOUND, [0]],
      [500, FOUND, [0]],
    ],
    ['does not begin with one odd answer', [0, FOUND, []], [30, [], []], [60, FOUND, []]],
    ['does not begin with answers before and after an outage', [0, FOUND, []], [601, FOUND, []], [630, FOUND, [601]]],
    [
      'begins with two answers between which a list did not show it, or could not be read',
      [0, FOUND, []],
      [30, 'truncated', []],
      [60, 'withdrawn', []],
      [90, FOUND, [0]],
    ],
    ['ends when no judgement of two minutes has found it', [0, A, []], [30, A, [0]], [149, [], [0]], [150, [], []]],
    [
      'neither ends nor begins anew with one odd answer when polls are minutes apart',
      [0, A, []],
      [300, A, [0]],
      [600, [], [0]],
      [900, A, [0]],
      [1200, B, [0]],
      [1500, A, [0]],
      [1800, [], [0]],
      [2100, [], []],
    ],
    [
      'ends with the first answer after an outage that does not find it',
      [0, A, []],
      [30, A, [0]],
      [630, [], [0]],
      [631, [], []],
    ],
    ['begins anew with another one after an outage', [0, A, []], [30, A, [0]], [631, B, []], [660, B, [631]]],
    ['goes on after an outage', [0, A, []], [30, A, [0]], [5000, A, [0]]],
    [
      'begins anew after an outage if the answer before the outage did not find it',
      [0, A, []],
      [30, A, [0]],
      [60, [], [0]],
      [661, A, []],
      [691, A, [661]],
    ],
    ['begins anew when progress has changed its identity', [0, A, []], [30, A, [0]], [60, B, [0]], [90, B, [60]]],
    ['ends while its identity changes with every poll', [0, A, []], [30, A, [0]], [90, B, [0]], [150, C, []]],
    [
      'does not end with a list that does not show it, or that cannot be read',
      [0, A, []],
      [30, A, [0]],
      [300, 'truncated', [0]],
      [600, 'withdrawn', [0]],
      [900, A, [0]],
    ],
  ])('%s', (_, ...steps) => {
    expect(startsAfter(steps)).toEqual(steps);
  });

  it('begins with polls that are further apart than an outage of other endpoints, if stale_after allows that', () => {
    const steps: readonly Step[] = [
      [0, FOUND, []],
      [1000, FOUND, [0]],
      [2000, [], [0]],
      [3000, FOUND, [0]],
    ];
    expect(startsAfter(steps, 1_000_000)).toEqual(steps);
  });

  it('is present since judgements agreed on it, whatever start the documents prove', () => {
    const { poll } = judge();
    poll(0, [{ start: START_SECONDS - 7200 }]);
    const presentSince = (seconds: number) =>
      poll(seconds, FOUND).present.map(({ presentAt = 0 }) => presentAt - START_SECONDS);
    expect([presentSince(30), presentSince(900)]).toEqual([[30], [30]]);
  });

  it('begins at once when one poll is all there is', () => {
    expect(starts(judge().poll(0, FOUND, true))).toEqual([0]);
  });

  it('neither begins nor ends nor begins anew while two nodes answer in turn', () => {
    const [healthy, wrong] = [judge(), judge()];
    wrong.poll(0, [{ progressKey: 'a' }]);
    wrong.poll(30, [{ progressKey: 'a' }]);
    for (let seconds = 60; seconds < 3600; seconds += 60) {
      expect(starts(healthy.poll(seconds, [{ progressKey: 'a' }]))).toEqual([]);
      expect(starts(healthy.poll(seconds + 30, []))).toEqual([]);
      expect(starts(wrong.poll(seconds, [{ progressKey: 'b' }]))).toEqual([0]);
      expect(starts(wrong.poll(seconds + 30, [{ progressKey: 'a' }]))).toEqual([0]);
    }
  });

  it('has the earlier start that a later document proves', () => {
    const { poll } = judge();
    for (const seconds of [0, 30]) poll(seconds, [{}]);
    const [proven] = poll(60, [{ start: START_SECONDS - 600 }]).present;
    expect(proven).toMatchObject({ startAt: START_SECONDS - 600, isProven: true });
    expect(starts(poll(90, [{ start: START_SECONDS - 900 }]))).toEqual([-600]);
  });

  it('has the start that the document proves with which it becomes present', () => {
    const { poll } = judge();
    poll(100, [{ start: START_SECONDS - 3600 }]);
    poll(130, [{ start: START_SECONDS - 3580 }]);
    const judgement = poll(160, [{ start: START_SECONDS - 3000 }]);
    expect(starts(judgement)).toEqual([-3580]);
    expect(judgement.present[0]?.isProven).toBe(true);
  });

  it('never begins after the poll', () => {
    const { poll } = judge();
    poll(0, [{ start: START_SECONDS + 900 }]);
    expect(starts(poll(30, [{ start: START_SECONDS + 900 }]))).toEqual([0]);
  });

  it('keeps a start that no document proves when the wall clock is set', () => {
    const { poll } = judge();
    for (const seconds of [0, 30]) poll(seconds, FOUND);
    expect(starts(poll(60, FOUND, false, 300_000, 4 * 3600))).toEqual([0]);
  });

  it('has the start that a time of the chain proves as soon as it is found after the wall clock is set right', () => {
    const { poll } = judge();
    const found = [{ chainStart: START_SECONDS - 60 }];
    // The wall clock is an hour ahead.
    for (const seconds of [0, 30]) poll(seconds, found, false, 300_000, 3600);
    expect(starts(poll(60, [], false, 300_000, 3600))).toEqual([-3660]);
    expect(starts(poll(120, [{ chainStart: START_SECONDS - 30 }], false, 300_000, 0))).toEqual([-60]);
  });

  it('keeps a start that heights and earlier polls prove when the wall clock is set, although a later document would prove a later one', () => {
    const { poll } = judge();
    for (const seconds of [0, 30]) poll(seconds, [{ start: START_SECONDS - 60 }], false, 300_000, 3600);
    expect(starts(poll(60, [{ start: START_SECONDS + 30 }]))).toEqual([-60]);
  });

  it('has a start that is not proven while its document proves one in the future, until the clock is set', () => {
    const { poll } = judge();
    const inFuture = [{ chainStart: START_SECONDS + 3600 }];
    for (const seconds of [0, 30]) poll(seconds, inFuture);
    expect(poll(60, inFuture).present[0]).toMatchObject({ startAt: START_SECONDS, isProven: false });
    expect(poll(90, inFuture, false, 300_000, 4200).present[0]).toMatchObject({
      startAt: START_SECONDS - 600,
      isProven: true,
    });
  });

  it('in a hidden part does not fire after an outage, unless it has before', () => {
    for (const lasted of [600, 2000]) {
      const { poll } = judge();
      for (let seconds = 0; seconds <= lasted; seconds += 200) poll(seconds, FOUND);
      const { present } = poll(lasted + 4 * 3600, 'truncated');
      expect(present.length, String(lasted)).toBe(lasted < 1800 ? 0 : 1);
    }
    // The list is truncated from before the limit on: the alert has fired at 30 minutes.
    const { poll } = judge();
    for (let seconds = 0; seconds <= 3600; seconds += 200) poll(seconds, seconds < 600 ? FOUND : 'truncated');
    expect(poll(4 * 3600, 'truncated').present).toHaveLength(1);
  });

  it('begins anew after an outage, if the document proves a start during it', () => {
    const { poll } = judge();
    for (const seconds of [0, 30]) poll(seconds, [{ start: START_SECONDS - 60 }]);
    poll(700, [{ start: START_SECONDS + 600 }]);
    expect(starts(poll(730, [{ start: START_SECONDS + 600 }]))).toEqual([600]);
  });

  it('has one start for each subject, of which at most 200 are remembered, the oldest, and the others counted', () => {
    const { poll } = judge();
    const found = Array.from({ length: 300 }, (_, index) => ({
      subject: { token_contract: `0x${index}` },
      start: START_SECONDS - index,
    }));
    poll(0, found.slice(0, 2));
    const { present } = poll(30, found.slice(0, 2));
    expect(present.map(({ subject }) => subject)).toEqual([{ token_contract: '0x0' }, { token_contract: '0x1' }]);
    poll(60, found);
    const judged = poll(90, found);
    expect(judged.present).toHaveLength(200);
    expect(judged.dropped).toBe(100);
  });

  it('is one of as many as a family has series, and the others are counted', () => {
    const found = ['a', 'b', 'c'].map((kind) => ({ subject: { kind } }));
    const { present, dropped } = judge({}, {}, 2).poll(0, found, true);
    expect([present.length, dropped]).toEqual([2, 1]);
  });

  it('is not judged when it is disabled', () => {
    expect(judge({}, { BridgeTest: { enabled: false } }).poll(0, [{}], true).present).toEqual([]);
    expect(judge({}, { BridgeTest: { critical: { enabled: false } } }).poll(0, [{}], true).present).toEqual([]);
    expect(judge({}, { BridgeTest: { warning: { enabled: false } } }).poll(0, [{}], true).present).toHaveLength(1);
  });

  it('remembers its mark, which stays while a field that it reads is missing', () => {
    let isReadable = true;
    const next = (_evidence: Evidence, before = 0) => (isReadable ? before + 1 : withdraw());
    const { poll, marks } = judge({ mark: { next } as NonNullable<Problem['mark']> });
    poll(0, []);
    isReadable = false;
    poll(30, []);
    expect(marks()).toEqual([1]);
  });

  /** The mark after documents with these values. */
  function markAfter<Value>(next: (value: Value, before: never) => unknown, values: readonly Value[]): unknown {
    let current = values[0] as Value;
    const mark = { isDebounced: true, next: (_evidence: Evidence, before: never) => next(current, before) };
    const { poll, marks } = judge({ mark: mark as unknown as NonNullable<Problem['mark']> });
    for (const [index, value] of values.entries()) {
      current = value;
      poll(30 * index, []);
    }
    return marks()[0];
  }

  it('remembers a mark without one odd document', () => {
    const next = (value: string, before = '') => (before.endsWith(value) ? before : before + value);
    expect(markAfter(next, ['a', 'a', 'b', 'a'])).toBe('a');
    expect(markAfter(next, ['a', 'a', 'b', 'a', 'b', 'a'])).toBe('a');
  });

  it('begins its mark anew when the second document contradicts the first', () => {
    const next = (value: number, before = 0) => Math.max(value, before);
    const cases = [[90], [90, 5], [90, 5, 6], [5, 90, 6], [5, 90, 91, 6]];
    expect(cases.map((values) => markAfter(next, values))).toEqual([90, 5, 6, 6, 90]);
  });
});

describe('a problem that cannot be judged', () => {
  it('is unjudged since then, with its severity if it was there, until the next judgement', () => {
    const { poll } = judge();
    poll(0, [{}]);
    poll(30, [{}]);
    poll(60, 'withdrawn');
    expect(poll(90, 'withdrawn').unjudged).toMatchObject([{ severity: 'critical', since: START_SECONDS + 60 }]);
    expect(poll(120, [{}]).unjudged).toEqual([]);
  });

  it('goes on after ten minutes until it was judged for twenty, as a warning', () => {
    const { poll } = judge();
    poll(0, FOUND);
    for (let seconds = 30; seconds <= 630; seconds += 30) poll(seconds, 'withdrawn');
    const warning = { severity: 'warning', since: START_SECONDS + 30 };
    expect(poll(660, FOUND).unjudged).toMatchObject([warning]);
    expect(poll(690, 'withdrawn').unjudged, 'it has not fired yet').toMatchObject([warning]);
    expect(poll(1860, FOUND).unjudged).toMatchObject([warning]);
    expect(poll(1890, FOUND).unjudged).toEqual([]);
  });

  it('has parts that cannot be, whose findings stay, while others are found', () => {
    const { poll } = judge();
    for (const seconds of [0, 30]) poll(seconds, [{ subject: { kind: 'a' } }]);
    for (const seconds of [60, 90]) poll(seconds, 'hidden part');
    const { present, unjudged } = poll(300, 'hidden part');
    expect(present.map(({ subject }) => subject.kind)).toEqual([undefined, 'a']);
    expect(unjudged).toMatchObject([{ severity: 'critical', since: START_SECONDS + 60 }]);
  });

  it('stays of a subject that the document does not show, while that of another one ends', () => {
    const { poll } = judge();
    for (const seconds of [0, 30]) poll(seconds, [{ subject: { kind: 'a' } }, { subject: { kind: 'b' } }]);
    for (const seconds of [60, 90, 180]) poll(seconds, 'without a');
    const { present, unjudged } = poll(210, 'without a');
    expect(present.map(({ subject }) => subject.kind)).toEqual(['a']);
    expect(unjudged).toEqual([]);
  });

  it('is a warning if it was not there', () => {
    const { poll } = judge();
    poll(0, []);
    expect(poll(30, 'withdrawn').unjudged).toMatchObject([{ severity: 'warning' }]);
  });

  it('is no problem where it was never judged', () => {
    const judgement = judge().poll(0, 'withdrawn');
    expect(judgement.unjudged).toEqual([]);
    expect(judgement.notJudgedHere).toEqual(['BridgeTest']);
  });
});

describe('the texts of a problem', () => {
  it('are those of the last document that has it', () => {
    const { poll } = judge();
    const textsAt = (seconds: number, text: string) => {
      const [shown] = poll(seconds, [
        { summary: `${text} is wrong`, action: `repair ${text}`, details: [text] },
      ]).present;
      return shown && [shown.summary, shown.action, shown.details];
    };
    textsAt(0, 'a');
    expect(textsAt(30, 'b')).toEqual(['b is wrong', 'repair b', 'b']);
    expect(poll(60, []).present).toMatchObject([{ summary: 'b is wrong', details: 'b' }]);
  });
});

describe('a problem of validators', () => {
  const together = {
    minimumPower: 0.3,
    summary: 'they do not sign',
    action: 'Tell them.',
  };
  const validator = (name: string, power: number, startSeconds: number, watched = false): Finding => ({
    subject: { orchestrator: name, watched: String(watched) },
    start: START_SECONDS + startSeconds,
    validator: { name, address: name, externalAddress: name, isWatched: watched, hasNamesake: false, power },
  });

  it('is one of all that are not watched, since so much of the power is part of it', () => {
    const { poll } = judge({ together });
    const found = [
      validator('c', 0.2, -10),
      validator('a', 0.2, -30),
      validator('b', 0.1, -20),
      validator('mine', 0.1, -5, true),
    ];
    poll(0, found);
    const { present } = poll(30, found);
    expect(
      present.map((shown) => [shown.subject, shown.startAt - START_SECONDS, shown.summary, shown.details]),
    ).toEqual([
      [{ orchestrator: 'mine', watched: 'true' }, -5, summary, ''],
      [{ watched: 'false' }, -20, 'they do not sign', '3 validators with 50 % of the power: a, c, b'],
    ]);
  });

  it('is present since there was enough power, also when others come later', () => {
    const { poll } = judge({ together });
    const presentSince = (seconds: number, found: readonly Finding[]) =>
      poll(seconds, found).present.map(({ presentAt = 0 }) => presentAt - START_SECONDS);
    const [a, b, earlier] = [validator('a', 0.2, -10), validator('b', 0.2, -10), validator('c', 0.3, -30)];
    presentSince(0, [a, b]);
    expect(presentSince(30, [a, b])).toEqual([30]);
    presentSince(60, [a, b, earlier]);
    expect(presentSince(90, [a, b, earlier])).toEqual([30]);
  });

  it('is none below that power', () => {
    expect(judge({ together }).poll(0, [validator('a', 0.3, -30)], true).present).toHaveLength(1);
    const found = [validator('a', 0.2, -30), validator('b', 0.09, -20)];
    expect(judge({ together }).poll(0, found, true).present).toEqual([]);
    const late = validator('a', 0.2, -30);
    const twice = [late, { ...late, subject: { ...late.subject, kind: 'valset' } }];
    expect(judge({ together }).poll(0, twice, true).present, 'late with two things').toEqual([]);
  });
});
