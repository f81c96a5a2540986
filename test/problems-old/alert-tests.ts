import { expect, it } from 'vitest';
import { hasTool } from '../support/tools.js';
import { recordIncident } from './incident-recording.js';
import type { AlertKey, Incident } from './incidents.js';
import {
  evaluateAlerts,
  metricsInRules,
  NEWEST_PROMTOOL,
  runAlerts,
  type AlertAtMinute,
  type Firing,
  type Setup,
} from './promtool.js';
import { record } from './recording.js';
import { contradictions, observeVerdicts } from './verdict-comparison.js';

/*
 * The simulated chain goes through an incident, the code of the exporter reads its responses, and promtool runs
 * prometheus/alerts.yml over the exported series. The verdicts of the exporter on the same polls have to agree. The test files that call these functions are separate because vitest
 * runs files in parallel.
 */
const hasPromtool = hasTool('promtool');

/** The incidents run with Prometheus 3 when it is there. The setups compare them with Prometheus 2. */
const SETUP: Setup = { targetLabels: [{}], promtool: hasTool(NEWEST_PROMTOOL) ? NEWEST_PROMTOOL : 'promtool' };

const keyOf = ({ alert, severity }: Firing): AlertKey => `${alert}/${severity}` as AlertKey;

export function testIncidents(incidents: readonly Incident[]): void {
  const cases = incidents.map((incident) => ({
    ...incident,
    outcome: Object.keys(incident.expectedAlerts).length === 0 ? 'do not fire' : 'fire as expected',
  }));
  it.skipIf(!hasPromtool).each(cases)('$outcome when $title', (incident) => {
    const { recording, others, verdicts } = recordIncident(incident);
    const end = ((recording.samples - 1) * recording.sampleSeconds) / 60;
    const expectedKeys = Object.keys(incident.expectedAlerts) as AlertKey[];
    const evaluated = evaluateAlerts(recording, [WATCHDOG, ...expectedAt(incident, end)], others, SETUP);
    const firings = evaluated.firings.filter(({ alert }) => alert !== 'BridgeWatchdog');
    if (process.env['ALERTS_SHOW']) console.log(describeFirings(incident, firings));

    const allowedKeys = new Set(incident.allowedAlerts);
    const firedKeys = Array.from(new Set(firings.map(keyOf))).filter((key) => !allowedKeys.has(key));
    expect(firedKeys.toSorted()).toEqual(expectedKeys.toSorted());
    expect(firings.filter(({ from }) => from < incident.beginsAtMinute)).toEqual([]);
    for (const key of expectedKeys) {
      const first = Math.min(...firings.filter((firing) => keyOf(firing) === key).map(({ from }) => from));
      const maxMinutes = incident.expectedAlerts[key] ?? 0;
      expect(first - incident.beginsAtMinute, `minutes to ${key}`).toBeLessThanOrEqual(maxMinutes);
    }
    expect(firings.filter(({ count }) => count !== 1)).toEqual([]);
    const unresolved = firings.filter(({ until }) => until >= end);
    expect(incident.isOngoingAtEnd ? [] : unresolved).toEqual([]);
    expect(minutesWithoutCritical(firings, incident.noGapAfter ?? Infinity, end)).toEqual([]);
    for (const [instance, own] of Object.entries(verdicts)) {
      const ownFirings = firings.filter(({ labels }) => labels['instance'] === instance);
      expect(
        contradictions(own, ownFirings, Object.keys(others).length === 0),
        `verdicts and alerts of ${instance}`,
      ).toEqual([]);
    }
    expect(evaluated.texts).toContain('runbook_url=');
    expect(evaluated.texts).not.toMatch(/<no value>|error expanding|NaN|%!/);
  });
}

const WATCHDOG: AlertAtMinute = { alert: 'BridgeWatchdog', minute: 0 };

/** The expected alerts when they fire at the latest. */
function expectedAt({ expectedAlerts, beginsAtMinute }: Incident, end: number): AlertAtMinute[] {
  return Object.entries(expectedAlerts).map(([key, minutes]) => ({
    alert: key.replace(/\/.*/, ''),
    minute: Math.min(beginsAtMinute + minutes, end),
  }));
}

/** Tests that verdicts and alerts agree, whatever fires. */
export function testAgreement(incidents: readonly Pick<Incident, 'title' | 'phases'>[]): void {
  it.skipIf(!hasPromtool).each(incidents)('agree with the verdicts when $title', ({ phases }) => {
    const verdicts = observeVerdicts();
    const recording = record(phases, { keep: metricsInRules, observe: verdicts.observe });
    const firings = runAlerts(recording, {}, SETUP);
    expect(firings.length).toBeGreaterThan(1);
    expect(contradictions(verdicts, firings)).toEqual([]);
  });
}

function minutesWithoutCritical(firings: readonly Firing[], first: number, last: number): number[] {
  const critical = firings.filter(({ severity }) => severity === 'critical');
  const minutes = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  return minutes.filter((minute) => !critical.some(({ from, until }) => from <= minute && minute <= until));
}

/** One line per firing, printed when the environment variable ALERTS_SHOW is set. */
function describeFirings({ title, beginsAtMinute }: Incident, firings: readonly Firing[]): string {
  const rows = firings.map((firing) => {
    const { labels, from, until, count } = firing;
    const subject = [
      labels['document'],
      labels['orchestrator']?.slice(-4),
      labels['chain_id'],
      labels['list'],
      labels['family'],
      labels['field'],
    ];
    return `  ${keyOf(firing)} +${from - beginsAtMinute} until ${until} x${count} ${subject.filter(Boolean).join(' ')}`;
  });
  return `${title} (${beginsAtMinute})\n${rows.toSorted().join('\n')}`;
}

/** Enough for a healthy day: no alert uses a range of less than 10 minutes. */
const DAY_SAMPLE_SECONDS = 300;

/** On a healthy day, nothing that the first poll finds lasts longer. */
const OBSERVING_MINUTES = 60;

/**
 * Tests seven days with different seeds, in which only the watchdog fires. One chain of seven days would accumulate the
 * signatures of a week and take minutes to simulate.
 */
export function testDaysWithoutAlerts(scenario: 'healthy' | 'quiet'): void {
  it.skipIf(!hasPromtool).each([1, 2, 3, 4, 5, 6, 7])('do not fire on day %i', (seed) => {
    const { byKey, observe } = observeVerdicts();
    const options = { scenario, seed, sampleSeconds: DAY_SAMPLE_SECONDS, valsets: 3, keep: metricsInRules, observe };
    const recording = record([{ minutes: 24 * 60 }], options);
    expect(recording.samples).toBe((24 * 3600) / DAY_SAMPLE_SECONDS);
    const last = ((recording.samples - 1) * DAY_SAMPLE_SECONDS) / 60;
    expect(runAlerts(recording)).toEqual([
      { alert: 'BridgeWatchdog', severity: 'none', labels: {}, from: 0, until: last, count: 1 },
    ]);
    expect(Array.from(byKey).filter(([, { firing }]) => firing.size > 0)).toEqual([]);
    const observed = Array.from(byKey.values()).flatMap(({ observing }) => Array.from(observing));
    expect(observed.filter((minute) => minute > OBSERVING_MINUTES)).toEqual([]);
  });
}
