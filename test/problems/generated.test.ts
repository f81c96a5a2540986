import { describe, expect, it } from 'vitest';
import { readProjectFile } from '../support/project-files.js';
import { withTables } from '../docs/generated-tables.js';
import { alertTable, formatYaml, indent, inhibitRules, rulesYaml, urgencyTable } from './rule-file.js';

describe('the declarations in src/problems', () => {
  it('are the rules of prometheus/alerts.yml', async () => {
    await expect(await formatYaml(rulesYaml())).toMatchFileSnapshot('../../prometheus/alerts.yml');
  });

  it('have the inhibitions of prometheus/alertmanager.yml', async () => {
    const file = readProjectFile('prometheus/alertmanager.yml');
    const [, before, after] = /^([^]*\ninhibit_rules:\n)[^]*?(\nreceivers:\n[^]*)$/.exec(file) ?? [];
    const formatted = await formatYaml(`${before}${indent(inhibitRules())}${after}`);
    await expect(formatted).toMatchFileSnapshot('../../prometheus/alertmanager.yml');
  });

  it('are the table of docs/alerts.md', async () => {
    await expect(withTables('docs/alerts.md', [alertTable()])).toMatchFileSnapshot('../../docs/alerts.md');
  });

  it('are the index of docs/runbook.md', async () => {
    await expect(withTables('docs/runbook.md', [urgencyTable()])).toMatchFileSnapshot('../../docs/runbook.md');
  });
});
