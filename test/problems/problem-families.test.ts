import { expect, it } from 'vitest';
import { problemId, problemLines, unjudgedLines } from '../../src/problems/problem-families.js';
import type { UnjudgedProblem } from '../../src/problems/subjects.js';
import { problems } from '../../src/problems/problems.js';

const alert = {
  document: 'module_state',
  alert: 'BridgeBacklogStuck',
  severity: 'critical',
  subject: { token_contract: '0xa' },
} as const;

const labels =
  'target="t",document="module_state",problem="BridgeBacklogStuck",severity="critical",id="f00",token_contract="0xa"';

it('exports the start of a problem, when its alert is due unless a cause hides it, and its texts', () => {
  const times = { startSeconds: 1_790_000_000.1234, firesAtSeconds: 1_790_001_000, isHidden: false };
  const problem = { ...alert, ...times, id: 'f00', hiddenBy: 'BridgeOracleStalled' };
  const linesOf = (isHidden: boolean) =>
    problemLines([{ ...problem, isHidden, summary: 'a "b"', action: 'Repair it.' }], 'target="t"');
  const lines = linesOf(false);
  expect(linesOf(true)[1]?.text).toBe('');
  expect(lines.map(({ text }) => text)).toEqual([
    `bridge_problem_start_timestamp_seconds{${labels}} 1790000000.123\n`,
    `bridge_problem_due_timestamp_seconds{${labels}} 1790001000\n`,
    `bridge_problem_info{${labels},summary="a \\"b\\"",action="Repair it.",hidden_by="BridgeOracleStalled"} 1\n`,
  ]);
});

it('identifies a problem by its target, document, name, severity and subject', () => {
  const ids = [
    problemId('t', alert),
    problemId('u', alert),
    problemId('t', { ...alert, document: 'external_contract' }),
    problemId('t', { ...alert, alert: 'BridgeBacklogHigh' }),
    problemId('t', { ...alert, severity: 'warning' }),
    problemId('t', { ...alert, subject: { token_contract: '0xb' } }),
  ];
  expect(new Set(ids).size).toBe(6);
  expect(ids.every((id) => /^[0-9a-f]{12}$/.test(id))).toBe(true);
  expect(problemId('t', { ...alert, subject: { token_contract: '0xa' } })).toBe(ids[0]);
});

it('exports since when a problem is unjudged once, although both of its severities are', () => {
  const unjudged = problems
    .filter(({ name }) => name === 'BridgeBatchNotRelayed')
    .map((problem, index): UnjudgedProblem => ({ problem, severity: 'warning', since: 1000 + index }));
  expect(unjudged).toHaveLength(2);
  const series = 'bridge_problem_unjudged_start_timestamp_seconds{target="t",document="module_state"';
  expect(unjudgedLines(unjudged, 'module_state', 'target="t"', { at: 0, clockOffset: 0 })).toMatchObject({
    text: `${series},problem="BridgeBatchNotRelayed",severity="warning"} 1000\n`,
  });
});
