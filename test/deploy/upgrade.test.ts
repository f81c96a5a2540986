import { expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { runTool } from '../support/tools.js';

const RULES = `groups:
  - name: own
    rules:
      - alert: Down
        expr: |
          min by (target, endpoint) (bridge_exporter_up{endpoint="module_state"}) == 0
          unless on (target, endpoint) bridge_exporter_endpoint_info
        annotations: { summary: 'The endpoint {{ $labels.endpoint }} is down.' }
`;

it('the upgrade notes rename the label endpoint, and not metrics whose names contain it', () => {
  const [, command = ''] = /^ +(sed .* my-rules\.yml)$/m.exec(readProjectFile('docs/deployment.md')) ?? [];
  const file = createTempFolder().write('my-rules.yml', RULES);
  expect(runTool('sh', ['-c', command.replace('my-rules.yml', file)])).toEqual({ status: 0, output: '' });
  expect(readFileSync(file, 'utf8')).toBe(`groups:
  - name: own
    rules:
      - alert: Down
        expr: |
          min by (target, document) (bridge_exporter_up{document="module_state"}) == 0
          unless on (target, document) bridge_exporter_endpoint_info
        annotations: { summary: 'The document {{ $labels.document }} is down.' }
`);
  expect(readFileSync(`${file}.bak`, 'utf8')).toBe(RULES);
});
