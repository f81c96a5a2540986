import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composed, mountsOf } from '../deploy/compose.js';
import { pathOf, read } from '../deploy/files.js';
import { start, type Running } from '../support/processes.js';
import { hasTool } from '../support/tools.js';

/*
 * What compose.yaml starts, without containers: the same commands, environment and files, on ports of this machine.
 * Grafana is not there; test/deploy/compose.test.ts looks at its files.
 */

const hasTools = [hasTool('prometheus'), hasTool('prometheus-alertmanager')].every(Boolean);
const folder = mkdtempSync(join(tmpdir(), 'compose-'));
const children: ChildProcess[] = [];
/** Address of a service in the network of compose.yaml, and its address here. */
const addresses = new Map<string, string>();
let daemon: Running;

/** For people the intervals are half a minute. */
const quickened = (text: string): string => text.replaceAll('_interval: 30s', '_interval: 1s');

function here(text: string): string {
  return [...addresses].reduce((changed, [there, address]) => changed.replaceAll(there, address), text);
}

function service(name: string, env = {}) {
  const found = composed(env).services[name];
  if (found === undefined) throw new Error(`compose.yaml has no ${name}`);
  return found;
}

/** Lays a service's files where its flags find them here, and gives the folder. */
function laidOut(name: string): string {
  for (const { source, target } of mountsOf(service(name))) {
    writeFileSync(join(folder, basename(target)), quickened(here(read(source))));
  }
  return folder;
}

function run(program: string, args: readonly string[]): ChildProcess {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  return child;
}

beforeAll(async () => {
  if (!hasTools) return;
  const [, ...flags] = service('simulator').command ?? [];
  const args = flags.map((flag) => flag.replace('0.0.0.0:1317', '127.0.0.1:0'));
  const { stdout } = run(process.execPath, [pathOf('dist/main.js'), 'simulate', ...args]);
  for await (const line of createInterface({ input: stdout! })) {
    const [, address] = /http:\/\/([^/]+)\/bridge/.exec(line) ?? [];
    if (address === undefined) continue;
    addresses.set('simulator:1317', address);
    break;
  }
  const environment = Object.entries(service('exporter').environment ?? {});
  daemon = await start([], Object.fromEntries(environment.map(([name, text]) => [name, here(text)])));
  addresses.set('exporter:10917', new URL(daemon.url).host);
  addresses.set('alertmanager:9093', `127.0.0.1:${await freePort()}`);
  addresses.set('prometheus:9090', `127.0.0.1:${await freePort()}`);

  const alertmanager = (service('alertmanager').command ?? []).map((flag) =>
    flag.replace('/etc/alertmanager', laidOut('alertmanager')).replace('=/alertmanager', `=${folder}/alertmanager`),
  );
  run('prometheus-alertmanager', [...alertmanager, `--web.listen-address=${here('alertmanager:9093')}`]);
  run('prometheus', [
    `--config.file=${laidOut('prometheus')}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/prometheus`,
    `--web.listen-address=${here('prometheus:9090')}`,
    // What fires before Alertmanager is there is sent again after this, by default a minute.
    '--rules.alert.resend-delay=1s',
  ]);
});

afterAll(async () => {
  for (const child of children) {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  if (hasTools) await daemon.stop();
  rmSync(folder, { recursive: true });
});

/** The answer of a service, asked until it is there and right. */
async function answer<T>(url: string, isRight: (json: T) => boolean): Promise<T> {
  for (;;) {
    const json = await request(`http://${here(url)}`)
      .then(async ({ statusCode, body }) => (statusCode === 200 ? body.json() : (await body.dump(), undefined)))
      .catch(() => undefined);
    if (json !== undefined && isRight(json as T)) return json as T;
    await sleep(100);
  }
}

describe.skipIf(!hasTools)('what compose.yaml starts', () => {
  it('scrapes the exporter, which has both documents of the simulator', async () => {
    interface Targets {
      readonly data: { readonly activeTargets: readonly { readonly health: string; readonly scrapeUrl: string }[] };
    }
    const { data } = await answer<Targets>('prometheus:9090/api/v1/targets', (targets) =>
      targets.data.activeTargets.some(({ health }) => health === 'up'),
    );
    expect(data.activeTargets).toMatchObject([{ health: 'up', scrapeUrl: `${daemon.url}/metrics` }]);

    interface Found {
      readonly data: { readonly result: readonly { readonly metric: Readonly<Record<string, string>> }[] };
    }
    const up = encodeURIComponent('bridge_exporter_up == 1');
    const found = await answer<Found>(
      `prometheus:9090/api/v1/query?query=${up}`,
      (series) => series.data.result.length === 2,
    );
    expect(found.data.result.map(({ metric }) => `${metric['target']} ${metric['endpoint']}`).toSorted()).toEqual([
      'default module_state',
      'default rate_limiter_input',
    ]);
  });

  it('evaluates every rule, and brings what fires to Alertmanager', async () => {
    interface Rules {
      readonly data: {
        readonly groups: readonly { readonly rules: readonly { readonly health: string; readonly name: string }[] }[];
      };
    }
    const rulesOf = ({ data }: Rules) => data.groups.flatMap(({ rules }) => rules);
    const rules = await answer<Rules>('prometheus:9090/api/v1/rules', (given) =>
      rulesOf(given).every(({ health }) => health !== 'unknown'),
    );
    expect(rulesOf(rules).length).toBeGreaterThan(40);
    expect(rulesOf(rules).filter(({ health }) => health !== 'ok')).toEqual([]);

    type Alerts = readonly { readonly labels: { readonly alertname: string }; readonly receivers: readonly object[] }[];
    const alerts = await answer<Alerts>('alertmanager:9093/api/v2/alerts', (firing) => firing.length > 0);
    expect(alerts).toMatchObject([{ labels: { alertname: 'BridgeWatchdog' }, receivers: [{ name: 'heartbeat' }] }]);
  });

  it('finds the simulator healthy, by the check of compose.yaml', async () => {
    const [, program = '', ...args] = service('simulator').healthcheck?.test ?? [];
    const code = async (text: string) =>
      new Promise((resolve) => {
        execFile(
          program,
          args.map((arg) => arg.replace('localhost:1317', text)),
          (error) => resolve(error?.code ?? 0),
        );
      });
    expect(await code(here('simulator:1317'))).toBe(0);
    expect(await code(`127.0.0.1:${await freePort()}`)).toBe(1);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
