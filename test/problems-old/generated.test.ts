import { describe, expect, it } from 'vitest';
import { readProjectFile } from '../support/project-files.js';
import { inhibitRules, rulesFile } from './rule-file.js';
import { indent } from '../../src/alerts/promql.js';

describe('the declarations of alerts in src/alerts', () => {
  it('are the rules of prometheus/alerts.yml', async () => {
    await expect(await rulesFile()).toMatchFileSnapshot('../../prometheus/alerts.yml');
  });

  it('have the inhibitions of prometheus/alertmanager.yml', async () => {
    const file = readProjectFile('prometheus/alertmanager.yml');
    const [, before, after] = /^([^]*\ninhibit_rules:\n)[^]*?(\nreceivers:\n[^]*)$/.exec(file) ?? [];
    const expected = `${before}${indent(await inhibitRules())}${after}`;
    await expect(expected).toMatchFileSnapshot('../../prometheus/alertmanager.yml');
  });
});
