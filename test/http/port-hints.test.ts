import { clock } from '../support/clock.js';
import type { RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { portHint } from '../../src/config/urls.js';
import { repeatedPathHint } from '../../src/http/error-response.js';
import { createJobs } from '../../src/engine/jobs.js';
import { createNetwork } from '../../src/sources/network.js';
import { endpointUrl, parseValidConfig } from '../support/config.js';
import { pollNode, readerOf } from '../support/polls.js';
import { createAuthority } from '../support/certificates.js';
import { listen, startNode } from './nodes.js';

const network = createNetwork('test', clock);

async function errorOf(url: string, settings = ''): Promise<string> {
  const [job] = createJobs(parseValidConfig(`targets: [{name: a, bridge: {url: "${url}"${settings}}}]`));
  if (job === undefined) throw new Error('no job');
  const { outcome } = await pollNode(network, job);
  if (outcome.ok) throw new Error('the poll succeeded');
  return `${outcome.error.reason}: ${outcome.error.message}`.replaceAll(new URL(url).host, 'HOST');
}

const respondWith =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, headers).end(body);
  };

const REST_API = 'the REST API is usually on port 1317, of Injective on port 10337';

describe('a poll of another port of a node', () => {
  it.each([
    ['26657', `26657 is usually the RPC port of a node; ${REST_API}`],
    ['9090', `9090 is usually the gRPC port of a node; ${REST_API}`],
    ['8545', `8545 is usually the EVM JSON-RPC port of a node; ${REST_API}`],
    ['1317', undefined],
    ['', undefined],
  ])('is recognized by the port: %s', (port, hint) => {
    expect(portHint(new URL(`http://node.example:${port}`))).toBe(hint);
  });

  it('says so when the server closes a connection without TLS, unless it has served the document before', async () => {
    const authority = createAuthority();
    const { url } = await startNode({ tls: authority.issue('localhost') });
    const plain = url.replace('https:', 'http:');
    const hint = 'the server closed the connection without a response: is this port https?';
    expect(await errorOf(plain)).toMatch(/^aborted: HOST\/peggy\/v1\/module_state: connection lost: [\w ]+ — the/);
    expect(await errorOf(plain)).toContain(` — ${hint}`);
    const [job] = createJobs(parseValidConfig(`targets: [{name: a, bridge: {url: "${plain}"}}]`));
    const servedPath = { dialect: 'peggy', path: '/peggy/v1/module_state' } as const;
    const later = job && (await network.document(job, { servedPath }, readerOf(job)));
    expect(later).toMatchObject({ ok: false, error: { message: expect.not.stringContaining('https?') } });
  });

  it('has no hint if the server sends something else', async () => {
    const { url } = await startNode({ respond: respondWith(500, 'panic') });
    expect(await errorOf(url)).toBe('status: HOST/peggy/v1/module_state: responded with status 500: panic');
    const broken = await listen(
      createTcpServer((socket) => socket.end('no HTTP\r\n\r\n')),
      'http',
    );
    expect(await errorOf(broken.url)).not.toContain('—');
  });
});

describe('a redirect', () => {
  it('is not followed, and its target is shown without user, password and query', async () => {
    const location = 'https://user:secret@other.example/peggy/v1/module_state?token=secret#secret';
    const { url } = await startNode({ respond: respondWith(308, '', { location }) });
    expect(await errorOf(url, ', dialect: peggy')).toBe(
      'status: HOST/peggy/v1/module_state: responded with status 308, a redirect to https://other.example/peggy/v1/module_state, which is not followed',
    );
  });
});

describe('a base URL that ends with the beginning of the path', () => {
  it('is reported when no path is found', async () => {
    const { url } = await startNode({ respond: respondWith(501, '{"code":12,"message":"Not Implemented"}') });
    expect(await errorOf(`${url}/peggy/v1/`)).toContain(
      ' — the URL ends with /peggy/v1, and /peggy/v1/module_state is appended; did you mean http://HOST?',
    );
  });

  it.each([
    [
      'https://a.example/node/Peggy',
      'the URL ends with /peggy, and /peggy/v1/module_state is appended; did you mean https://a.example/…?',
    ],
    ['https://a.example/node', undefined],
    ['https://a.example', undefined],
    ['https://peggy', undefined],
  ])('is found: %s', (url, hint) => {
    expect(repeatedPathHint(endpointUrl(url), ['/bridge/v1/module_state', '/peggy/v1/module_state'])).toBe(hint);
  });
});
