import { expect, it } from 'vitest';
import { valueIn } from '../support/exposition-text.js';
import { errorPage, withStatus } from '../support/faults.js';
import { runHere } from '../support/command-context.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';

const folder = createTempFolder();

const urls = (...nodes: readonly string[]) => nodes.map((url) => `{url: "${url}"}`).join(', ');

it('polls the nodes of each document in turn', async () => {
  const [broken, healthy] = [await startTestSimulator(), await startTestSimulator()];
  for (const document of ['module_state', 'rate_limiter_input', 'external_contract'] as const)
    broken.fault(document, withStatus(503));
  const file = folder.write(
    'bridge.yml',
    `targets:
  - name: a
    bridge:
      nodes: [${urls(broken.url, healthy.url)}]
      external: {nodes: [${urls(`${broken.url}/external`, `${healthy.url}/external`)}]}
    crosschain: {nodes: [${urls(healthy.url, broken.url)}]}`,
  );
  const { code, stdout } = await runHere(['once', `--config.file=${file}`, '--summary=false']);
  expect(code).toBe(0);
  const [first, second] = [broken, healthy].map(({ url }) => new URL(url).host);
  for (const document of ['module_state', 'external_contract', 'rate_limiter_input']) {
    const active = (source = '') =>
      valueIn(stdout, 'bridge_exporter_node_active', `document="${document}"`, `source="${source}"`);
    expect([active(first), active(second)], document).toEqual([0, 1]);
    expect(valueIn(stdout, 'bridge_exporter_up', `document="${document}"`), document).toBe(1);
  }
  expect(valueIn(stdout, 'bridge_contract_last_event_nonce')).toBeDefined();
});

it('has no series of nodes for an endpoint with one node', async () => {
  const { url } = await startTestSimulator();
  const file = folder.write(
    'one.yml',
    `targets: [{name: a, bridge: {nodes: [{url: "${url}"}]}, crosschain: {url: "${url}"}}]`,
  );
  const { stdout } = await runHere(['once', `--config.file=${file}`, '--summary=false']);
  expect(stdout).toContain('bridge_last_observed_nonce');
  expect(stdout).not.toMatch(/bridge_exporter_node_(?:up|active|switches)/);
});

it('numbers nodes of the same host, and redacts their paths', async () => {
  const simulator = await startTestSimulator();
  simulator.fault('module_state', errorPage);
  const { url } = simulator;
  const { host } = new URL(url);
  const file = folder.write(
    'paths.yml',
    `targets: [{name: a, bridge: {nodes: [${urls(`${url}/KEY-1`, `${url}/KEY-2`)}]}}]`,
  );
  const { code, stdout, stderr } = await runHere(['once', `--config.file=${file}`, '--summary=false']);
  expect(code).toBe(1);
  expect(stderr).toContain(`all nodes failed: ${host}/…/`);
  expect(`${stdout}${stderr}`).not.toContain('KEY-');
  for (const number of [1, 2])
    expect(valueIn(stdout, 'bridge_exporter_node_up', `source="${host} (${number})"`)).toBe(0);
});
