import { expect, it } from 'vitest';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';
import { ruleGroups, type Rule } from '../support/alert-rules.js';
import { NEWEST_PROMTOOL } from './promtool.js';

/* The objective is a bound of a histogram, of which Prometheus 2 stores the label as it is exported, and Prometheus 3 with an exponent. */

const folder = createTempFolder();

const isAboutObjective = ({ record = '', alert }: Rule): boolean =>
  record.includes('objective') || alert === 'BridgeObjectiveMissed';
const rules = ruleGroups.flatMap((group) => group.rules.filter(isAboutObjective));
const RULES = folder.write('rules.yml', JSON.stringify({ groups: [{ name: 'objective', rules }] }));

const TARGET = 'target="main",job="bridge",instance="a"';

/** Every tenth of the withdrawals takes longer than the objective, of which 1 % may. */
function testOf(seconds: number, le: string): object {
  const series = {
    [`bridge_objective_seconds{${TARGET}}`]: `${seconds}x100`,
    [`bridge_objective_ratio{${TARGET}}`]: '0.99x100',
    [`bridge_transfer_duration_seconds_count{${TARGET}}`]: '0+60x100',
    [`bridge_transfer_duration_seconds_bucket{le="${le}",${TARGET}}`]: '0+54x100',
    [`bridge_transfer_duration_seconds_bucket{le="60.0",${TARGET}}`]: '0x100',
    [`bridge_transfer_duration_seconds_bucket{le="+Inf",${TARGET}}`]: '0+60x100',
  };
  const firing = `count(ALERTS{alertname="BridgeObjectiveMissed",alertstate="firing"})`;
  return {
    rule_files: [RULES],
    evaluation_interval: '1h',
    tests: [
      {
        interval: '1h',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [{ expr: firing, eval_time: '4d', exp_samples: [{ labels: '{}', value: 1 }] }],
      },
    ],
  };
}

it.skipIf(!hasTool('promtool')).each([
  ['an hour', 3600, '3600.0'],
  ['14 days, as exported', 1_209_600, '1209600.0'],
  ['14 days, in Prometheus 3', 1_209_600, '1.2096e+06'],
  ['a round number of seconds, in Prometheus 3', 2_000_000, '2e+06'],
  ['30 days, in Prometheus 3', 2_592_000, '2.592e+06'],
])('BridgeObjectiveMissed compares withdrawals with an objective of %s', (_title, seconds, le) => {
  const file = folder.write('test.yml', JSON.stringify(testOf(seconds, le)));
  for (const promtool of ['promtool', NEWEST_PROMTOOL].filter((name) => hasTool(name))) {
    expect(runTool(promtool, ['test', 'rules', file])).toMatchObject({ status: 0 });
  }
});
