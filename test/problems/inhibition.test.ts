import { expect, it } from 'vitest';
import { get } from '../support/http.js';
import { freePort } from '../support/ports.js';
import { startProcess } from '../support/processes.js';
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

const address = `127.0.0.1:${await freePort()}`;
const url = `http://${address}/api/v2`;

async function startAlertmanager(): Promise<void> {
  // Without receivers: nothing is sent.
  const config = readProjectFile('prometheus/alertmanager.yml').replaceAll(/ {4}webhook_configs:\n(?: {6}.*\n)+/g, '');
  startProcess('prometheus-alertmanager', [
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
}

if (hasAlertmanager) await startAlertmanager();

let requests = 0;

/** The names of these alerts that Alertmanager suppresses when they fire together. */
async function suppressed(alerts: readonly Labels[]): Promise<string[]> {
  requests += 1;
  // A pair that is sent later and is certainly inhibited: when it is, the inhibitions of the others are known, too.
  const control = { target: `control-${requests}`, job: 'control', instance: 'control', document: 'module_state' };
  await send(alerts);
  await send([
    { ...alert('BridgeEndpointNotPolled critical'), ...control },
    { ...alert('BridgeSnapshotStale critical'), ...control },
  ]);
  const matches = (labels: Labels, sent: Labels): boolean =>
    Object.entries(sent).every(([name, value]) => labels[name] === value);
  const statuses = await waitFor(
    async () => JSON.parse((await get(`${url}/alerts`)).text) as readonly AlertStatus[],
    (found) =>
      found.some(
        ({ labels, status }) =>
          labels['alertname'] === 'BridgeSnapshotStale' && matches(labels, control) && status.state === 'suppressed',
      ),
  );
  const ours = statuses.filter(({ labels }) => alerts.some((sent) => matches(labels, sent)));
  expect(ours).toHaveLength(alerts.length);
  return ours.filter(({ status }) => status.state === 'suppressed').map(({ labels }) => labels['alertname'] ?? '');
}

async function send(alerts: readonly Labels[]): Promise<void> {
  const body = JSON.stringify(alerts.map((labels) => ({ labels })));
  const headers = { 'content-type': 'application/json' };
  expect((await fetch(`${url}/alerts`, { method: 'POST', headers, body })).status).toBe(200);
}

/** The labels of an alert such as `BridgeBacklogStuck critical chain_id=1`. */
function alert(text: string): Labels {
  const [alertname = '', severity = '', ...labels] = text.split(' ');
  return { alertname, severity, ...Object.fromEntries(labels.map((label) => label.split('='))) };
}

const STALE = 'BridgeSnapshotStale critical';
const STUCK = 'BridgeBacklogStuck critical';
const NOT_POLLED = 'BridgeEndpointNotPolled critical';

/** Alerts of one document of a target at one exporter, unless they say otherwise, of which the last ones are inhibited. */
const cases: readonly (readonly [title: string, active: readonly string[], inhibited: readonly string[]])[] = [
  ['outdated data: no poll', [NOT_POLLED], [STALE]],
  ['failed polls: no poll', [NOT_POLLED], ['BridgeEndpointDown warning']],
  ['no problem of the document, which has fired before', [NOT_POLLED, STUCK], []],
  ['nothing that the exporter judges', [STALE, STUCK, 'BridgeBacklogStuck warning'], []],
  ['no alert of another exporter of the same target', [NOT_POLLED, `${STALE} instance=b`], []],
  ['no alert of another document', [NOT_POLLED, `${STALE} document=rate_limiter_input`], []],
  ['a lost exporter: none is left', ['BridgeExporterAbsent critical'], ['BridgeExporterDown critical']],
  [
    'no other exporter in another cluster: none is left',
    ['BridgeExporterAbsent critical cluster=eu', 'BridgeExporterDown warning cluster=us'],
    [],
  ],
];

it.skipIf(!hasAlertmanager).each(cases)('an alert inhibits %s', async (title, active, inhibited) => {
  const common = { target: title, job: 'bridge', instance: 'a', document: 'module_state' };
  const alerts = [...active, ...inhibited].map((text) => ({ ...common, ...alert(text) }));
  expect(await suppressed(alerts)).toEqual(inhibited.map((text) => text.split(' ')[0]));
});
