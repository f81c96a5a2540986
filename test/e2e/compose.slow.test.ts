import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { interpolatedCompose, mountsOf } from '../deploy/compose.js';
import { rules as allRules } from '../support/alert-rules.js';
import { get } from '../support/http.js';
import { freePort } from '../support/ports.js';
import { MAIN, startDaemon, startProcess } from '../support/processes.js';
import { readProjectFile } from '../support/project-files.js';
import { startPrometheus } from '../support/prometheus.js';
import { createTempFolder } from '../support/temp-folder.js';
import { describeIf, hasTool } from '../support/tools.js';
import { waitFor, waitUntil } from '../support/wait-for.js';

/*
 * The services of compose.yaml without containers: the same commands, environment and files, on ports of this machine.
 * Grafana is not started; test/deploy/compose.test.ts checks its files.
 */

const hasTools = [hasTool('prometheus'), hasTool('prometheus-alertmanager')].every(Boolean);
const folder = createTempFolder();
/** The address of a service on this machine, by its address in the network of compose.yaml. */
const localAddresses = new Map<string, string>();

const withLocalAddresses = (text: string): string =>
  [...localAddresses].reduce((changed, [address, localAddress]) => changed.replaceAll(address, localAddress), text);

function serviceOf(name: string) {
  const service = interpolatedCompose().services[name];
  if (service === undefined) throw new Error(`compose.yaml has no ${name}`);
  return service;
}

/** The files that are mounted in a service, by their base name, with short intervals and local addresses. */
function mountedFiles(name: string): [name: string, content: string][] {
  return mountsOf(serviceOf(name)).map(({ source, target }) => [
    basename(target),
    withLocalAddresses(readProjectFile(source)).replaceAll('_interval: 30s', '_interval: 1s'),
  ]);
}

/** Reads from a service until it responds with what is accepted. */
async function waitForJson<T>(url: string, isDone: (json: T) => boolean): Promise<T> {
  return waitFor(async () => JSON.parse((await get(`http://${withLocalAddresses(url)}`)).text) as T, isDone);
}

describeIf(hasTools, 'compose.yaml', async () => {
  const [, ...simulatorFlags] = serviceOf('simulator').command ?? [];
  const flags = simulatorFlags.map((flag) => flag.replace('0.0.0.0:1317', '127.0.0.1:0'));
  const simulator = startProcess(process.execPath, [MAIN, 'simulate', ...flags]);
  const [, simulatorAddress = ''] = /http:\/\/([^/]+)\/bridge/.exec(await simulator.printed(/\/bridge/)) ?? [];
  localAddresses.set('simulator:1317', simulatorAddress);

  for (const file of mountedFiles('exporter')) folder.write(...file);
  const environment = Object.entries(serviceOf('exporter').environment ?? {});
  const daemon = await startDaemon(
    [],
    Object.fromEntries(environment.map(([name, text]) => [name, text.replace('/etc/bridge-exporter', folder.path)])),
  );
  localAddresses.set('exporter:10917', new URL(daemon.url).host);
  const [alertmanagerPort, prometheusPort] = [await freePort(), await freePort()];
  localAddresses.set('alertmanager:9093', `127.0.0.1:${alertmanagerPort}`);
  localAddresses.set('prometheus:9090', `127.0.0.1:${prometheusPort}`);

  for (const file of mountedFiles('alertmanager')) folder.write(...file);
  const alertmanagerFlags = (serviceOf('alertmanager').command ?? []).map((flag) =>
    flag.replace('/etc/alertmanager', folder.path).replace('=/alertmanager', `=${folder.path}/alertmanager`),
  );
  startProcess('prometheus-alertmanager', [...alertmanagerFlags, `--web.listen-address=127.0.0.1:${alertmanagerPort}`]);
  await waitUntil(async () =>
    get(`http://127.0.0.1:${alertmanagerPort}/-/ready`)
      .then(({ status }) => status === 200)
      .catch(() => false),
  );

  const prometheusFiles = new Map(mountedFiles('prometheus'));
  for (const file of prometheusFiles) folder.write(...file);
  const prometheus = await startPrometheus(folder, prometheusFiles.get('prometheus.yml') ?? '', {
    port: prometheusPort,
    // An alert that fires before Alertmanager has started is sent again after this delay.
    flags: ['--rules.alert.resend-delay=1s'],
  });

  it('starts a Prometheus that scrapes the exporter, which polls both documents of the simulator', async () => {
    const found = await waitFor(
      async () => prometheus.query('bridge_exporter_up == 1'),
      ({ length }) => length === 2,
    );
    expect(found.map(({ metric }) => `${metric['target']} ${metric['document']}`).toSorted()).toEqual([
      'default module_state',
      'default rate_limiter_input',
    ]);
    const scraped = await prometheus.activeTargets();
    expect(scraped).toMatchObject([{ health: 'up', scrapeUrl: `${daemon.url}/metrics` }]);
  });

  it('starts a Prometheus that evaluates every rule and sends alerts to Alertmanager', async () => {
    interface Rules {
      readonly data: { readonly groups: readonly { readonly rules: readonly { readonly health: string }[] }[] };
    }
    const healthOf = ({ data }: Rules) => data.groups.flatMap(({ rules }) => rules.map(({ health }) => health));
    const evaluated = await waitForJson<Rules>(
      'prometheus:9090/api/v1/rules',
      (rules) => !healthOf(rules).includes('unknown'),
    );
    expect(healthOf(evaluated)).toEqual(allRules.map(() => 'ok'));

    const alerts = await waitForJson<readonly object[]>('alertmanager:9093/api/v2/alerts', ({ length }) => length > 0);
    expect(alerts).toMatchObject([{ labels: { alertname: 'BridgeWatchdog' }, receivers: [{ name: 'heartbeat' }] }]);
  });

  it('has a health check of the simulator that succeeds while it runs', async () => {
    const [, program = '', ...args] = serviceOf('simulator').healthcheck?.test ?? [];
    const exitCode = async (address: string) =>
      new Promise((resolve) => {
        execFile(
          program,
          args.map((arg) => arg.replace('localhost:1317', address)),
          (error) => resolve(error?.code ?? 0),
        );
      });
    expect(await exitCode(withLocalAddresses('simulator:1317'))).toBe(0);
    expect(await exitCode(`127.0.0.1:${await freePort()}`)).toBe(1);
  });
});
