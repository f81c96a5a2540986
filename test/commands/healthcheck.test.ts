import { hashSync } from 'bcryptjs';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAuthority } from '../support/certificates.js';
import { freePort, listenOnFreePort } from '../support/ports.js';
import { runExporter, startDaemon } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';

const authority = createAuthority();
const certificate = authority.issue('exporter', ['DNS:localhost', 'IP:127.0.0.1']);
const folder = createTempFolder();
const tls = `cert_file: ${certificate.certFile}\n  key_file: ${certificate.keyFile}`;
const users = `basic_auth_users: {prometheus: ${hashSync('secret', 4)}}\n`;

/** Starts a daemon with these flags on a free port of 127.0.0.1. */
async function startOnLoopback(flags: readonly string[] = []): Promise<string> {
  const daemon = await startDaemon(flags, { BRIDGE_URL: 'http://127.0.0.1:9' });
  onTestFinished(async () => void (await daemon.stop()));
  return new URL(daemon.url).port;
}

describe('healthcheck', () => {
  it.each(['127.0.0.1:', ':', '0.0.0.0:'])('succeeds while a daemon serves at %s', async (host) => {
    const port = await startOnLoopback();
    expect(await runExporter(['healthcheck', `--web.listen-address=${host}${port}`])).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    expect((await runExporter(['healthcheck'], { WEB_LISTEN_ADDRESS: `${host}${port}` })).code).toBe(0);
  });

  it.each([
    ['TLS', `tls_server_config:\n  ${tls}\n`],
    ['passwords', users],
    ['client certificates', `tls_server_config:\n  ${tls}\n  client_auth_type: RequireAndVerifyClientCert\n`],
  ])('succeeds with %s in the web configuration', async (_title, content) => {
    const flags = [`--web.config.file=${folder.write('web.yml', content)}`];
    const port = await startOnLoopback(flags);
    const args = ['healthcheck', `--web.listen-address=127.0.0.1:${port}`, ...flags];
    expect((await runExporter(args)).stderr).toBe('');
    expect((await runExporter(args)).code).toBe(0);
  });

  it('fails when nothing listens', async () => {
    const port = await freePort();
    expect(await runExporter(['healthcheck', `--web.listen-address=:${port}`])).toEqual({
      code: 1,
      stdout: '',
      stderr: `bridge-exporter: http://127.0.0.1:${port}/-/healthy: connect ECONNREFUSED 127.0.0.1:${port}\n`,
    });
  });

  it('fails when another program answers with an error', async () => {
    const server = createServer((_request, response) => response.writeHead(503).end());
    onTestFinished(() => void server.close());
    const port = await listenOnFreePort(server);
    const { code, stderr } = await runExporter(['healthcheck', `--web.listen-address=:${port}`]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `bridge-exporter: http://127.0.0.1:${port}/-/healthy: status 503\n`,
    });
  });

  it('fails when there is no response within four seconds', async () => {
    const server = createTcpServer(() => undefined);
    const port = await listenOnFreePort(server);
    const { code, stderr } = await runExporter(['healthcheck', `--web.listen-address=:${port}`]);
    server.close();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `bridge-exporter: http://127.0.0.1:${port}/-/healthy: timed out after 4000 ms\n`,
    });
  });

  it('fails with exit code 2 and the reason when the web configuration is invalid', async () => {
    const file = folder.write('invalid.yml', 'tls: 1\n');
    const { code, stderr } = await runExporter(['healthcheck', `--web.config.file=${file}`]);
    expect(code).toBe(2);
    expect(stderr).toContain('invalid.yml:1:1: tls: unknown key');
  });
});
