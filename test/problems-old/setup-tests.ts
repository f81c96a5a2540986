import { expect, it } from 'vitest';
import { hasTool } from '../support/tools.js';
import type { AlertKey, Incident } from './incidents.js';
import { recordIncident, type RecordedIncident } from './incident-recording.js';
import { metricsInRules, runAlerts, type Firing, type Setup } from './promtool.js';
import { record, type Recording } from './recording.js';

/*
 * An incident for every alert in the common setups of Prometheus: the same alerts start and end at the same times as when one Prometheus
 * scrapes the exporter directly and evaluates the rules once.
 */
const hasPromtool = hasTool('promtool');

interface NamedSetup {
  readonly title: string;
  readonly setup: (recording: Recording) => Setup;
  /** The labels that the setup adds to alerts. */
  readonly labels: readonly string[];
}

const SERVICE_MONITOR_LABELS = {
  namespace: 'monitoring',
  service: 'bridge-exporter',
  pod: 'bridge-exporter-0',
  container: 'bridge-exporter',
  endpoint: 'http',
};

const healthyRecordings = new Map<string, Recording>();

/** A recording of a healthy bridge with as many samples. */
function healthy({ samples, sampleSeconds }: Recording): Recording {
  const key = `${samples} ${sampleSeconds}`;
  const options = { seed: 11, sampleSeconds, valsets: 3, keep: metricsInRules };
  const recording = healthyRecordings.get(key) ?? record([{ minutes: (samples * sampleSeconds) / 60 }], options);
  healthyRecordings.set(key, recording);
  return recording;
}

const setups: readonly NamedSetup[] = [
  {
    title: 'scraped through a ServiceMonitor',
    setup: () => ({ targetLabels: [SERVICE_MONITOR_LABELS] }),
    labels: Object.keys(SERVICE_MONITOR_LABELS),
  },
  {
    title: 'in a store with another, healthy cluster with equal job, instance and target',
    setup: (recording) => ({
      targetLabels: [{ cluster: 'eu' }, { cluster: 'us' }],
      recordings: { us: healthy(recording) },
    }),
    labels: ['cluster'],
  },
  {
    title: 'in a store with the series of two Prometheus replicas',
    setup: () => ({ targetLabels: [{ replica: 'a' }, { replica: 'b' }] }),
    labels: ['replica'],
  },
  {
    title: 'with rules that are evaluated in two places',
    setup: () => ({ targetLabels: [{}], secondEvaluation: { evaluator: 'second' } }),
    labels: ['evaluator'],
  },
];

/**
 * One line per alert, without the labels of the setup. What is true before the first sample begins an evaluation later where the series of
 * recording rules exist twice: so without the beginning in an incident from then on, and without the times of alerts that are only allowed.
 */
function describeFirings(
  firings: readonly Firing[],
  setupLabels: readonly string[],
  { allowedAlerts = [], beginsAtMinute }: Incident,
): string[] {
  const lines = firings.map(({ alert, severity, labels, from, until, count }) => {
    const own = Object.entries(labels).filter(([name]) => !setupLabels.includes(name));
    const text = own.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}=${value}`);
    const key = `${alert}/${severity}` as AlertKey;
    const beginning = beginsAtMinute > 0 ? ` from ${from}` : '';
    const times = allowedAlerts.includes(key) ? '' : `${beginning} until ${until}, ${count} times`;
    return `${key}${times}: ${text.join(' ')}`;
  });
  return Array.from(new Set(lines)).toSorted();
}

/** The incidents with an alert that none before them has. */
function firstWithEachAlert(incidents: readonly Incident[]): Incident[] {
  const known = new Set<string>();
  return incidents.filter(({ expectedAlerts }) => {
    const before = known.size;
    for (const key of Object.keys(expectedAlerts)) known.add(key);
    return known.size > before;
  });
}

const LONG_MINUTES = 120;
const COARSE_SAMPLE_SECONDS = 300;

/** Fewer samples of a long incident: the setups are compared with each other, and each sample takes time in all of them. */
function withCoarseSamples(incident: Incident): Incident {
  const minutes = incident.phases.map((phase) => phase.minutes);
  const isDivisible = minutes.every((own) => (own * 60) % COARSE_SAMPLE_SECONDS === 0);
  const isLong = minutes.reduce((sum, own) => sum + own, 0) > LONG_MINUTES;
  if (!isLong || !isDivisible || incident.options?.blockTimeMs !== undefined) return incident;
  return { ...incident, options: { ...incident.options, sampleSeconds: COARSE_SAMPLE_SECONDS } };
}

/** `keep` is the metrics that the incidents are about. */
export function testSetups(incidents: readonly Incident[], keep: ReadonlySet<string> = metricsInRules): void {
  type Run = Pick<RecordedIncident, 'recording' | 'others'> & { readonly expected: readonly string[] };
  const direct = new Map<string, Run>();

  function runDirectly(incident: Incident): Run {
    const known = direct.get(incident.title);
    if (known !== undefined) return known;
    const { recording, others } = recordIncident(withCoarseSamples(incident), keep);
    const run = {
      recording,
      others,
      expected: describeFirings(runAlerts(recording, others), [], incident),
    };
    direct.set(incident.title, run);
    return run;
  }

  const cases = firstWithEachAlert(incidents).flatMap((incident) =>
    setups.map((setup) => [setup.title, incident.title, incident, setup] as const),
  );
  it.skipIf(!hasPromtool).each(cases)('%s: %s', (_setup, _incident, incident, { setup, labels }) => {
    const { recording, others, expected } = runDirectly(incident);
    const firings = runAlerts(recording, others, setup(recording));
    expect(firings.filter((firing) => firing.labels['cluster'] === 'us')).toEqual([]);
    expect(describeFirings(firings, labels, incident)).toEqual(expected);
  });

  it.skipIf(!hasPromtool)('are compared for every alert', () => {
    const fired = new Set(
      Array.from(direct.values()).flatMap(({ expected }) => expected.map((line) => line.split('/')[0])),
    );
    const alerts = incidents.flatMap(({ expectedAlerts }) =>
      Object.keys(expectedAlerts).map((key) => key.split('/')[0]),
    );
    expect(alerts.filter((alert) => !fired.has(alert))).toEqual([]);
  });
}
