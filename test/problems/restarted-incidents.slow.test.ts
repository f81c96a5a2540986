import { describe, expect, it } from 'vitest';
import { ofRules, recordIncident, shortestIncidents, type Incident } from './incident.js';
import { bridgeIncidents } from './incidents.js';
import { INSTANCE } from './promtool.js';

/*
 * The pages of an exporter that restarts are those of one that does not, for problems that last for an hour or longer. The other tests of incidents
 * compare pages and alerts, and all alerts fire on over the two minutes of a restart (rules.test.ts).
 */

const SAMPLE_SECONDS = 120;
const SAMPLE_MINUTES = SAMPLE_SECONDS / 60;
const DOWN_MINUTES = 2;

const lasting = bridgeIncidents.filter(({ phases }) => (phases[1]?.minutes ?? 0) >= 60);

/** The exporter restarts ten minutes after the beginning of the incident. */
function withRestart({ phases, ...incident }: Incident): Incident {
  const [before, during, ...after] = phases;
  if (before === undefined || during === undefined) throw new Error('an incident has two phases');
  const { scenario: _scenario, ...rest } = during;
  return {
    ...incident,
    phases: [
      before,
      { ...during, minutes: 10 },
      { minutes: DOWN_MINUTES, exporterDown: true },
      { ...rest, minutes: during.minutes - 10 - DOWN_MINUTES },
      ...after,
    ],
  };
}

/** The first and the last minute in which the pages show a problem as firing, and the longest gap between them. */
function shownBy({ options, ...incident }: Incident) {
  const own = { sampleSeconds: SAMPLE_SECONDS, valsets: 3, ...options, hasStateFile: true } as const;
  const { shown } = recordIncident({ ...incident, options: own }, new Set());
  return new Map(
    Array.from(shown.get(INSTANCE) ?? [], ([key, minutes]) => {
      const sorted = [...minutes].toSorted((a, b) => a - b);
      const gaps = sorted.slice(1).map((minute, index) => minute - (sorted[index] ?? 0));
      return [key, { first: sorted[0] ?? NaN, last: sorted.at(-1) ?? NaN, gap: Math.max(SAMPLE_MINUTES, ...gaps) }];
    }),
  );
}

describe('an exporter with a state file', () => {
  it.each(shortestIncidents(lasting, ofRules))('restarts, and its pages go on when $title', (incident) => {
    const expected = shownBy(incident);
    const restarted = shownBy(withRestart(incident));
    // A state file has no answers: the new process does not know that the node has ever answered.
    if (expected.delete('BridgeWatchedValidatorUnknown/warning'))
      expect(restarted.delete('BridgeProblemUnjudged/warning')).toBe(true);
    expect([...restarted.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
    for (const [key, { first, last, gap }] of restarted) {
      const without = expected.get(key);
      expect(Math.abs(first - (without?.first ?? NaN)), `first minute of ${key}`).toBeLessThanOrEqual(SAMPLE_MINUTES);
      expect(Math.abs(last - (without?.last ?? NaN)), `last minute of ${key}`).toBeLessThanOrEqual(SAMPLE_MINUTES);
      expect(gap, `minutes without ${key}`).toBeLessThanOrEqual((without?.gap ?? NaN) + DOWN_MINUTES);
    }
  });
});
