import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/config/config.js';
import { dashboardUrl, runbookUrl, tokenUrl, transactionUrl } from '../../src/pages/external-links.js';
import { rules } from '../../src/problems/rules.js';
import { alertRules } from '../support/alert-rules.js';
import { projectPath, readProjectFile } from '../support/project-files.js';
import { testLinks } from './sample-snapshots.js';

/** Pages have no problem of the others, which are not about a target. */
const aboutTargets = alertRules.filter(({ annotations }) => annotations?.['dashboard_url']?.includes('$labels.target'));

describe('the links of a problem', () => {
  const links = testLinks({ links: { ...defaultConfig.links, dashboards: '' } });

  it.each(aboutTargets)('are those of the alert: $alert', ({ alert, annotations }) => {
    expect(runbookUrl(links, alert)).toBe(annotations?.['runbook_url']);
    const template = annotations?.['dashboard_url'] ?? '';
    const expected = template.replace('{{ $labels.target | urlquery }}', 'main%20net');
    expect(dashboardUrl(links, alert, 'main net')).toBe(expected);
  });

  it('do not contain a dashboard without its base address', () => {
    expect(dashboardUrl(testLinks(), 'BridgeOracleStalled', 'a')).toBeNull();
  });
});

describe('the pages', () => {
  it('name only alerts that exist', () => {
    const files = readdirSync(projectPath('src/pages')).filter((file) => file.endsWith('.ts'));
    const text = files.map((file) => readProjectFile(`src/pages/${file}`)).join('');
    const named = Array.from(text.matchAll(/\b(?:Bridge|Crosschain)[A-Z]\w+(?=[':])/g), ([name]) => name);
    expect(named.length).toBeGreaterThan(20);
    const known = new Set(rules.map(({ name }) => name));
    expect(named.filter((name) => !known.has(name) && !name.endsWith('Items'))).toEqual([]);
  });
});

describe('the links to explorers', () => {
  const links = testLinks({
    chains: { '1': { name: 'ethereum', explorer: 'https://a.example/tx/{hash}' }, '2': { name: 'other' } },
    tokens: [
      { contract: '0xusdt', explorer: 'https://a.example/token/{address}' },
      { contract: '0x1', symbol: 'A' },
    ],
  });

  it('contain the encoded id', () => {
    expect(transactionUrl(links, '1', `0x1/../"$&<b>`)).toBe('https://a.example/tx/0x1%2F..%2F%22%24%26%3Cb%3E');
    expect(tokenUrl(links, '0xusdt')).toBe('https://a.example/token/0xusdt');
  });

  it('do not exist for chains and tokens without an explorer', () => {
    for (const chainId of ['2', '3', 'constructor', null]) {
      expect(transactionUrl(links, chainId, '0x1')).toBeUndefined();
    }
    expect(tokenUrl(links, '0x1')).toBeUndefined();
  });
});
