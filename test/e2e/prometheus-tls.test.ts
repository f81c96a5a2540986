import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashSync } from 'bcryptjs';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../src/simulator/simulator.js';
import { createAuthority } from '../support/certificates.js';
import { start, type Running } from '../support/processes.js';
import { hasTool } from '../support/tools.js';

/*
 * A real Prometheus scrapes over TLS, with a client certificate and a password, by a file as one would write it for
 * node_exporter.
 */
const password = 'a:pässword';
const webConfig = `
tls_server_config:
  cert_file: exporter.crt
  key_file: exporter.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.crt
  client_allowed_sans: [prometheus.example.org]
  min_version: TLS12
  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_AES_128_GCM_SHA256]
  curve_preferences: [CurveP256, X25519]
http_server_config:
  http2: true
  headers:
    X-Content-Type-Options: nosniff
    Strict-Transport-Security: max-age=31536000
basic_auth_users:
  prometheus: ${hashSync(password, 10).replace('$2b$', '$2y$')}
`;

describe.skipIf(!hasTool('prometheus'))('a real Prometheus', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-tls-'));
  const authority = createAuthority();
  let simulator: Simulator;
  let daemon: Running;
  let prometheus: ChildProcess;
  let url: string;

  beforeAll(async () => {
    const options = { host: '127.0.0.1', port: 0, seed: 5, scenario: 'healthy', blockTimeMs: 500 } as const;
    simulator = await startSimulator(options);
    const exporter = authority.issue('exporter', ['DNS:exporter.example.org']);
    copyFileSync(exporter.certFile, join(folder, 'exporter.crt'));
    copyFileSync(exporter.keyFile, join(folder, 'exporter.key'));
    copyFileSync(authority.certFile, join(folder, 'ca.crt'));
    writeFileSync(join(folder, 'web.yml'), webConfig);
    daemon = await start([`--web.config.file=${join(folder, 'web.yml')}`], {
      BRIDGE_URL: simulator.url,
      POLL_INTERVAL: '500ms',
    });
    await startPrometheus();
  });

  afterAll(async () => {
    const ended = once(prometheus, 'exit');
    prometheus.kill('SIGKILL');
    await ended;
    await daemon.stop();
    await simulator.close();
    rmSync(folder, { recursive: true });
  });

  async function startPrometheus(): Promise<void> {
    const known = authority.issue('prometheus', ['DNS:prometheus.example.org']);
    const other = authority.issue('other', ['DNS:other.example.org']);
    writeFileSync(join(folder, 'password'), password);
    const job = (name: string, client: typeof known, login: string): string =>
      `  - job_name: ${name}
    scheme: https
    tls_config: {ca_file: ca.crt, server_name: exporter.example.org, cert_file: ${client.certFile}, key_file: ${client.keyFile}}
    basic_auth: ${login}
    static_configs: [{targets: ["${new URL(daemon.url).host}"]}]
`;
    writeFileSync(
      join(folder, 'prometheus.yml'),
      `global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
${job('right', known, '{username: prometheus, password_file: password}')}
${job('wrong_password', known, '{username: prometheus, password: a}')}
${job('wrong_certificate', other, '{username: prometheus, password_file: password}')}
`,
    );
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const flags = [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    prometheus = spawn('prometheus', [...flags, '--log.level=error'], { stdio: 'ignore' });
    while ((await count('up == 1')) < 3 || (await count('up == 0')) < 6) await sleep(100);
  }

  /** How many samples there were in the last minute. */
  async function count(selector: string): Promise<number> {
    const expression = `sum(count_over_time((${selector})[1m:1s]))`;
    const { body } = await request(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`).catch(() => ({
      body: undefined,
    }));
    const answer = (await body?.json()) as { data?: { result: { value: [number, string] }[] } } | undefined;
    return Number(answer?.data?.result[0]?.value[1] ?? 0);
  }

  it('scrapes with certificate and password, and neither without the one nor without the other', async () => {
    const { body } = await request(`${url}/api/v1/targets`);
    const answer = (await body.json()) as {
      data: { activeTargets: { scrapePool: string; health: string; lastError: string }[] };
    };
    const targets = Object.fromEntries(answer.data.activeTargets.map((target) => [target.scrapePool, target]));
    expect(targets).toMatchObject({
      right: { health: 'up', lastError: '' },
      wrong_password: { health: 'down', lastError: 'server returned HTTP status 401 Unauthorized' },
      wrong_certificate: { health: 'down' },
    });
    expect(await count('bridge_exporter_up{job="right"}')).toBeGreaterThan(0);
    expect(await count('bridge_exporter_up{job!="right"}')).toBe(0);
  });

  it('is all that gets in: a stranger is not even answered', async () => {
    const dispatcher = new Agent({ connect: { ca: authority.cert, servername: 'exporter.example.org' } });
    await expect(request(`${daemon.url}/metrics`, { dispatcher })).rejects.toThrow(
      /certificate required|other side closed|ECONNRESET/,
    );
    await dispatcher.close();
  });

  it('goes on when the certificate is renewed', async () => {
    const renewed = authority.issue('renewed', ['DNS:exporter.example.org']);
    copyFileSync(renewed.certFile, join(folder, 'exporter.crt'));
    copyFileSync(renewed.keyFile, join(folder, 'exporter.key'));
    await daemon.logged(/web configuration reloaded/);
    const before = await count('up{job="right"} == 1');
    while ((await count('up{job="right"} == 1')) < before + 2) await sleep(100);
    expect(await count('up{job="right"} == 0')).toBe(0);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
