import { describe, expect, it } from 'vitest';
import type { RecordedStates } from '../support/endpoint-states.js';
import type { Subject } from '../../src/problems/problem.js';
import type { JudgedTarget } from '../../src/engine/target-problems.js';
import { batch, idleState } from '../items/bridge-state.js';
import {
  at,
  between,
  BRIDGE,
  bridgeResult,
  CROSSCHAIN,
  crosschainResult,
  firesIn,
  initialSnapshots,
  pendingAt,
  statusAt,
  TARGET,
  judgeTarget,
  textOf,
  titleOf,
  problem,
} from './sample-snapshots.js';
import type { AgeKind } from '../../src/problems/sentence.js';

/** The first lines of the page: heading and next steps. */
const headOf = (html: string): string[] => textOf(html).split('\n').slice(0, 3);

const oracle = problem('BridgeOracleStalled', 'critical', 18, {
  target: 'a',
  summary: 'event 31 is not observed',
  details: '6 validators with 53 % of the power have not voted: Alpha, Beta',
  action: 'Contact the operators.',
});
const drift = problem('BridgeValsetDrift', 'warning', 130, { target: 'a' });
const params = problem('BridgeParamsChanged', 'info', 5, { target: 'a' });
const votes = (name: string) =>
  problem('BridgeOrchestratorMissingVotes', 'warning', 31, {
    target: 'a',
    id: name,
    summary: `validator ${name} does not vote`,
  });

const page = (...problems: readonly JudgedTarget[]): string => statusAt(initialSnapshots(), 0, { problems });

describe('the heading', () => {
  it('is about the worst target', () => {
    const html = page(
      judgeTarget([], [], 'fine'),
      judgeTarget([], ['never polled'], 'gray'),
      judgeTarget([{ ...drift, target: 'yellow' }], [], 'yellow'),
      judgeTarget([{ ...oracle, target: 'red' }], [], 'red'),
    );
    expect(headOf(html)[0]).toMatch(/^critical red: event 31 is not observed/);
  });

  it('is gray when a target cannot be judged, even if another has a notice', () => {
    const html = page(
      judgeTarget([{ ...params, target: 'info' }], [], 'info'),
      judgeTarget([], ['no poll of module_state has succeeded for 12 min'], 'gray'),
    );
    expect(headOf(html)[0]).toBe('gray cannot be judged: no poll of module_state has succeeded for 12 min');
    expect(titleOf(html)).toMatch(/^○ gray cannot be judged/);
    expect(html).toContain('<h1><span aria-live="polite"><span class="state unknown"></span>');
    expect(textOf(html)).toContain('Notes\nnote info: summary of BridgeParamsChanged');
  });

  it('is green only when nothing is wrong', () => {
    const html = page(judgeTarget([], [], 'a'), judgeTarget([], [], 'b'));
    expect(headOf(html)[0]).toBe('No problem on any of 2 targets');
    expect(titleOf(html)).toBe('● No problem on any of 2 targets · bridge-exporter');
    expect(html).toContain('<h1><span aria-live="polite"><span class="state ok"></span>');
    expect(textOf(html)).not.toContain('Other problems');
  });

  it('is green with notes only, which are listed below', () => {
    const html = page(judgeTarget([params], [], 'a'));
    expect(headOf(html)[0]).toBe('No problem on a');
    expect(titleOf(html)).toBe('● No problem on a · bridge-exporter');
    expect(between(textOf(html), 'Notes', 'Endpoints 0 of 2 up').split('\n').slice(0, 2)).toEqual([
      'Notes',
      'note a: summary of BridgeParamsChanged, for 5 min',
    ]);
    expect(textOf(html)).not.toContain('Other problems');
    const pending = pendingAt(initialSnapshots(), 0, { target: TARGET }, { problems: [judgeTarget([params])] });
    expect(textOf(pending)).toContain(`Notes\nnote ${TARGET}: summary of BridgeParamsChanged`);
  });

  it('has what follows from it below it, without an action and an age of its own, and not among the other problems', () => {
    const stuck = (token: string) =>
      problem('BridgeBacklogStuck', 'critical', 20, {
        hiddenBy: 'BridgeOracleStalled',
        id: token,
        summary: `no batch of ${token} is built`,
        details: 'who is above already',
      });
    const overdue = problem('BridgeBatchOverdue', 'critical', 10);
    const html = page(judgeTarget([oracle, overdue, stuck('usdt'), stuck('weth')], [], 'a'));
    const [, consequences = '', others = ''] = textOf(html).split(/2 follow from it\n|Other problems\n/);
    expect(consequences.trim()).toBe('critical no batch of usdt is built\ncritical no batch of weth is built');
    expect(others).toContain('critical a: summary of BridgeBatchOverdue');
    expect(textOf(html).match(/no batch of/g)).toHaveLength(2);
    expect(html).not.toContain('who is above already');
  });

  it('has the others of its kind below it, with an action that differs', () => {
    const action = 'Compare the nonce.';
    const html = page(judgeTarget([votes('Alpha'), votes('Beta'), { ...votes('Gamma'), action }], [], 'a'));
    expect(textOf(html)).toContain(
      '2 more of this kind\nwarning validator Beta does not vote, for 31 min\nwarning validator Gamma does not vote, for 31 min\nCompare the nonce.\n',
    );
  });

  it('is building up, and says when it fires, until a problem is older than its limit', () => {
    const html = page(
      judgeTarget(
        [
          { ...oracle, ...firesIn(12) },
          { ...drift, ...firesIn(60) },
        ],
        [],
        'a',
      ),
    );
    expect(headOf(html)).toEqual([
      'critical in 12 min a: event 31 is not observed, for 18 min',
      '6 validators with 53 % of the power have not voted: Alpha, Beta',
      'If it lasts until 12:12 UTC, act now: Contact the operators.',
    ]);
    expect(titleOf(html)).toBe('△ building up: a: event 31 is not observed, for 18 min · bridge-exporter');
    expect(textOf(html)).toContain('Other problems\nwarning in 60 min a: summary of BridgeValsetDrift');
  });

  it('says that a problem began over its limit, which is not when what it is about began', () => {
    const textWith = (ageKind: AgeKind) => textOf(page(judgeTarget([{ ...oracle, ageKind }], [], 'a')));
    expect(textWith('over')).toMatch(/is not observed, over the limit for 18 min\n[^]*over its limit since 11:42 UTC/);
  });

  it('has only the summary and the age: a name in quotes can contain any punctuation', () => {
    const named = { ...oracle, summary: '“a; b: c” has failed', details: 'see below' };
    expect(headOf(page(judgeTarget([named], [], 'a'))).slice(0, 2)).toEqual([
      'critical a: “a; b: c” has failed, for 18 min',
      'See below',
    ]);
  });
});

describe('the other problems', () => {
  it('are sorted by severity over all targets, and grouped by alert', () => {
    const html = page(
      judgeTarget([params], [], 'a'),
      judgeTarget([], ['never polled'], 'b'),
      judgeTarget([oracle, votes('Alpha'), votes('Beta'), votes('Gamma'), drift], ['stale'], 'c'),
    );
    const list = between(textOf(html), 'Other problems', 'Endpoints 0 of 2 up').split('\n');
    expect(list.filter((line) => /^(?:critical|warning|note|cannot be judged) \w: |^Notes/.test(line))).toEqual([
      'warning c: validator Alpha does not vote, for 31 min',
      'warning c: summary of BridgeValsetDrift, for 2 h 10 min',
      'cannot be judged b: never polled',
      'cannot be judged c: stale',
      'Notes',
      'note a: summary of BridgeParamsChanged, for 5 min',
    ]);
    expect(list).toContain('2 more of this kind');
    expect(list).toContain('warning validator Beta does not vote, for 31 min');
    expect(html).toContain('<details id="Alpha/more">');
  });

  it('are limited in number', () => {
    const many = Array.from({ length: 3 }, (_, index) => votes(`v${index}`));
    const targets = Array.from({ length: 40 }, (_, index) => judgeTarget([drift, ...many], [], `t${index}`));
    const text = textOf(page(...targets));
    expect(text.match(/more of this kind/g)?.length).toBeLessThanOrEqual(30);
    expect(text).toContain('and 49 more; the list of targets has all of them');
  });
});

describe('the list of targets', () => {
  const others = [
    judgeTarget([], [], 'fine'),
    judgeTarget([oracle, drift], [], 'red'),
    judgeTarget([], ['never polled'], 'gray'),
  ];

  it('is the pending page of several targets, with their worst problem first', () => {
    const html = pendingAt(initialSnapshots(), 0, {}, { problems: others });
    expect(textOf(html)).toContain(`critical red event 31 is not observed, for 18 min
cannot be judged gray never polled
no problem fine
`);
    expect(html).toContain('<a href="./pending?target=red">red</a>');
  });
});

describe('hostile text', () => {
  it('in a problem and in the name of a target neither hides nor rearranges the text beside it', () => {
    const name = '\u202Eevil\u202C אבג';
    const hostile = {
      ...oracle,
      target: name,
      summary: '1 waiting',
      details: `<b>\u202Ex\u202C</b>, אבג, 53 % ${'x'.repeat(10_000)}`,
    };
    const html = page(judgeTarget([hostile], [], name));
    expect(html).toContain('�evil� <bdi>אבג</bdi></a>: 1 waiting, for 18\u00A0min</span>');
    expect(html).toContain('<p>&lt;b&gt;�x�&lt;/b&gt;, <bdi>אבג</bdi>, 53\u00A0% xxx');
    expect(html).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200E\u200F]/);
    expect(html).toContain(`./pending?target=${encodeURIComponent(name)}`);
  });
});

describe('colors', () => {
  /** A batch that nobody has signed, created at a height; the hub is at 1000 and a block takes 2 s. */
  function batchFrom(height: string): RecordedStates {
    const snapshots = initialSnapshots();
    snapshots.record(BRIDGE, bridgeResult({ ...idleState, batches: [batch('1', '600', height)] }, '1000'), at(0));
    return snapshots;
  }
  const firing = { problems: [judgeTarget([problem('BridgeBatchUnsigned', 'critical', 34)])] };

  it('of a statistic follow the problems, in words too', () => {
    expect(statusAt(batchFrom('700'), 0)).toContain('#tokens">Waiting transfers <b>');
    expect(statusAt(batchFrom('700'), 0, firing)).toMatch(
      /#tokens">Waiting transfers <b>\d+<\/b><\/a> <span class="state critical">critical<\/span> <small>.*1 batch: 1 short of signatures/,
    );
  });

  it('of missed transactions differ from those of pending ones', () => {
    const store = initialSnapshots();
    const cctxs = [{ index: 'a', cctx_status: { created_timestamp: '1' } }];
    store.record(CROSSCHAIN, crosschainResult({ height: '1', cctxs_missed: cctxs, cctxs_pending: cctxs }), at(0));
    const criticalLinks = (alert: string, subject: Subject): string[] => {
      const own = problem(alert, 'critical', 34, { document: 'rate_limiter_input', subject });
      const html = statusAt(store, 0, { problems: [judgeTarget([own])] });
      return Array.from(
        html.matchAll(/>(\w+ cctxs) <b>\d+<\/b><\/a> <span class="state critical">/g),
        ([, label = '']) => label,
      );
    };
    expect(criticalLinks('CrosschainFreezeNear', { chain_id: '1' })).toEqual(['Missed cctxs']);
    const tooOld = 'CrosschainOldestPendingTooOld';
    expect(criticalLinks(tooOld, { chain_id: '1' })).toEqual(['Pending cctxs']);
  });

  it('of a row follow the problems, except for a batch that was just created', () => {
    const marked = '<b class="state critical" title="critical"><code class="id" title="1" dir="ltr">1</code></b>';
    expect(pendingAt(batchFrom('700'), 0, {}, firing)).toContain(marked);
    expect(pendingAt(batchFrom('700'), 0)).not.toContain(marked);
    expect(pendingAt(batchFrom('998'), 0, {}, firing)).not.toContain(marked);
  });
});
