import { beforeAll, expect, it } from 'vitest';
import { endOf, ofRules, shortestIncidents, type Incident } from './incident.js';
import { incidents } from './incidents.js';
import { createHealthyModel, INITIAL_CONFIG, recordSamples, type Phase, type RecordingOptions } from './recording.js';
import type { DocumentName } from '../../src/document-types.js';
import { severities, type Severity } from '../../src/problems/problem.js';
import type { Model } from '../../src/simulator/model.js';
import { formatSentence } from '../../src/engine/verdicts.js';

/* When each problem fires for the first time. The slow tests compare that with the alerts. */

/** Often enough for the flow to have no gaps. */
const SAMPLE_SECONDS = 240;
/** It has taken more than a minute on a busy machine. */
const HOOK_TIMEOUT_MS = 180_000;

/** The documents that the alerts are about. */
function documentsOf({ expectedAlerts, phases }: Incident): DocumentName[] {
  const names = Object.keys(expectedAlerts);
  const isOfCrosschain =
    names.some((name) => name.startsWith('Crosschain')) || phases.some((phase) => phase.crosschain !== undefined);
  return [
    ...(names.some((name) => name.startsWith('Bridge')) ? (['module_state'] as const) : []),
    ...(isOfCrosschain ? (['rate_limiter_input'] as const) : []),
  ];
}

function phasesUntil(phases: readonly Phase[], end: number): Phase[] {
  let left = end;
  return phases.flatMap((phase) => {
    const minutes = Math.min(phase.minutes, left);
    left -= minutes;
    return minutes > 0 ? [{ ...phase, minutes }] : [];
  });
}

interface Said {
  readonly severity: Severity;
  readonly text: string;
}

interface FirstAlerts {
  /** The minute of the incident in which an alert fires for the first time, by alert and severity. */
  readonly minutes: Map<string, number>;
  /** What the pages say when a problem fires for the first time, with the highest severity that fires; later, if it fires at once. */
  readonly sentences: Map<string, Said>;
}

const isTooEarly = (said: Said | undefined): boolean => said?.text.includes(' for 0 s') === true;

function addSentence(sentences: Map<string, Said>, alert: string, said: Said): void {
  const known = sentences.get(alert);
  const isHigher = known === undefined || severities.indexOf(said.severity) < severities.indexOf(known.severity);
  if (isHigher || (isTooEarly(known) && known.severity === said.severity)) sentences.set(alert, said);
}

/** Ends when all expected and allowed alerts have fired. Pauses after every sample. */
function* findFirstAlerts(incident: Incident, options: RecordingOptions = {}): Generator<void, FirstAlerts> {
  const { minutes, sentences }: FirstAlerts = { minutes: new Map(), sentences: new Map() };
  const config = { ...INITIAL_CONFIG, documents: documentsOf(incident) };
  const samples = recordSamples([{ minutes: 0, config }, ...phasesUntil(incident.phases, endOf(incident))], {
    valsets: 3,
    ...incident.options,
    ...options,
    sampleSeconds: SAMPLE_SECONDS,
    observe: (targets, minute) => {
      for (const verdict of targets.flatMap(({ verdicts }) => verdicts)) {
        const { alert, severity, state } = verdict;
        const key = `${alert}/${severity}`;
        const known = sentences.get(alert);
        if (state !== 'firing' || (minutes.has(key) && !(known?.severity === severity && isTooEarly(known)))) continue;
        if (!minutes.has(key)) minutes.set(key, minute - incident.beginsAtMinute);
        addSentence(sentences, alert, { severity, text: formatSentence(verdict) });
      }
    },
  });
  const { expectedAlerts, allowedAlerts = [] } = incident;
  const expected = [...Object.keys(expectedAlerts), ...allowedAlerts].filter((key) => !ofRules.includes(key));
  const isComplete = (): boolean =>
    expected.every((key) => minutes.has(key)) && !Array.from(sentences.values()).some(isTooEarly);
  while (samples.next().done !== true && !isComplete()) yield;
  return { minutes, sentences };
}

const cases = shortestIncidents(incidents, ofRules);

/** Whether the chain is the same as in all other such incidents: only its responses are changed. */
function hasHealthyChain({
  phases,
  options: { seed, scenario, blockTimeMs, model, afterDays } = {},
}: Incident): boolean {
  return (
    [seed, scenario, blockTimeMs, model, afterDays].every((option) => option === undefined) &&
    phases.every(
      ({ begin, frozen, sampleSeconds, scenario: own }) => (begin ?? frozen ?? sampleSeconds ?? own) === undefined,
    )
  );
}

/** A chain that recordings share: it continues when its owner advances it. */
function sharedModel(model: Model): Model {
  return new Proxy(model, {
    get: (own, name) => {
      const value: unknown = Reflect.get(own, name, own);
      if (name === 'advanceTime') return () => undefined;
      return typeof value === 'function' ? (value.bind(own) as unknown) : value;
    },
  });
}

const found = new Map<Incident, FirstAlerts>();

/** One chain for all incidents in which it is healthy: they go through them sample by sample. */
beforeAll(() => {
  const model = createHealthyModel();
  const shared = sharedModel(model);
  let running = cases
    .filter((incident) => hasHealthyChain(incident))
    .map((incident) => ({ incident, alerts: findFirstAlerts(incident, { model: shared }) }));
  while (running.length > 0) {
    running = running.filter(({ incident, alerts }) => {
      const { done, value } = alerts.next();
      if (done === true) found.set(incident, value);
      return done !== true;
    });
    model.advanceTime(SAMPLE_SECONDS * 1000);
  }
}, HOOK_TIMEOUT_MS);

const sentences = new Map<string, Said>();

it.each(cases.map((incident) => [incident.title, incident] as const))(
  'alerts fire for the first time in the expected minutes when %s',
  (_, incident) => {
    const own = found.get(incident) ?? lastOf(findFirstAlerts(incident));
    for (const [alert, said] of own.sentences) addSentence(sentences, alert, said);
    expect(Object.fromEntries(own.minutes)).toMatchSnapshot();
  },
);

function lastOf(alerts: Generator<void, FirstAlerts>): FirstAlerts {
  for (;;) {
    const { done, value } = alerts.next();
    if (done === true) return value;
  }
}

it('a problem that fires is said in the sentence of the golden file', async () => {
  const texts = Array.from(sentences, ([alert, { severity, text }]) => `${alert}\n    ${severity}: ${text}\n`);
  await expect(texts.toSorted().join('\n')).toMatchFileSnapshot('golden/sentences.txt');
});
