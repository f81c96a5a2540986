import { expect, it } from 'vitest';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';
import { ruleGroups } from '../support/alert-rules.js';

/* A Prometheus server can have targets with the same name in several clusters. */

const folder = createTempFolder();
const rules = ruleGroups
  .flatMap((group) => group.rules)
  .filter(({ alert, labels }) => alert === 'BridgeOracleStalled' && labels?.['severity'] === 'warning');

it.skipIf(!hasTool('promtool'))('BridgeOracleStalled names the claimants of its own cluster', () => {
  const labelsOf = (cluster: string): string =>
    `cluster="${cluster}",namespace="ns",job="bridge",instance="a",target="main"`;
  const seriesOf = (cluster: string, ratio: number): Record<string, string> => ({
    [`bridge_next_event_voted_power_ratio{${labelsOf(cluster)}}`]: `${ratio}x200`,
    [`bridge_last_observed_nonce{${labelsOf(cluster)}}`]: '5x200',
    [`bridge_orchestrator_info{${labelsOf(cluster)},orchestrator="1",name="first of ${cluster}"}`]: '1x200',
    [`bridge_orchestrator_missing_next_votes{${labelsOf(cluster)},orchestrator="1"}`]: '0x200',
    [`bridge_orchestrator_info{${labelsOf(cluster)},orchestrator="2",name="second of ${cluster}"}`]: '1x200',
    [`bridge_orchestrator_missing_next_votes{${labelsOf(cluster)},orchestrator="2"}`]: '1x200',
  });
  const series = { ...seriesOf('one', 0.2), ...seriesOf('two', 0.9) };
  const file = folder.write(
    'test.yml',
    JSON.stringify({
      rule_files: [folder.write('rules.yml', JSON.stringify({ groups: [{ name: 'oracle', rules }] }))],
      tests: [
        {
          interval: '1m',
          input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
          alert_rule_test: [{ eval_time: '2h', alertname: 'BridgeOracleStalled', exp_alerts: [] }],
        },
      ],
    }),
  );
  // promtool prints the alerts that are not expected.
  const { output } = runTool('promtool', ['test', 'rules', file]);
  expect(output).toContain('only 20% of the power claim the next event: first of one, all on /pending.');
});
