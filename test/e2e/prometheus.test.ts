import { hashSync } from 'bcryptjs';
import { createServer, get as httpGet } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '../support/certificates.js';
import { seriesOf } from '../support/exposition-text.js';
import { get, scrape } from '../support/http.js';
import { listenOnFreePort } from '../support/ports.js';
import { startDaemon } from '../support/processes.js';
import { startPrometheus } from '../support/prometheus.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { describeIf, hasTool, runTool } from '../support/tools.js';
import { waitFor, waitUntil } from '../support/wait-for.js';

const hasPromtool = hasTool('promtool');

const folder = createTempFolder();
const simulator = await startTestSimulator({ seed: 3, scenario: 'backlog', blockTimeMs: 2000, tick: true });
const config = `poll: {interval: 1s, timeout: 5s, stale_after: 30s}
targets:
  - {name: a, bridge: {url: "${simulator.url}"}, crosschain: {url: "${simulator.url}", window: 500, rate: 1000000}}
  - {name: 'b "\\😀', bridge: {url: "${simulator.url}"}, crosschain: {url: "${simulator.url}"}}
`;
const daemon = await startDaemon([`--config.file=${folder.write('config.yml', config)}`]);
await waitUntil(async () => (await get(`${daemon.url}/-/ready`)).status === 200);

const OPENMETRICS = 'application/openmetrics-text; version=1.0.0';

describe('the metrics page', () => {
  it.skipIf(!hasPromtool)('passes promtool check metrics in both formats', async () => {
    expect(runTool('promtool', ['check', 'metrics'], await scrape(daemon))).toEqual({ status: 0, output: '' });
    // promtool parses the text format, in which the HELP line of a counter has the suffix _total, and reports only that.
    const { output } = runTool('promtool', ['check', 'metrics'], await scrape(daemon, OPENMETRICS));
    const problems = output.split('\n').filter((line) => line !== '');
    expect(problems.filter((line) => !/^\w+_total no help text$/.test(line))).toEqual([]);
  });
});

describeIf(hasTool('prometheus'), 'a Prometheus', async () => {
  /** Forwards scrapes without their `Accept` header, like a scraper that supports only the text format. */
  const textFormatProxy = createServer((_request, response) => {
    httpGet(`${daemon.url}/metrics`, (upstream) => {
      response.writeHead(upstream.statusCode ?? 500, upstream.headers);
      upstream.pipe(response);
    });
  });
  const proxyPort = await listenOnFreePort(textFormatProxy);
  const authority = createAuthority();
  const own = authority.issue('exporter', ['DNS:exporter.example.org']);
  const client = authority.issue('prometheus');
  const web = `tls_server_config:
  cert_file: ${own.certFile}
  key_file: ${own.keyFile}
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ${authority.certFile}
basic_auth_users: {prometheus: ${hashSync('a:pässword', 4).replace('$2b$', '$2y$')}}
`;
  /** Serves over TLS to those who have a certificate and a password. */
  const guarded = await startDaemon([`--web.config.file=${folder.write('web.yml', web)}`], {
    BRIDGE_URL: simulator.url,
  });
  const guardedJob = (name: string, password: string): string => `  - job_name: ${name}
    scheme: https
    tls_config: {ca_file: ${authority.certFile}, server_name: exporter.example.org, cert_file: ${client.certFile}, key_file: ${client.keyFile}}
    basic_auth: {username: prometheus, password: "${password}"}
    static_configs: [{targets: ["${new URL(guarded.url).host}"]}]
`;
  const prometheus = await startPrometheus(
    folder,
    `global: {scrape_interval: 3s, scrape_timeout: 3s}
scrape_configs:
  - {job_name: openmetrics, static_configs: [{targets: ["${new URL(daemon.url).host}"]}]}
  - {job_name: text, static_configs: [{targets: ["127.0.0.1:${proxyPort}"]}]}
${guardedJob('guarded', 'a:pässword')}${guardedJob('rejected', 'another')}`,
  );
  await waitUntil(async () => {
    const counts = await prometheus.query('count_over_time(up[1h])');
    return counts.length === 4 && counts.every(({ value }) => Number(value[1]) >= 2);
  });

  it('scrapes in both formats, and over TLS with a certificate and the password, without an error', async () => {
    const targets = await prometheus.activeTargets();
    const states = targets.map(({ scrapePool, lastError }) => [scrapePool, lastError]);
    expect(Object.fromEntries(states)).toEqual({
      openmetrics: '',
      text: '',
      guarded: '',
      rejected: 'server returned HTTP status 401 Unauthorized',
    });
  });

  it('stores every family of the exposition in both formats', async () => {
    const exposed = new Set(seriesOf(await scrape(daemon)).map(({ name }) => name));
    for (const job of ['openmetrics', 'text']) {
      // A family that begins or ends between two scrapes is in only one of them.
      await waitFor(
        async () => {
          const names = await prometheus.query(`group by (__name__) (last_over_time({job="${job}"}[5m]))`);
          const stored = new Set(names.map(({ metric }) => metric['__name__'] ?? ''));
          return [...exposed].filter((name) => !stored.has(name));
        },
        (missing) => missing.length === 0,
      );
    }
    const [dropped] = await prometheus.query('sum(scrape_samples_scraped - scrape_samples_post_metric_relabeling)');
    expect(dropped?.value[1]).toBe('0');
    const targets = await prometheus.query('group by (target) (bridge_batches{job="openmetrics"})');
    expect(targets.map(({ metric }) => metric['target'] ?? '').toSorted()).toEqual(['a', 'b "\\😀']);
  });
});
