import { clock } from '../support/clock.js';
import type { RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { portHint } from '../../src/config/urls.js';
import { createJobs } from '../../src/engine/jobs.js';
import { createNetwork } from '../../src/sources/network.js';
import { parseValidConfig } from '../support/config.js';
import { pollNode } from '../support/polls.js';
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
