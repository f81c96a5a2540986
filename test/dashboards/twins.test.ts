import { expect, it } from 'vitest';
import { signerInfo } from '../../grafana/source/queries.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';

const folder = createTempFolder();

const signers = [
  ['hub1aaaaaaaaaaaaaaaaaaaa1', 'Twin', 'Twin hub1aaaaaaaa…aaaaa1'],
  ['hub1bbbbbbbbbbbbbbbbbbbb2', 'Twin', 'Twin hub1bbbbbbbb…bbbbb2'],
  ['hub1cccccccccccccccccccc3', 'Solo', 'Solo'],
  ['hub1dddddddddddddddddddd4', '', 'hub1dddddddd…ddddd4'],
] as const;

it.skipIf(!hasTool('promtool'))('signers with the same name are told apart by their address', () => {
  const info = 'bridge_orchestrator_info';
  const expr = signerInfo().replaceAll(/=~"\$\{?\w+(?::\w+)?\}?"/g, '=~".*"');
  const tests = [
    {
      interval: '1m',
      input_series: signers.map(([orchestrator, name]) => ({
        series: `${info}{target="t", orchestrator="${orchestrator}", external_address="0x", name="${name}", watched="false"}`,
        values: '1 1',
      })),
      promql_expr_test: [
        {
          expr: `count by (orchestrator, signer) (${expr})`,
          eval_time: '1m',
          exp_samples: signers.map(([orchestrator, , signer]) => ({
            labels: `{orchestrator="${orchestrator}", signer="${signer}"}`,
            value: 1,
          })),
        },
      ],
    },
  ];
  const file = folder.write('twins.json', JSON.stringify({ rule_files: [], evaluation_interval: '1m', tests }));
  expect(runTool('promtool', ['test', 'rules', file])).toMatchObject({ status: 0 });
});
