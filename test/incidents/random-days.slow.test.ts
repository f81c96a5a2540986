import { describe, expect, it } from 'vitest';
import { problems } from '../../src/problems/problems.js';
import type { Verdict } from '../../src/engine/verdicts.js';
import { metricsInRules, runAlerts } from '../problems/promtool.js';
import { hasTool } from '../support/tools.js';
import { planDay, runDay } from './days.js';
import { summarize } from './report.js';

/* A sample of the days of `npm run incidents`. */

const SEED = 7_000_000;
const DAYS = [1, 3, 4, 5];
/** Days whose alerts Prometheus computes as well. */
const DAYS_WITH_RULES = [0, 2];
const RULE_SECONDS = 120;

const NOTHING_WRONG = { criticalMisses: 0, criticalFalseAlerts: 0, wrongGauges: 0 };

describe('days on which things break at random', () => {
  it.each(DAYS)('wake somebody for what is critical, and for nothing else, on day %i', (day) => {
    const summary = summarize([runDay(planDay(SEED + day))]);
    expect(summary, summary.findings.join('\n')).toMatchObject(NOTHING_WRONG);
  });

  it.skipIf(!hasTool('promtool')).each(DAYS_WITH_RULES)(
    'wake somebody, and have the same alerts by the rules of Prometheus on day %i',
    (day) => {
      const shown = new Map<string, number[]>();
      const result = runDay(planDay(SEED + day), {
        sampleSeconds: RULE_SECONDS,
        keep: metricsInRules,
        observe: (targets, minute) => {
          for (const verdict of targets.flatMap(({ verdicts }) => verdicts)) {
            if (verdict.state !== 'firing') continue;
            const key = keyOf(verdict);
            shown.set(key, [...(shown.get(key) ?? []), minute]);
          }
        },
      });
      const summary = summarize([result]);
      expect(summary, summary.findings.join('\n')).toMatchObject(NOTHING_WRONG);
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
    },
  );
});

const judged = new Set(problems.map(({ name, severity }) => `${name}/${severity}`));

const LABELS = ['token_contract', 'chain_id', 'orchestrator', 'watched', 'address', 'kind', 'document'];

const subjectOf = (labels: Readonly<Record<string, string>>): string =>
  LABELS.map((name) => labels[name] ?? '').join(' ');

const keyOf = ({ alert, severity, subject, document }: Verdict): string =>
  `${alert}/${severity} ${subjectOf({ ...subject, document })}`;
