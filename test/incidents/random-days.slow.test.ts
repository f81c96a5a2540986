import { describe, expect, it } from 'vitest';
import { problems as declarations } from '../../src/problems/problems.js';
import type { TargetProblem } from '../../src/engine/target-problems.js';
import { metricsInRules, runAlerts } from '../problems/promtool.js';
import { hasTool } from '../support/tools.js';
import { planDay, runDay, type DayResult } from './days.js';

/*
 * Days on which things break at random: six, or 300 with `npm run incidents`. INCIDENT_SEED is the first of them.
 */

const FIRST = Number(process.env['INCIDENT_SEED'] ?? 7_000_000);
const COUNT = Number(process.env['INCIDENT_DAYS'] ?? 6);
const all = Array.from({ length: COUNT }, (_, index) => FIRST + index);
/** Days whose alerts Prometheus computes as well. */
const withRules = [7_000_000, 7_000_002].filter((day) => all.includes(day) && hasTool('promtool'));
const RULE_SECONDS = 120;

/** The critical alerts that were missed or fired without a reason; those that are not critical are printed. */
function criticalFindings({ seed, faults, heard, falseAlerts }: DayResult): readonly string[] {
  const day = `day ${seed}: ${faults.join('; ') || 'no fault'}`;
  const missed = heard
    .filter(({ delayMinutes }) => delayMinutes === undefined)
    .map((own) => `missed ${own.alert} ${own.about}, true from ${own.fromMinute}, due at ${own.dueMinute}; ${day}`);
  const unfounded = falseAlerts.map(
    (own) => `false ${own.alert}/${own.severity} ${own.about}, ${own.fromMinute}-${own.untilMinute}; ${day}`,
  );
  const isCritical = (text: string): boolean => /^\w+ \w+\/critical /.test(text);
  const findings = [...missed, ...unfounded];
  for (const text of findings) if (!isCritical(text)) console.log(text);
  return findings.filter(isCritical);
}

describe('days on which things break at random', () => {
  it.each(all.filter((day) => !withRules.includes(day)))(
    'wake somebody for what is critical, and for nothing else, on day %i',
    (day) => {
      expect(criticalFindings(runDay(planDay(day)))).toEqual([]);
    },
  );

  it.each(withRules)('wake somebody, and have the same alerts by the rules of Prometheus on day %i', (day) => {
    const shown = new Map<string, number[]>();
    const result = runDay(planDay(day), {
      sampleSeconds: RULE_SECONDS,
      keep: metricsInRules,
      observe: (targets, minute) => {
        for (const problem of targets.flatMap(({ problems }) => problems)) {
          if (problem.state !== 'firing') continue;
          const key = keyOf(problem);
          shown.set(key, [...(shown.get(key) ?? []), minute]);
        }
      },
    });
    expect(criticalFindings(result)).toEqual([]);
    const firings = runAlerts(result.recording).filter((own) => judged.has(`${own.alert}/${own.severity}`));
    const byRules = new Map<string, number[]>();
    for (const { alert, severity, labels, from } of firings) {
      const key = `${alert}/${severity} ${subjectOf(labels)}`;
      byRules.set(key, [...(byRules.get(key) ?? []), from]);
    }
    // A critical problem includes its warning on the pages.
    const criticalOf = (key: string): string => key.replace('/warning', '/critical');
    const late = Array.from(byRules, ([key, from]): [string, number, number] => {
      const minutes = [...(shown.get(key) ?? []), ...(shown.get(criticalOf(key)) ?? [])];
      return [key, Math.min(...from), Math.min(...minutes)];
    }).filter(([, rule, page]) => Math.abs(rule - page) > RULE_SECONDS / 60);
    expect(late).toEqual([]);
    const ofProblems = [...shown.keys()].filter((key) => judged.has(key.split(' ')[0] ?? ''));
    expect(ofProblems.filter((key) => !byRules.has(key))).toEqual([]);
    expect(firings.length).toBeGreaterThan(0);
  });
});

const judged = new Set(declarations.map(({ name, severity }) => `${name}/${severity}`));

const LABELS = ['token_contract', 'chain_id', 'orchestrator', 'watched', 'address', 'kind', 'document'];

const subjectOf = (labels: Readonly<Record<string, string>>): string =>
  LABELS.map((name) => labels[name] ?? '').join(' ');

const keyOf = ({ alert, severity, subject, document }: TargetProblem): string =>
  `${alert}/${severity} ${subjectOf({ ...subject, document })}`;
