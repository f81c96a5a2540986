import { hashSync } from 'bcryptjs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runHealthcheck } from '../../src/commands/healthcheck.js';
import { createTestApp, serve, webConfigOf } from '../server/test-app.js';
import { createAuthority } from '../support/certificates.js';
import { createTestContext, optionsOf } from '../support/command-context.js';
import { freePort } from '../support/ports.js';
import { runExporter } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';

const authority = createAuthority();
const certificate = authority.issue('exporter', ['DNS:localhost', 'IP:127.0.0.1']);
const folder = createTempFolder();
const tls = `cert_file: ${certificate.certFile}\n  key_file: ${certificate.keyFile}`;

async function check(...flags: readonly string[]) {
  const context = createTestContext();
  return { code: await runHealthcheck(await optionsOf(['healthcheck', ...flags]), context), stderr: context.stderr };
}

/** Listens on one address of loopback until the end of the test. Returns the port. */
async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  await once(server.listen(0, host), 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

/** The addresses of loopback that this machine has. */
const LOOPBACK = ['127.0.0.1', '::1'].filter((address) =>
  Object.values(networkInterfaces()).some((interfaces) => interfaces?.some((own) => own.address === address)),
);

describe('healthcheck', () => {
  it.each(LOOPBACK)('succeeds if the daemon listens at %s', async (host) => {
    const port = await listen(createServer(createTestApp()), host);
    const addresses = host === '::1' ? ['[::1]'] : ['', 'localhost', '0.0.0.0', '[::]', host];
    for (const address of addresses) {
      expect(await check(`--web.listen-address=${address}:${port}`), address).toEqual({ code: 0, stderr: [] });
    }
  });

  it.each([
    ['TLS', `tls_server_config:\n  ${tls}\n`],
    ['passwords', `basic_auth_users: {prometheus: ${hashSync('secret', 4)}}\n`],
    [
      'client certificates',
      `tls_server_config:\n  ${tls}\n  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ${authority.certFile}\n`,
    ],
  ])('succeeds with %s in the web configuration', async (_title, content) => {
    const webConfig = await webConfigOf(content);
    const { host } = new URL((await serve(createTestApp(), { webConfig })).url);
    expect(await check(`--web.listen-address=${host}`, `--web.config.file=${webConfig.path}`)).toEqual({
      code: 0,
      stderr: [],
    });
  });

  it('fails when nothing listens, and names the addresses that it has tried', async () => {
    const port = await freePort();
    const { code, stdout, stderr } = await runExporter(['healthcheck'], { WEB_LISTEN_ADDRESS: `:${port}` });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toContain(`bridge-exporter: http://localhost:${port}/-/healthy: connection refused by 127.0.0.1`);
    // Of the addresses of localhost on this machine.
    for (const line of lines) expect(line).toMatch(/^bridge-exporter: http:\/\/localhost:\d+\/-\/healthy: \w+ .* by /);
  });

  it('fails when another program answers with an error', async () => {
    const port = await listen(createServer((_request, response) => response.writeHead(503).end()));
    expect(await check(`--web.listen-address=127.0.0.1:${port}`)).toEqual({
      code: 1,
      stderr: [`bridge-exporter: http://127.0.0.1:${port}/-/healthy: status 503`],
    });
  });

  it('fails when there is no response within four seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const server = createTcpServer();
    const port = await listen(server);
    const connected = once(server, 'connection');
    const checked = check(`--web.listen-address=127.0.0.1:${port}`);
    await connected;
    vi.advanceTimersByTime(4_000);
    expect(await checked).toEqual({
      code: 1,
      stderr: [`bridge-exporter: http://127.0.0.1:${port}/-/healthy: timed out after 4000 ms`],
    });
  });

  it('fails with exit code 2 and the reason when the web configuration is invalid', async () => {
    const file = folder.write('invalid.yml', 'tls: 1\n');
    expect(await check(`--web.config.file=${file}`)).toEqual({
      code: 2,
      stderr: [expect.stringContaining('invalid.yml:1:1: tls: is not a supported key')],
    });
  });
});
