import { describe } from 'vitest';
import { testIncidents } from './incident-tests.js';
import type { Incident } from './incident.js';
import { bridgeIncidents } from './incidents.js';

/** The shortest incidents with all alerts, of those whose problem lasts for an hour or longer. */
function shortestWithEachAlert(): Incident[] {
  const known = new Set<string>();
  return bridgeIncidents
    .filter(({ expectedAlerts, phases }) => Object.keys(expectedAlerts).length > 0 && (phases[1]?.minutes ?? 0) >= 60)
    .toSorted((a, b) => (a.phases[1]?.minutes ?? 0) - (b.phases[1]?.minutes ?? 0))
    .filter(({ expectedAlerts }) => {
      const before = known.size;
      for (const key of Object.keys(expectedAlerts)) known.add(key);
      return known.size > before;
    });
}

/** The exporter restarts ten minutes after the beginning of the incident. */
function withRestart({ phases, ...incident }: Incident): Incident {
  const [before, during, ...after] = phases;
  if (before === undefined || during === undefined) throw new Error('an incident has two phases');
  const { scenario: _scenario, ...rest } = during;
  return {
    ...incident,
    title: `${incident.title}, and the exporter restarts in the middle of it`,
    phases: [
      before,
      { ...during, minutes: 10 },
      { minutes: 2, exporterDown: true },
      { ...rest, minutes: during.minutes - 12 },
      ...after,
    ],
    options: { ...incident.options, hasStateFile: true },
    ...(incident.expectedAlerts['BridgeWatchedValidatorUnknown/warning'] !== undefined && {
      // A state file has no answers, so that the new process cannot say whether the validator is jailed.
      expectedAlerts: { ...incident.expectedAlerts, 'BridgeProblemUnjudged/warning': 24 },
    }),
  };
}

describe('the alerts of an exporter with a state file', () => {
  testIncidents(shortestWithEachAlert().map(withRestart));
});
