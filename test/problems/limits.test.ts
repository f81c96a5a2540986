import { describe, expect, it } from 'vitest';
import type { ProblemSettings } from '../../src/problems/problem.js';
import { MINUTE_MS } from '../../src/units.js';
import { hasTool } from '../support/tools.js';
import { metricsInRules, runAlerts } from './promtool.js';
import { INITIAL_CONFIG, record, type Phase } from './recording.js';

/* `problems` of the configuration is the only place of a limit: page and alert follow it alike, also after a reload. */

const after = (minutes: number) => ({ after: minutes * MINUTE_MS });
const withProblems = (problems: ProblemSettings) => ({ ...INITIAL_CONFIG, problems });

/** The first minutes in which an alert fires by the rules of Prometheus, by its severity and document. */
function firstMinutes(alert: string, phases: readonly Phase[]) {
  const byPages = new Map<string, number>();
  const recording = record(phases, {
    valsets: 3,
    keep: metricsInRules,
    observe: (targets, minute) => {
      for (const problem of targets.flatMap(({ problems }) => problems)) {
        const key = `${problem.severity} ${problem.document}`;
        if (problem.alert !== alert || problem.state !== 'firing' || byPages.has(key)) continue;
        byPages.set(key, minute);
      }
    },
  });
  const own = runAlerts(recording).filter((firing) => firing.alert === alert);
  const byRules = own.map(({ severity, labels, from }): [string, number] => [
    `${severity} ${labels['document']}`,
    from,
  ]);
  expect(new Map(byRules), 'the pages show it in the same minute').toEqual(byPages);
  return Object.fromEntries(byRules);
}

const BRIDGE = 'warning module_state';
const CROSSCHAIN = 'warning rate_limiter_input';

describe.skipIf(!hasTool('promtool'))('a changed limit moves page and alert alike', () => {
  const FAILING: Phase = { minutes: 14, bridge: { fails: 'connect' }, crosschain: { fails: 'connect' } };

  it.each<[title: string, settings: ProblemSettings[string], firstMinutes: Readonly<Record<string, number>>]>([
    ['without settings', {}, { [BRIDGE]: 3, [CROSSCHAIN]: 3 }],
    ['of a name', after(9), { [BRIDGE]: 9, [CROSSCHAIN]: 9 }],
    ['of a severity', { warning: after(7) }, { [BRIDGE]: 7, [CROSSCHAIN]: 7 }],
    ['of a document', { module_state: after(8) }, { [BRIDGE]: 8, [CROSSCHAIN]: 3 }],
    ['of 0', after(0), { [BRIDGE]: 0, [CROSSCHAIN]: 0 }],
    ['of what is disabled', { enabled: false }, {}],
    ['of a disabled severity', { warning: { enabled: false } }, {}],
    ['of a disabled document', { rate_limiter_input: { enabled: false } }, { [BRIDGE]: 3 }],
  ])('%s', (_title, setting, expected) => {
    const config = withProblems({ BridgeEndpointDown: setting });
    expect(firstMinutes('BridgeEndpointDown', [{ ...FAILING, config }])).toEqual(expected);
  });

  it('by a reload, at once', () => {
    const phases = [after(20), { module_state: after(5), rate_limiter_input: after(9) }].map((setting) => ({
      ...FAILING,
      minutes: 8,
      config: withProblems({ BridgeEndpointDown: setting }),
    }));
    expect(firstMinutes('BridgeEndpointDown', phases)).toEqual({ [BRIDGE]: 8, [CROSSCHAIN]: 9 });
  });

  it('of a stale document, also below the age of current data', () => {
    const config = withProblems({ BridgeSnapshotStale: after(4) });
    const critical = Object.values(firstMinutes('BridgeSnapshotStale', [{ minutes: 3 }, { ...FAILING, config }]));
    expect(critical.map((minute) => minute < 9)).toEqual([true, true]);
  });

  it('of a problem of a document', () => {
    const firstMinute = (problems: ProblemSettings) =>
      firstMinutes('BridgeBatchUnsigned', [
        { minutes: 10, config: { ...withProblems(problems), documents: ['module_state'] } },
        { minutes: 40, scenario: 'unsigned-batch' },
      ])['critical module_state'];
    const shipped = firstMinute({}) ?? NaN;
    expect(firstMinute({ BridgeBatchUnsigned: after(20) })).toBe(shipped - 10);
  });
});
