import { expect, it } from 'vitest';
import { problemLines } from '../../src/problems/problem-families.js';
import type { PresentProblem, UnjudgedProblem } from '../../src/problems/memory.js';
import { problems } from '../../src/problems/problems.js';
import { withDetails } from '../../src/problems/sentence.js';

it('exports as many problems as a family has series, the worst ones, and counts the others', () => {
  const present = problems.slice(0, 3).map((problem, index): PresentProblem => ({
    problem,
    subject: {},
    startSeconds: 1_790_000_000.1234 + index,
    isProven: true,
    limitSeconds: 600,
    sentence: withDetails('something is wrong'),
    action: 'Repair it.',
    validators: [],
  }));
  const { name, severity } = problems[0] ?? {};
  const series = `bridge_problem_start_timestamp_seconds{target="t",document="module_state",problem="${name}",severity="${severity}"} 1790000000.1234\n`;
  expect(problemLines({ present, unjudged: [] }, 'module_state', 'target="t"', 1)).toEqual([
    { name: 'bridge_problem_start_timestamp_seconds', text: series, dropped: 2, isInstant: true },
  ]);
});

it('exports since when a problem is unjudged once, although both of its severities are', () => {
  const unjudged = problems
    .filter(({ name }) => name === 'BridgeBatchNotRelayed')
    .map((problem, index): UnjudgedProblem => ({ problem, severity: 'warning', sinceSeconds: 1000 + index }));
  expect(unjudged).toHaveLength(2);
  const series = 'bridge_problem_unjudged_start_timestamp_seconds{target="t",document="module_state"';
  expect(problemLines({ present: [], unjudged }, 'module_state', 'target="t"', 9)).toMatchObject([
    { text: `${series},problem="BridgeBatchNotRelayed",severity="warning"} 1000\n` },
  ]);
});
