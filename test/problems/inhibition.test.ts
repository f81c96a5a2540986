import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { get } from '../support/http.js';
import { freePort } from '../support/ports.js';
import { startProcess, type RunningProcess } from '../support/processes.js';
import { readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool } from '../support/tools.js';
import { waitFor, waitUntil } from '../support/wait-for.js';

/*
 * The inhibitions of prometheus/alertmanager.yml in a real Alertmanager: which alerts of other exporters and clusters
 * stay active.
 */
const folder = createTempFolder();
const hasAlertmanager = hasTool('prometheus-alertmanager');

type Labels = Readonly<Record<string, string>>;

interface AlertStatus {
  readonly labels: Labels;
  readonly status: { readonly state: 'active' | 'suppressed' | 'unprocessed' };
}

let alertmanager: RunningProcess | undefined;
let url = '';

beforeAll(async () => {
  if (!hasAlertmanager) return;
  const address = `127.0.0.1:${await freePort()}`;
  url = `http://${address}/api/v2`;
  // Without receivers: nothing is sent.
  const config = readProjectFile('prometheus/alertmanager.yml').replaceAll(/ {4}webhook_configs:\n(?: {6}.*\n)+/g, '');
  alertmanager = startProcess('prometheus-alertmanager', [
    `--config.file=${folder.write('alertmanager.yml', config)}`,
    `--storage.path=${folder.path}/data`,
    `--web.listen-address=${address}`,
    '--cluster.listen-address=',
    '--log.level=error',
  ]);
  await waitUntil(async () =>
    fetch(`${url}/status`)
      .then(({ ok }) => ok)
      .catch(() => false),
  );
});

afterAll(async () => alertmanager?.stop('SIGKILL'));

const stuck = { alertname: 'BridgeBacklogStuck', severity: 'critical', document: 'module_state' };
const stuckWarning = { ...stuck, severity: 'warning' };
const down = { alertname: 'BridgeEndpointDown', severity: 'warning', document: 'module_state' };
const stale = { alertname: 'BridgeSnapshotStale', severity: 'critical', document: 'module_state' };

let requests = 0;

/** The names of these alerts that Alertmanager suppresses when they fire together. */
async function suppressed(alerts: readonly Labels[]): Promise<string[]> {
  requests += 1;
  // A pair that is sent later and is certainly inhibited: when it is, the inhibitions of the others are known, too.
  const control = { target: `control-${requests}`, job: 'control', instance: 'control' };
  await send(alerts);
  await send([
    { ...stale, ...control },
    { ...stuck, ...control },
  ]);
  const matches = (labels: Labels, alert: Labels): boolean =>
    Object.entries(alert).every(([name, value]) => labels[name] === value);
  const statuses = await waitFor(
    async () => JSON.parse((await get(`${url}/alerts`)).text) as readonly AlertStatus[],
    (found) =>
      found.some(({ labels, status }) => matches(labels, { ...stuck, ...control }) && status.state === 'suppressed'),
  );
  const ours = statuses.filter(({ labels }) => alerts.some((alert) => matches(labels, alert)));
  expect(ours).toHaveLength(alerts.length);
  return ours.filter(({ status }) => status.state === 'suppressed').map(({ labels }) => labels['alertname'] ?? '');
}

async function send(alerts: readonly Labels[]): Promise<void> {
  const body = JSON.stringify(alerts.map((labels) => ({ labels })));
  const headers = { 'content-type': 'application/json' };
  expect((await fetch(`${url}/alerts`, { method: 'POST', headers, body })).status).toBe(200);
}

describe.skipIf(!hasAlertmanager)('an alert inhibits', () => {
  it('alerts on the data of the same endpoint', async () => {
    const labels = { target: 'same', job: 'bridge', instance: 'a' };
    const alerts = [stale, stuck].map((alert) => ({ ...alert, ...labels }));
    expect(await suppressed(alerts)).toEqual(['BridgeBacklogStuck']);
  });

  it.each([
    ['an endpoint that is down', down],
    ['a copy that is outdated while another exporter has a fresh one', { ...stale, severity: 'warning' }],
  ])('no critical alert on the data, but the warnings, as a warning: %s', async (_title, warning) => {
    const labels = { target: warning.alertname, job: 'bridge', instance: 'a' };
    expect(await suppressed([warning, stuck].map((alert) => ({ ...alert, ...labels })))).toEqual([]);
    const others = [warning, stuckWarning].map((alert) => ({ ...alert, ...labels, instance: 'b' }));
    expect(await suppressed(others)).toEqual(['BridgeBacklogStuck']);
  });

  it('what it explains: a wrong configuration and outdated data the failed polls, and a new contract the lower nonces', async () => {
    const labels = { target: 'causes', job: 'bridge', instance: 'a', document: 'module_state' };
    const pairs: readonly (readonly [Labels, Labels])[] = [
      [{ alertname: 'BridgeEndpointMisconfigured', severity: 'warning' }, down],
      [stale, down],
      [{ alertname: 'BridgeEndpointNotPolled', severity: 'critical' }, stale],
      [
        { alertname: 'BridgeParamsChanged', severity: 'critical' },
        { alertname: 'BridgeStateRolledBack', severity: 'critical' },
      ],
      [
        { alertname: 'BridgeParamsChanged', severity: 'warning' },
        { alertname: 'BridgeParamsChanged', severity: 'info' },
      ],
    ];
    for (const [index, pair] of pairs.entries()) {
      const alerts = pair.map((alert) => ({ ...alert, ...labels, instance: `cause ${index}` }));
      expect(await suppressed(alerts)).toEqual([pair[1]['alertname']]);
    }
  });

  it('what follows from it on the same subject only', async () => {
    const labels = { target: 'freeze', job: 'bridge', instance: 'a', document: 'rate_limiter_input' };
    const alerts = [
      { ...labels, alertname: 'CrosschainFreezeNear', severity: 'critical', chain_id: '1' },
      { ...labels, alertname: 'CrosschainCctxsMissed', severity: 'warning', chain_id: '1' },
      { ...labels, alertname: 'CrosschainBacklogStuck', severity: 'critical', chain_id: '56' },
    ];
    expect(await suppressed(alerts)).toEqual(['CrosschainCctxsMissed']);
  });

  it('no critical alert that follows from a warning, except of switched off outbounds', async () => {
    const labels = { target: 'warnings', job: 'bridge', instance: 'a', document: 'module_state' };
    const notRelayed = { alertname: 'BridgeBatchNotRelayed', severity: 'warning' };
    expect(await suppressed([notRelayed, stuck].map((alert) => ({ ...alert, ...labels })))).toEqual([]);
    const worse = { ...notRelayed, severity: 'critical' };
    expect(await suppressed([worse, stuck].map((alert) => ({ ...alert, ...labels, instance: 'b' })))).toEqual([
      stuck.alertname,
    ]);
    const disabled = { alertname: 'CrosschainOutboundDisabled', severity: 'warning' };
    const tooOld = { alertname: 'CrosschainOldestPendingTooOld', severity: 'critical' };
    expect(await suppressed([disabled, tooOld].map((alert) => ({ ...alert, ...labels, instance: 'c' })))).toEqual([
      tooOld.alertname,
    ]);
  });

  it('no missing signature of a watched validator', async () => {
    const labels = { target: 'signatures', job: 'bridge', instance: 'a', document: 'module_state' };
    const missing = { alertname: 'BridgeOrchestratorMissingConfirms', severity: 'warning' };
    const alerts = [
      { ...labels, alertname: 'BridgeBatchUnsigned', severity: 'critical' },
      { ...labels, ...missing, watched: 'true' },
      { ...labels, ...missing, watched: 'false' },
    ];
    expect(await suppressed(alerts)).toEqual([missing.alertname]);
  });

  it('no alert of another exporter of the same target', async () => {
    const labels = { target: 'twins', job: 'bridge' };
    const alerts = [
      { ...stale, ...labels, instance: 'a' },
      { ...stuck, ...labels, instance: 'b' },
    ];
    expect(await suppressed(alerts)).toEqual([]);
  });

  it('no alert of another cluster', async () => {
    const labels = { target: 'clusters', job: 'bridge', instance: 'a' };
    const alerts = [
      { alertname: 'BridgeHeightStalled', severity: 'critical', document: 'module_state', ...labels, cluster: 'eu' },
      { ...stuck, ...labels, cluster: 'us' },
      { alertname: 'BridgeExporterAbsent', severity: 'critical', cluster: 'eu' },
      { alertname: 'BridgeExporterDown', severity: 'warning', job: 'bridge', instance: 'a', cluster: 'us' },
    ];
    expect(await suppressed(alerts)).toEqual([]);
  });

  it('the warning for the same subject only', async () => {
    const labels = { alertname: 'CrosschainOldestPendingTooOld', target: 'chains', job: 'bridge', instance: 'a' };
    const alerts = [
      { ...labels, severity: 'critical', chain_id: '1' },
      { ...labels, severity: 'warning', chain_id: '1' },
      { ...labels, severity: 'warning', chain_id: '56' },
    ];
    expect(await suppressed(alerts)).toEqual(['CrosschainOldestPendingTooOld']);
  });
});
