import { expect, it } from 'vitest';
import { groupBy } from '../../src/facts/grouping.js';
import { pollProblems } from '../../src/problems/polls.js';
import { problems } from '../../src/problems/problems.js';
import { hasTool } from '../support/tools.js';
import {
  recordIncident,
  shortestIncidents,
  type AlertKey,
  type Incident,
  type MinutesOfExporters,
} from './incident.js';
import { evaluateAlerts, NEWEST_PROMTOOL, type AlertAtMinute, type Firing, type Setup } from './promtool.js';

/*
 * The simulated chain goes through an incident, the code of the exporter reads its responses, and promtool runs prometheus/alerts.yml over the
 * exported series. The test files that call this function are separate because vitest runs files in parallel.
 */
const hasPromtool = hasTool('promtool');

const PROMTOOL = hasTool(NEWEST_PROMTOOL) ? NEWEST_PROMTOOL : 'promtool';

/**
 * The ways in which Prometheus is set up, all in one store: scraped directly, through a ServiceMonitor, in another cluster by two replicas, and
 * with rules that are evaluated in two places.
 */
const ALL_SETUPS: Setup = {
  targetLabels: [
    {},
    { namespace: 'monitoring', service: 'exporter', pod: 'exporter-0', container: 'exporter', endpoint: 'http' },
    { cluster: 'eu', replica: 'a' },
    { cluster: 'eu', replica: 'b' },
  ],
  secondEvaluation: { evaluator: 'second' },
  promtool: PROMTOOL,
};

/** Scraped directly. */
const ONE_SETUP: Setup = { targetLabels: [{}], promtool: PROMTOOL };

const SETUP_LABELS: ReadonlySet<string> = new Set([
  'namespace',
  'service',
  'pod',
  'container',
  'endpoint',
  'cluster',
  'replica',
  'evaluator',
]);

/** The alerts without the labels of the setups, in which they have to be the same. */
function inAllSetups(all: readonly Firing[]): readonly Firing[] {
  const firings = all.map((firing) => ({
    ...firing,
    labels: Object.fromEntries(Object.entries(firing.labels).filter(([name]) => !SETUP_LABELS.has(name))),
  }));
  const bySubject = groupBy(firings, ({ alert, severity, labels }) => JSON.stringify([alert, severity, labels]));
  for (const [subject, own] of bySubject) {
    expect(
      new Set(own.map(({ from, until, isWithoutGap }) => `${from} to ${until}, ${isWithoutGap}`)).size,
      subject,
    ).toBe(1);
  }
  return Array.from(bySubject.values(), (own) => own.slice(0, 1)).flat();
}

/**
 * Whether rules compare processes or configurations. All others read one series of a problem, so that the labels of the setups are the same whatever
 * makes it fire: one incident with each alert is enough.
 */
function isAboutExporters({ phases, otherExporters, options }: Incident): boolean {
  return (
    otherExporters !== undefined ||
    options?.shards !== undefined ||
    phases.some(
      ({ exporterDown, config, reloadFails, recorderFails }) => exporterDown ?? config ?? reloadFails ?? recorderFails,
    )
  );
}

const keyOf = ({ alert, severity }: Pick<Firing, 'alert' | 'severity'>): AlertKey => `${alert}/${severity}` as AlertKey;

export function testIncidents(incidents: readonly Incident[]): void {
  const withEachAlert = new Set(shortestIncidents(incidents).map(({ title }) => title));
  const cases = incidents.map((incident) => ({
    ...incident,
    outcome: Object.keys(incident.expectedAlerts).length === 0 ? 'do not fire' : 'fire as expected',
  }));
  it.skipIf(!hasPromtool).each(cases)('$outcome when $title', (incident) => {
    const { recording, others, unhidden } = recordIncident(incident);
    const sampleMinutes = recording.sampleSeconds / 60;
    const end = (recording.samples - 1) * sampleMinutes;
    const setup = withEachAlert.has(incident.title) || isAboutExporters(incident) ? ALL_SETUPS : ONE_SETUP;
    const expectedKeys = Object.keys(incident.expectedAlerts) as AlertKey[];
    const evaluated = evaluateAlerts(recording, [WATCHDOG, ...expectedAt(incident, end)], others, setup);
    const firings = inAllSetups(evaluated.firings).filter(({ alert }) => alert !== 'BridgeWatchdog');

    const allowedKeys = new Set(incident.allowedAlerts);
    const firedKeys = Array.from(new Set(firings.map(keyOf))).filter((key) => !allowedKeys.has(key));
    expect(firedKeys.toSorted()).toEqual(expectedKeys.toSorted());
    expect(firings.filter(({ from }) => from < incident.beginsAtMinute)).toEqual([]);
    for (const key of expectedKeys) {
      const first = Math.min(...firings.filter((firing) => keyOf(firing) === key).map(({ from }) => from));
      const maxMinutes = incident.expectedAlerts[key] ?? 0;
      // A problem begins with its second poll.
      const laterMinutes = 2 * (sampleMinutes - 1);
      expect(first - incident.beginsAtMinute, `minutes to ${key}`).toBeLessThanOrEqual(maxMinutes + laterMinutes);
    }
    expect(firings.filter(({ isWithoutGap }) => !isWithoutGap)).toEqual([]);
    const unresolved = firings.filter(({ until }) => until >= end);
    expect(incident.isOngoingAtEnd ? [] : unresolved).toEqual([]);
    expect(minutesWithoutCritical(firings, incident.noGapAfter ?? Infinity, end, sampleMinutes)).toEqual([]);
    expect(contradictions(unhidden, firings, sampleMinutes)).toEqual([]);
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

/** A pause in the data for so long ends no alert, nor does a problem that comes back. */
const KEEP_FIRING_MINUTES = 15;

/**
 * The differences between the alerts that fire and the lines of the pages whose time has come and that no cause hides: both begin and end in the same
 * samples, but for `keep_firing_for`.
 */
function contradictions(
  unhidden: MinutesOfExporters,
  firings: readonly Firing[],
  sampleMinutes: number,
): readonly string[] {
  const textOf = (instance: string, key: string, from: number): string => `${instance} ${key} from ${from}`;
  // Its rule looks at the polls of other exporters.
  const isCompared = (key: string): boolean => unhidden.size === 1 || !key.startsWith('BridgeSnapshotStale/');
  const judged = firings.filter((firing) => judgedKeys.has(keyOf(firing)) && isCompared(keyOf(firing)));
  const spans = Array.from(unhidden).flatMap(([instance, byKey]) =>
    Array.from(byKey)
      .filter(([key]) => isCompared(key))
      .flatMap(([key, minutes]) => spansOf(minutes, KEEP_FIRING_MINUTES).map((span) => ({ instance, key, ...span }))),
  );
  const isSame = (firing: Firing, span: (typeof spans)[number]): boolean =>
    firing.labels['instance'] === span.instance &&
    `${keyOf(firing)} ${firing.labels['id']}` === span.key &&
    Math.abs(firing.from - span.from) <= sampleMinutes &&
    span.until <= firing.until &&
    firing.until <= span.until + KEEP_FIRING_MINUTES + sampleMinutes;
  return [
    ...judged
      .filter((firing) => !spans.some((span) => isSame(firing, span)))
      .map((firing) => {
        const { labels, from, until } = firing;
        return `${textOf(labels['instance'] ?? '', `${keyOf(firing)} ${labels['id']}`, from)} to ${until} fires and is no line`;
      }),
    ...spans
      .filter((span) => !judged.some((firing) => isSame(firing, span)))
      .map(
        ({ instance, key, from, until }) => `${textOf(instance, key, from)} to ${until} is a line and does not fire`,
      ),
  ];
}

/** The minutes without the gaps that are shorter. */
function spansOf(
  minutes: ReadonlySet<number>,
  gap: number,
): readonly { readonly from: number; readonly until: number }[] {
  const spans: { from: number; until: number }[] = [];
  for (const minute of Array.from(minutes).toSorted((a, b) => a - b)) {
    const last = spans.at(-1);
    if (last !== undefined && minute - last.until <= gap) last.until = minute;
    else spans.push({ from: minute, until: minute });
  }
  return spans;
}

const judgedKeys = new Set([...pollProblems, ...problems].map(({ name, severity }) => `${name}/${severity}`));

function minutesWithoutCritical(firings: readonly Firing[], first: number, last: number, step: number): number[] {
  const critical = firings.filter(({ severity }) => severity === 'critical');
  const minutes = Array.from(
    { length: Math.max(0, Math.floor((last - first) / step) + 1) },
    (_, index) => first + index * step,
  );
  return minutes.filter((minute) => !critical.some(({ from, until }) => from <= minute && minute <= until));
}
