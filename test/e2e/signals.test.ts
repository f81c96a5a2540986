import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startNode } from '../http/nodes.js';
import { MAIN, startProcess, type RunningProcess } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';
import { waitUntil } from '../support/wait-for.js';

const folder = createTempFolder();
const hook = new URL('../support/signal-at-import.mjs', import.meta.url).href;
const registerHook = `data:text/javascript,import{register}from'node:module';register('${hook}')`;
const bridge = 'bridge: {url: "http://127.0.0.1:1"}';
const config = folder.write('bridge.yml', `targets: [{name: a, ${bridge}}, {name: b, ${bridge}}]`);
const listen = '--web.listen-address=127.0.0.1:0';

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): RunningProcess {
  return startProcess(process.execPath, [MAIN, ...args], { env });
}

/** The exit code and the signal that ended the process. */
async function endOf({ child }: RunningProcess): Promise<readonly unknown[]> {
  return once(child, 'close');
}

it('SIGHUP before the daemon serves reloads the configuration as soon as it does', async () => {
  // The module is imported after the configuration is read.
  const env = { NODE_OPTIONS: `--import="${registerHook}"`, SIGNAL: 'SIGHUP', SIGNAL_AT: '/dist/commands/exporter.js' };
  const daemon = start([listen, `--config.file=${config}`], env);
  expect(await daemon.printed(/serving/)).toContain('"targets":2');
  expect(await daemon.printed(/configuration reloaded/)).toContain('"targets":2');
  expect((await daemon.stop()).code).toBe(0);
});

it('SIGINT ends the demo with 0 while it simulates its past, and SIGHUP as if it did not handle it', async () => {
  const args = ['demo', '--scenario=no-relayer', '--listen=127.0.0.1:0', listen];
  const [demo, other] = [start(args), start(args)];
  await demo.printed(/simulating and polling the past/);
  expect((await demo.stop('SIGINT')).code).toBe(0);
  expect(demo.stdout.join('\n')).not.toContain('Ctrl+C');
  await other.printed(/simulating and polling the past/);
  other.child.kill('SIGHUP');
  expect(await endOf(other)).toEqual([null, 'SIGHUP']);
});

it('SIGTERM ends a command that does not serve as if it did not handle it', async () => {
  const { url, requests } = await startNode({ respond: () => undefined });
  const polling = start(['once'], { BRIDGE_URL: url });
  await waitUntil(() => requests.length > 0);
  polling.child.kill('SIGTERM');
  expect(await endOf(polling)).toEqual([null, 'SIGTERM']);
});
