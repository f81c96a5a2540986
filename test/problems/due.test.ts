import { describe, expect, it } from 'vitest';
import { judgeAlerts, rememberAlerts, type AlertMemory, type DueProblem } from '../../src/problems/due.js';
import type { Severity } from '../../src/problems/problem.js';

/* When an alert fires, and what hides it. The cause of these tests hides the effect: a stalled oracle, a stuck backlog. */

const CAUSE = 'BridgeOracleStalled';
const EFFECT = 'BridgeBacklogStuck';
const MINUTE = 60;

interface There extends Partial<
  Pick<DueProblem, 'startAt' | 'limitSeconds' | 'isProven' | 'document' | 'missingSince'>
> {
  readonly alert: string;
  readonly severity?: Severity;
  readonly presentAt?: number;
}

/** A target whose problems are polled at minutes. Its memory is old, unless it is new. */
function target(isNew = false) {
  let memory: AlertMemory = { since: isNew ? 0 : -1000 * MINUTE, hidden: new Map(), fired: [] };
  const candidates = (there: readonly There[]): readonly DueProblem[] =>
    there.map(({ alert, severity = 'critical', presentAt = 0, startAt = 0, limitSeconds = 0, ...others }) => ({
      alert,
      severity,
      document: 'module_state',
      subject: {},
      id: `${alert} ${severity}`,
      startAt,
      limitSeconds,
      isProven: true,
      presentAt: presentAt * MINUTE,
      memory,
      ...others,
    }));
  /** What fires at a minute, by a scrape. */
  const scrape = (minute: number, ...there: readonly There[]): readonly string[] =>
    Array.from(judgeAlerts(candidates(there), minute * MINUTE)).flatMap(([{ id }, { firesAt, isHidden }]) =>
      isHidden || firesAt > minute * MINUTE ? [] : [id.replace(' critical', '')],
    );
  return {
    scrape,
    poll: (minute: number, ...there: readonly There[]): readonly string[] => {
      memory = rememberAlerts(memory, judgeAlerts(candidates(there), minute * MINUTE), minute * MINUTE, () => true);
      return scrape(minute, ...there);
    },
    memory: () => memory,
  };
}

const since = (minute: number, limit: number, presentAt = minute) => ({
  startAt: minute * MINUTE,
  limitSeconds: limit * MINUTE,
  presentAt,
});

describe('an alert', () => {
  it('fires at the limit, and not before the problem is present', () => {
    const { scrape } = target();
    const late = { alert: EFFECT, ...since(0, 10, 30) };
    expect([scrape(29, late), scrape(30, late)]).toEqual([[], [EFFECT]]);
    const missing = { ...late, missingSince: 29 * MINUTE };
    expect(scrape(31, missing), 'the last documents do not show it').toEqual([]);
    expect(scrape(31, { ...late, missingSince: 30 * MINUTE }), 'it has fired').toEqual([EFFECT]);
    const early = { alert: EFFECT, ...since(0, 30, 10) };
    expect([scrape(29, early), scrape(30, early)]).toEqual([[], [EFFECT]]);
  });

  it('is hidden by a cause that fires at the same time or earlier, also before both fire', () => {
    const { scrape } = target();
    const at = (causeLimit: number, minute: number) =>
      scrape(minute, { alert: CAUSE, ...since(0, causeLimit) }, { alert: EFFECT, ...since(0, 20) });
    expect(at(20, 20)).toEqual([CAUSE]);
    expect(at(10, 30)).toEqual([CAUSE]);
    expect(at(20, 19)).toEqual([]);
  });

  it('stays when its cause fires later, and the cause is there too', () => {
    const { poll } = target();
    const there = [
      { alert: CAUSE, ...since(0, 30) },
      { alert: EFFECT, ...since(0, 20) },
    ];
    expect([20, 29, 30, 60].map((minute) => poll(minute, ...there))).toEqual([
      [EFFECT],
      [EFFECT],
      [CAUSE, EFFECT],
      [CAUSE, EFFECT],
    ]);
    expect(poll(61, { alert: EFFECT, ...since(0, 20) }), 'the cause has ended before it').toEqual([EFFECT]);
  });

  it('stays when it has fired for a minute and a limit moves its cause before it', () => {
    const effect = { alert: EFFECT, ...since(0, 20) };
    const { poll } = target();
    const [late, early] = [120, 10].map((limit) => ({ alert: CAUSE, ...since(0, limit) }));
    if (late === undefined || early === undefined) throw new Error('two limits');
    expect([20, 21, 60].map((minute) => poll(minute, late, effect))).toEqual([[EFFECT], [EFFECT], [EFFECT]]);
    expect(poll(61, early, effect)).toEqual([CAUSE, EFFECT]);
    const other = target();
    expect([other.poll(20, late, effect), other.poll(20.5, early, effect)]).toEqual([[EFFECT], [CAUSE]]);
    // Only what still fires.
    expect(poll(62, early)).toEqual([CAUSE]);
    expect(poll(63, early, effect)).toEqual([CAUSE]);
  });

  it('stays when a cause that does not fire yet appears in a process without memory', () => {
    const { poll } = target(true);
    const effect = { alert: EFFECT, ...since(0, 2) };
    expect([2, 3].map((minute) => poll(minute, effect))).toEqual([[EFFECT], [EFFECT]]);
    expect(poll(10, { alert: CAUSE, ...since(10, 15), isProven: false }, effect)).toEqual([EFFECT]);
  });

  it('is hidden after the end of a cause that fires for long while what it hides is withdrawn', () => {
    const { poll, scrape } = target();
    const effect = { alert: EFFECT, ...since(0, 20) };
    const stale = { alert: 'BridgeSnapshotStale', ...since(10, 5) };
    poll(20, stale, effect);
    for (let minute = 21; minute <= 60; minute += 1) poll(minute, stale);
    expect([poll(61, effect), scrape(64, effect), scrape(65, effect)]).toEqual([[], [], [EFFECT]]);
  });

  it('is hidden for 15 minutes after the end of its cause, of polls for 5', () => {
    const { poll, scrape } = target();
    const effect = { alert: EFFECT, ...since(0, 20) };
    poll(30, { alert: CAUSE, ...since(0, 10) }, effect);
    expect([31, 44].flatMap((minute) => poll(minute, effect))).toEqual([]);
    expect(scrape(45, effect)).toEqual([EFFECT]);
    const stale = target();
    stale.poll(30, { alert: 'BridgeSnapshotStale', ...since(0, 10) }, effect);
    expect([stale.scrape(34, effect), stale.scrape(35, effect)]).toEqual([[], [EFFECT]]);
  });

  it('is not hidden by an ended cause that has not hidden it', () => {
    const { poll } = target();
    poll(30, { alert: CAUSE, ...since(0, 10) });
    expect(poll(31, { alert: EFFECT, ...since(0, 20) })).toEqual([EFFECT]);
  });

  it('stays hidden while its cause comes and goes every two minutes, however late that fires again', () => {
    const { poll } = target();
    const effect = { alert: EFFECT, ...since(0, 20) };
    const fired = Array.from({ length: 30 }, (_, index) => 30 + 2 * index).flatMap((minute) => {
      const isThere = minute % 4 === 2;
      return poll(minute, ...(isThere ? [{ alert: CAUSE, ...since(minute === 30 ? 0 : minute, 0) }] : []), effect);
    });
    expect(new Set(fired)).toEqual(new Set([CAUSE]));
  });

  it('replaces the warning of the same name, unless it is hidden itself', () => {
    const { scrape } = target();
    const warning = { alert: EFFECT, severity: 'warning', ...since(0, 10) } as const;
    const critical = { alert: EFFECT, ...since(0, 30) };
    const warned = `${EFFECT} warning`;
    expect([scrape(29, warning, critical), scrape(30, warning, critical)]).toEqual([[warned], [EFFECT]]);
    const cause = { alert: CAUSE, ...since(0, 20) };
    expect(scrape(30, warning, critical, cause)).toEqual([warned, CAUSE]);
  });

  it('of polls stays when no exporter has current data, and other problems of the polls are replaced', () => {
    const stale = { alert: 'BridgeSnapshotStale', ...since(0, 10) };
    const down = { alert: 'BridgeEndpointDown', severity: 'warning', ...since(0, 3) } as const;
    const near = { alert: 'BridgeResponseNearLimit', severity: 'warning', ...since(0, 5) } as const;
    expect(target().scrape(9, stale, down, near)).toEqual([`${down.alert} warning`, `${near.alert} warning`]);
    expect(target().scrape(10, stale, down, near)).toEqual([stale.alert, `${down.alert} warning`]);
    expect(target().scrape(10, { ...stale, document: 'rate_limiter_input' }, near)).toHaveLength(2);
  });
});

describe('the alerts of a process without memory', () => {
  it('have the order that the documents prove', () => {
    const { scrape } = target(true);
    const cause = { alert: CAUSE, ...since(-180, 20, 1) };
    expect(scrape(1, cause, { alert: EFFECT, ...since(-180, 50, 1) })).toEqual([CAUSE]);
    // It had fired before its cause.
    expect(scrape(1, cause, { alert: EFFECT, ...since(-180, 10, 1) })).toEqual([CAUSE, EFFECT]);
    // The cause had not fired.
    expect(scrape(1, { alert: CAUSE, ...since(-10, 20, 1) }, { alert: EFFECT, ...since(-180, 50, 1) })).toEqual([
      EFFECT,
    ]);
  });

  it('are hidden by a cause that may have fired before, and go on when it fires within 15 minutes', () => {
    const { poll } = target(true);
    const cause = (limit: number) => ({ alert: CAUSE, ...since(0, limit), isProven: false });
    const effect = { alert: EFFECT, ...since(-180, 50, 1) };
    expect([1, 9, 10, 16, 30].map((minute) => poll(minute, cause(10), effect))).toEqual([
      [],
      [],
      [CAUSE],
      [CAUSE],
      [CAUSE],
    ]);
    const other = target(true);
    expect([1, 14, 16].map((minute) => other.poll(minute, cause(60), effect))).toEqual([[], [], [EFFECT]]);
  });

  it('are not hidden by a cause that the process has seen begin after them', () => {
    const { poll } = target(true);
    const cause = { alert: CAUSE, ...since(8, 60), isProven: false };
    const effect = { alert: EFFECT, ...since(0, 2, 1), isProven: false };
    expect([7, 9, 14].map((minute) => poll(minute, effect, ...(minute > 7 ? [cause] : [])))).toEqual([
      [EFFECT],
      [EFFECT],
      [EFFECT],
    ]);
  });
});

it('the memory of alerts is bounded, and forgets what is not hidden any more', () => {
  const { poll, memory } = target();
  poll(30, { alert: CAUSE, ...since(0, 10) }, { alert: EFFECT, ...since(0, 20) });
  expect(Array.from(memory().hidden.keys())).toEqual([`${EFFECT} critical`]);
  poll(46, { alert: EFFECT, ...since(0, 20) });
  expect(memory().hidden.size).toBe(0);
  const many = Array.from({ length: 1100 }, (_, index) => ({ alert: EFFECT, ...since(0, 20), id: String(index) }));
  poll(30, { alert: CAUSE, ...since(0, 10) }, ...many);
  expect(memory().hidden.size).toBe(1000);
});
