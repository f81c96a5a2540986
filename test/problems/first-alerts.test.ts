import { expect, it } from 'vitest';
import { endOf, shortestIncidents, type Incident } from './incident.js';
import { incidents } from './incidents.js';
import { INITIAL_CONFIG, record, type Phase } from './recording.js';
import type { DocumentName } from '../../src/document-types.js';
import { exporterRules } from '../../src/problems/rules.js';
import { severities, type Severity } from '../../src/problems/problem.js';
import { formatSentence } from '../../src/engine/verdicts.js';

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

/** What the pages say when a problem fires for the first time, with the highest severity that fires; later, if it fires at once. */
const sentences = new Map<string, { readonly severity: Severity; readonly text: string }>();

const ofRules = exporterRules.map(({ name, severity }) => `${name}/${severity}`);
const cases = shortestIncidents(incidents, ofRules).map((incident) => [incident.title, incident] as const);

it.each(cases)('alerts fire for the first time in the expected minutes when %s', (_, incident) => {
  const end = endOf(incident);
  const first = new Map<string, number>();
  const config = { ...INITIAL_CONFIG, documents: documentsOf(incident) };
  record([{ minutes: 0, config }, ...phasesUntil(incident.phases, end)], {
    valsets: 3,
    ...incident.options,
    sampleSeconds: SAMPLE_SECONDS,
    observe: (targets, minute) => {
      for (const verdict of targets.flatMap(({ verdicts }) => verdicts)) {
        const { alert, severity, state } = verdict;
        const key = `${alert}/${severity}`;
        const known = sentences.get(alert);
        const isTooEarly = known?.severity === severity && known.text.includes(' for 0 s');
        if (state !== 'firing' || (first.has(key) && !isTooEarly)) continue;
        if (!first.has(key)) first.set(key, minute - incident.beginsAtMinute);
        if (known === undefined || isTooEarly || severities.indexOf(severity) < severities.indexOf(known.severity)) {
          sentences.set(alert, { severity, text: formatSentence(verdict) });
        }
      }
    },
  });
  expect(Object.fromEntries(first)).toMatchSnapshot();
});

it('a problem that fires is said in the sentence of the golden file', async () => {
  const texts = Array.from(sentences, ([alert, { severity, text }]) => `${alert}\n    ${severity}: ${text}\n`);
  await expect(texts.toSorted().join('\n')).toMatchFileSnapshot('golden/sentences.txt');
});
