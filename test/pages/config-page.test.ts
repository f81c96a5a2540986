import { expect, it } from 'vitest';
import { parseConfig } from '../support/config.js';
import { formatConfig } from '../../src/config/loader.js';
import { configPage } from '../../src/pages/status-page.js';
import { textOf } from './sample-snapshots.js';

it('the configuration page shows the effective configuration, without secrets and escaped', () => {
  const file = `targets:
  - name: '<script>'
    bridge: {url: "https://a.example", basic_auth: {username: u, password: hunter2}}`;
  const result = parseConfig(file, 'b');
  if (!result.ok) throw new Error(result.problems.join());
  const text = formatConfig(result.config);
  const html = configPage(text, '2026-01-01T12:00:00.000Z', { telemetryPath: '/metrics', version: '0.1.0' });
  expect(textOf(html)).toContain(
    text
      .trim()
      .replaceAll(/\s*\n\s*/g, '\n')
      .replaceAll(/ +/g, ' '),
  );
  expect(html).toContain('password: &lt;secret&gt;');
  expect(html).toContain('name: &lt;script&gt;');
  expect(html).not.toContain('hunter2');
  expect(html).not.toContain('<script');
  expect(html).toContain('<a href="./config" aria-current="page">Configuration</a>');
});
