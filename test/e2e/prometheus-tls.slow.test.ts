import { hashSync } from 'bcryptjs';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulator } from '../../src/simulator/simulator.js';
import { createAuthority, type Certificate } from '../support/certificates.js';
import { startDaemon, type Daemon } from '../support/processes.js';
import { startPrometheus, type Prometheus } from '../support/prometheus.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { hasTool } from '../support/tools.js';
import { waitUntil } from '../support/wait-for.js';

/*
 * Prometheus scrapes over TLS with a client certificate and a password. The web configuration file is one that works with
 * node_exporter, too.
 */
const password = 'a:pässword';
const webConfig = `
tls_server_config:
  cert_file: exporter.crt
  key_file: exporter.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.crt
  min_version: TLS12
http_server_config:
  headers:
    X-Content-Type-Options: nosniff
    Strict-Transport-Security: max-age=31536000
basic_auth_users:
  prometheus: ${hashSync(password, 10).replace('$2b$', '$2y$')}
`;

describe.skipIf(!hasTool('prometheus'))('a Prometheus', () => {
  const folder = createTempFolder();
  const authority = createAuthority();
  let simulator: Simulator;
  let daemon: Daemon;
  let prometheus: Prometheus;

  /** The web configuration names these files. */
  function installServerCertificate({ certFile, keyFile }: Certificate): void {
    copyFileSync(certFile, join(folder.path, 'exporter.crt'));
    copyFileSync(keyFile, join(folder.path, 'exporter.key'));
  }

  beforeAll(async () => {
    simulator = await startTestSimulator({ seed: 5, blockTimeMs: 500, tick: true });
    installServerCertificate(authority.issue('exporter', ['DNS:exporter.example.org']));
    copyFileSync(authority.certFile, join(folder.path, 'ca.crt'));
    daemon = await startDaemon([`--web.config.file=${folder.write('web.yml', webConfig)}`], {
      BRIDGE_URL: simulator.url,
      POLL_INTERVAL: '500ms',
    });
    const allowed = authority.issue('prometheus');
    const other = createAuthority('other authority').issue('prometheus');
    folder.write('password', password);
    const job = (name: string, client: Certificate, basicAuth: string): string =>
      `  - job_name: ${name}
    scheme: https
    tls_config: {ca_file: ca.crt, server_name: exporter.example.org, cert_file: ${client.certFile}, key_file: ${client.keyFile}}
    basic_auth: ${basicAuth}
    static_configs: [{targets: ["${new URL(daemon.url).host}"]}]
`;
    prometheus = await startPrometheus(
      folder,
      `global: {scrape_interval: 2s, scrape_timeout: 2s}
scrape_configs:
${job('right', allowed, '{username: prometheus, password_file: password}')}
${job('wrong_password', allowed, '{username: prometheus, password: a}')}
${job('wrong_certificate', other, '{username: prometheus, password_file: password}')}
`,
    );
    await waitUntil(async () => (await successes()) >= 3);
    for (const rejected of ['wrong_password', 'wrong_certificate']) {
      await waitUntil(async () => (await failures(rejected)) >= 3);
    }
  });

  afterAll(async () => {
    await prometheus.stop();
    await daemon.stop();
    await simulator.close();
  });

  /** The sum of the values that a query returns. */
  async function sumOf(query: string): Promise<number> {
    const series = await prometheus.query(query);
    return series.reduce((sum, { value }) => sum + Number(value[1]), 0);
  }

  const successes = async (): Promise<number> => sumOf('sum_over_time(up{job="right"}[1h])');
  const failures = async (job: string): Promise<number> =>
    sumOf(`count_over_time(up{job="${job}"}[1h]) - sum_over_time(up{job="${job}"}[1h])`);

  it('needs both the certificate and the password to scrape', async () => {
    const targets = Object.fromEntries((await prometheus.activeTargets()).map((target) => [target.scrapePool, target]));
    expect(targets).toMatchObject({
      right: { health: 'up', lastError: '' },
      wrong_password: { health: 'down', lastError: 'server returned HTTP status 401 Unauthorized' },
      wrong_certificate: { health: 'down' },
    });
    expect(await sumOf('count_over_time(bridge_exporter_up{job="right"}[1h])')).toBeGreaterThan(0);
    expect(await sumOf('count_over_time(bridge_exporter_up{job!="right"}[1h])')).toBe(0);
  });

  it('is the only client: a connection without a certificate is rejected', async () => {
    const dispatcher = new Agent({ connect: { ca: authority.cert, servername: 'exporter.example.org' } });
    await expect(request(`${daemon.url}/metrics`, { dispatcher })).rejects.toThrow(
      /certificate required|other side closed|ECONNRESET/,
    );
    await dispatcher.close();
  });

  it('continues to scrape when the server certificate is renewed', async () => {
    installServerCertificate(authority.issue('renewed', ['DNS:exporter.example.org']));
    await daemon.logged(/web configuration reloaded/);
    const before = await successes();
    await waitUntil(async () => (await successes()) >= before + 2);
    expect(await failures('right')).toBe(0);
  });
});
