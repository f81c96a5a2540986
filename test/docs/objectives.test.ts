import { describe, expect, it } from 'vitest';
import { readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';
import { blocksOf } from './pages.js';

/* The rules of docs/objectives.md, in Prometheus. */

const folder = createTempFolder();
const [rules = ''] = blocksOf('yaml').flatMap(({ file, code }) => (file === 'docs/objectives.md' ? code : []));

/** Checks the alert after 80 hours, by the hourly counts of all withdrawals and of those within the objective. */
function testRules(all: string, inTime: string, summary?: string): object {
  const expected =
    summary === undefined
      ? ''
      : `\n          - exp_labels: {target: a, severity: warning}\n            exp_annotations: {summary: "${summary}"}`;
  const tests = `rule_files: [${folder.write('rules.yml', rules)}]
evaluation_interval: 1h
tests:
  - interval: 1h
    input_series:
      - { series: 'bridge_transfer_duration_seconds_count{target="a"}', values: '${all}' }
      - { series: 'bridge_transfer_duration_seconds_bucket{target="a", le="14400.0"}', values: '${inTime}' }
    alert_rule_test:
      - alertname: WithdrawalsLate
        eval_time: 80h
        exp_alerts: ${expected === '' ? '[]' : expected}
`;
  return runTool('promtool', ['test', 'rules', folder.write('tests.yml', tests)]);
}

describe('the objective in the documentation', () => {
  it('is a bucket of the histogram', () => {
    const exposition = readProjectFile('test/exposition/golden/exposition.prom');
    expect(rules).toContain('bridge_transfer_duration_seconds_bucket{le="14400.0"}');
    expect(exposition).toContain('bridge_transfer_duration_seconds_bucket{target="demo",le="14400.0"}');
  });

  it.skipIf(!hasTool('promtool'))('is missed while more than a tenth of the withdrawals are late', () => {
    const passed = { status: 0 };
    const summary = 'a: 20% of the withdrawals of 3 days took longer than 4 hours.';
    expect(testRules('0+10x100', '0+8x100', summary)).toMatchObject(passed);
    expect(testRules('0+10x100', '0+8x100')).not.toMatchObject(passed);
    expect(testRules('0+20x100', '0+19x100')).toMatchObject(passed);
    // Nothing was late in the last six hours, nothing was executed, and a single withdrawal was late.
    expect(testRules('0+10x100', '0+8x70 570+10x29')).toMatchObject(passed);
    expect(testRules('0x100', '0x100')).toMatchObject(passed);
    expect(testRules('0x78 1x20', '0x100')).toMatchObject(passed);
  });
});
