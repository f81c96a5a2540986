import { expect, it } from 'vitest';
import { endOf, ofRules, shortestIncidents, type Incident } from './incident.js';
import { incidents } from './incidents.js';
import { INITIAL_CONFIG, record, type Phase } from './recording.js';
import type { DocumentName } from '../../src/document-types.js';
import { severities, type Severity } from '../../src/problems/problem.js';
import { formatSentence } from '../../src/engine/target-problems.js';

/* When each problem fires for the first time. The slow tests compare that with the alerts. */

/** Often enough for the flow to have no gaps. */
const SAMPLE_SECONDS = 240;

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

const isTooEarly = (said: Said | undefined): boolean => said?.text.includes(' for 0 s') === true;

function addSentence(sentences: Map<string, Said>, alert: string, said: Said): void {
  const known = sentences.get(alert);
  const isHigher = known === undefined || severities.indexOf(said.severity) < severities.indexOf(known.severity);
  if (isHigher || (isTooEarly(known) && known.severity === said.severity)) sentences.set(alert, said);
}

/**
 * The minute of the incident in which each alert fires for the first time, by alert and severity; and what the pages say
 * then, with the highest severity that fires, or later, if it fires at once. Ends when all expected and allowed alerts
 * have fired.
 */
function findFirstAlerts(incident: Incident) {
  const minutes = new Map<string, number>();
  const sentences = new Map<string, Said>();
  const config = { ...INITIAL_CONFIG, documents: documentsOf(incident) };
  const { expectedAlerts, allowedAlerts = [] } = incident;
  const expected = [...Object.keys(expectedAlerts), ...allowedAlerts].filter((key) => !ofRules.includes(key));
  record([{ minutes: 0, config }, ...phasesUntil(incident.phases, endOf(incident))], {
    valsets: 3,
    ...incident.options,
    sampleSeconds: SAMPLE_SECONDS,
    isComplete: () => expected.every((key) => minutes.has(key)) && !Array.from(sentences.values()).some(isTooEarly),
    observe: (targets, minute) => {
      for (const problem of targets.flatMap(({ problems }) => problems)) {
        const { alert, severity, state } = problem;
        const key = `${alert}/${severity}`;
        const known = sentences.get(alert);
        if (state !== 'firing' || (minutes.has(key) && !(known?.severity === severity && isTooEarly(known)))) continue;
        if (!minutes.has(key)) minutes.set(key, minute - incident.beginsAtMinute);
        addSentence(sentences, alert, { severity, text: formatSentence(problem) });
      }
    },
  });
  return { minutes, sentences };
}

const cases = shortestIncidents(incidents, ofRules);

const allSentences = new Map<string, Said>();

it.each(cases.map((incident) => [incident.title, incident] as const))(
  'alerts fire for the first time in the expected minutes when %s',
  (_, incident) => {
    const { minutes, sentences } = findFirstAlerts(incident);
    for (const [alert, said] of sentences) addSentence(allSentences, alert, said);
    expect(Object.fromEntries(minutes)).toMatchSnapshot();
  },
);

it('a problem that fires is said in the sentence of the golden file', async () => {
  const texts = Array.from(allSentences, ([alert, { severity, text }]) => `${alert}\n    ${severity}: ${text}\n`);
  await expect(texts.toSorted().join('\n')).toMatchFileSnapshot('golden/sentences.txt');
});
