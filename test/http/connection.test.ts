import type { RequestListener } from 'node:http';
import type { ServerOptions } from 'node:https';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createAuthority } from '../support/certificates.js';
import { outcome, startNode, startSilentServer, type Listening } from './nodes.js';
import { startProxy } from './proxy.js';

const authority = createAuthority();
const { cert, key } = authority.issue('node', ['IP:127.0.0.1']);
const tls: ServerOptions = { cert, key };
const trust = { tls_config: { ca_file: authority.certFile } };

const timeoutMs = 300;
const timedOut = `timeout: /state: timed out after ${timeoutMs} ms (poll.timeout)`;
const timedOutConnecting = `${timedOut} while connecting`;

let servers: readonly Listening[];

beforeEach(() => {
  servers = [];
});

function track<T extends Listening>(server: T): T {
  servers = [...servers, server];
  return server;
}

/** Expects that every server has accepted one connection, and sees it closed well before usual connect timeouts of 10 s. */
async function expectConnectionsClosed(): Promise<void> {
  expect(servers.map(({ connections }) => connections.total)).toEqual(servers.map(() => 1));
  await vi.waitFor(() => expect(servers.map(({ connections }) => connections.open)).toEqual(servers.map(() => 0)), {
    timeout: 3_000,
    interval: 10,
  });
}

interface Route {
  readonly title: string;
  readonly nodeTls?: ServerOptions;
  readonly proxy?: Parameters<typeof startProxy>[0];
}

const httpsRoutes: readonly Route[] = [
  { title: 'an https node', nodeTls: tls },
  { title: 'an https node behind an http proxy', nodeTls: tls, proxy: {} },
  { title: 'an https node behind an https proxy', nodeTls: tls, proxy: { tls } },
];

const routes: readonly Route[] = [
  { title: 'an http node' },
  { title: 'an http node behind an http proxy', proxy: {} },
  { title: 'an http node behind an https proxy', proxy: { tls } },
  ...httpsRoutes,
];

/** The client settings for a route. Starts the proxy. */
async function settingsFor({ proxy }: Route): Promise<Readonly<Record<string, unknown>>> {
  return proxy === undefined ? trust : { ...trust, proxy_url: track(await startProxy(proxy)).url };
}

describe.each(routes)('a connection to $title', (route) => {
  const start = async (respond?: RequestListener) =>
    track(await startNode({ ...(respond && { respond }), ...(route.nodeTls && { tls: route.nodeTls }) }));

  it('is closed after a complete response', async () => {
    const node = await start();
    expect(await outcome(node.url, await settingsFor(route))).toBe('ok');
    await expectConnectionsClosed();
  });

  it('is closed when the request times out before the headers', async () => {
    const node = await start(() => undefined);
    expect(await outcome(node.url, await settingsFor(route), { timeoutMs })).toBe(timedOut);
    expect(node.requests).toHaveLength(1);
    await expectConnectionsClosed();
  });

  it('is closed when the request times out while the node drips the body', async () => {
    const node = await start((_request, response) => {
      const timer = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(timer));
    });
    expect(await outcome(node.url, await settingsFor(route), { timeoutMs })).toBe(timedOut);
    expect(node.requests).toHaveLength(1);
    await expectConnectionsClosed();
  });

  it('is closed when the body is too large', async () => {
    const node = await start((_request, response) => response.write(' '.repeat(1000)));
    expect(await outcome(node.url, await settingsFor(route), { maxBodyBytes: 999 })).toMatch(/^too_large: /);
    await expectConnectionsClosed();
  });
});

describe.each(httpsRoutes)('a connection to $title', (route) => {
  it('is closed when the node does not answer the TLS handshake', async () => {
    const node = track(await startSilentServer('https'));
    expect(await outcome(node.url, await settingsFor(route), { timeoutMs })).toBe(timedOutConnecting);
    await expectConnectionsClosed();
  });
});

describe('a connection to a proxy', () => {
  it.each([
    ['http', undefined],
    ['https', tls],
  ])('is closed when the %s proxy does not respond to CONNECT', async (_scheme, proxyTls) => {
    const proxy = track(
      await startProxy({ onConnect: (socket) => socket.resume(), ...(proxyTls && { tls: proxyTls }) }),
    );
    const keys = { ...trust, proxy_url: proxy.url };
    expect(await outcome('https://127.0.0.1:1', keys, { timeoutMs })).toBe(timedOutConnecting);
    expect(proxy.requestLines).toEqual(['CONNECT 127.0.0.1:1']);
    await expectConnectionsClosed();
  });

  it('is closed when the proxy rejects CONNECT', async () => {
    const forbidden = 'HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n';
    const proxy = track(await startProxy({ onConnect: (socket) => socket.resume().write(forbidden) }));
    expect(await outcome('https://127.0.0.1:1', { proxy_url: proxy.url })).toMatch(/^unauthorized: /);
    await expectConnectionsClosed();
  });

  it.each(['http', 'https'])('is closed when it does not answer the TLS handshake, for an %s node', async (scheme) => {
    const proxy = track(await startSilentServer('https'));
    const keys = { ...trust, proxy_url: proxy.url };
    expect(await outcome(`${scheme}://127.0.0.1:1`, keys, { timeoutMs })).toBe(timedOutConnecting);
    await expectConnectionsClosed();
  });
});
