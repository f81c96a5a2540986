import type { ServerResponse } from 'node:http';
import type { Listener } from '../../src/server/listener.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { createRoutes, type RouteHandlers, type RouteOptions } from '../../src/server/routes.js';
import { serverLimits, startWebServer, type ServerLimits, type WebServer } from '../../src/server/server.js';
import { rawClient, requestText } from './raw-client.js';

/*
 * The server against clients that misbehave, over real sockets. Time limits are shortened, nothing else.
 */
const log = pino({ level: 'silent' });
const LARGE = 'x'.repeat(30_000_000);
let servers: WebServer[] = [];

afterEach(async () => {
  await Promise.all(servers.map(async (server) => server.close()));
  servers = [];
});

async function start(listener: Listener, limits: Partial<ServerLimits> = {}): Promise<WebServer> {
  const server = await startWebServer(
    listener,
    { host: '127.0.0.1', port: 0 },
    { log, limits: { ...serverLimits, drainMs: 300, ...limits } },
  );
  servers.push(server);
  return server;
}

const shown: RouteHandlers = {
  metrics: async () => Buffer.from('metrics\n'),
  statusPage: () => '<!doctype html>',
  pendingPage: () => '<!doctype html>',
  pendingDocument: () => ({ generatedAt: '', endpoints: [] }),
  notReady: () => [],
  reload: async () => ({ ok: true }),
};
const options: RouteOptions = { telemetryPath: '/metrics', maxRequests: 2, enableLifecycle: false };

/** An app whose scrapes wait to be let go. */
function heldApp(): { app: Listener; release: (text: string) => void; arrived: () => number } {
  const waiting = new Set<(body: Buffer) => void>();
  let arrivals = 0;
  const metrics = (): Promise<Buffer> =>
    new Promise((resolve) => {
      arrivals += 1;
      waiting.add(resolve);
    });
  const release = (text: string): void => {
    for (const resolve of waiting) resolve(Buffer.from(text));
    waiting.clear();
  };
  return { app: createRoutes({ ...shown, metrics }, options, log), release, arrived: () => arrivals };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

async function get(url: string, method: 'GET' | 'HEAD' | 'POST' | 'DELETE' = 'GET') {
  const { statusCode, headers, body } = await request(url, { method });
  return { status: statusCode, headers, text: await body.text() };
}

describe('what every answer says', () => {
  it.each(['/', '/metrics', '/pending', '/-/healthy', '/-/ready', '/none', '/-/reload'])('%s', async (path) => {
    const { url } = await start(createRoutes(shown, options, log));
    const { headers } = await get(url + path);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; script-src 'sha256-[\w+/=]{44}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      ) as string,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('etag');
  });

  it('a fault is a line in the log, and nobody outside sees it', async () => {
    const metrics = (): Promise<Buffer> => Promise.reject(new Error('the secret place'));
    const { url } = await start(createRoutes({ ...shown, metrics }, options, log));
    expect(await get(`${url}/metrics`)).toMatchObject({
      status: 500,
      text: 'internal error\n',
      headers: { 'x-frame-options': 'DENY' },
    });
  });
});

describe('methods and paths', () => {
  it.each([
    ['HEAD', '/metrics', 200, undefined],
    ['GET', '/metrics?x=1', 200, undefined],
    ['GET', '/Metrics/', 200, undefined],
    ['HEAD', '/none', 404, undefined],
    ['POST', '/metrics', 405, 'GET, HEAD'],
    ['DELETE', '/-/healthy', 405, 'GET, HEAD'],
    ['GET', '/-/reload', 405, 'POST, PUT'],
    ['POST', '/-/reload', 403, undefined],
    ['POST', '/none', 404, undefined],
  ] as const)('%s %s', async (method, path, status, allow) => {
    const { url } = await start(createRoutes(shown, options, log));
    const answer = await get(url + path, method);
    expect({ status: answer.status, allow: answer.headers['allow'] }).toEqual({ status, allow });
    expect(answer.text === '').toBe(method === 'HEAD');
  });

  it.each([
    ['a URL over the limit of headers', requestText(`/${'a'.repeat(20_000)}`), /^HTTP\/1\.1 431 /],
    ['headers over their limit', requestText('/', { 'X-Long': 'a'.repeat(20_000) }), /^HTTP\/1\.1 431 /],
    ['what is not HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a path that cannot be decoded', requestText('/%c0%80', { Connection: 'close' }), /^HTTP\/1\.1 404 /],
    ['a path that goes up', requestText('/../../etc/passwd', { Connection: 'close' }), /^HTTP\/1\.1 404 /],
    ['two lengths of a body', requestText('/', { 'Content-Length': '1', 'content-length': '2' }), /^HTTP\/1\.1 400 /],
    ['TRACE', requestText('/metrics', { Connection: 'close' }, 'TRACE'), /^HTTP\/1\.1 405 /],
    ['an upgrade', requestText('/none', { Connection: 'Upgrade', Upgrade: 'h2c' }), /^HTTP\/1\.1 404 /],
  ])('%s is refused', async (_title, text, answer) => {
    const { url } = await start(createRoutes(shown, options, log));
    const client = await rawClient(url, text);
    await until(() => client.received() !== '');
    client.socket.destroy();
    expect(client.received()).toMatch(answer);
    expect(client.received()).not.toContain('    at ');
    expect((await get(`${url}/metrics`)).status, 'and others are served').toBe(200);
  });

  it('a body is not waited for: the answer comes, and the connection ends with it', async () => {
    const { url } = await start(createRoutes(shown, options, log));
    const endless = await rawClient(
      url,
      `${requestText('/metrics', { 'Transfer-Encoding': 'chunked' })}5\r\nhello\r\n`,
    );
    expect(await endless.closed).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n[^]*metrics\n$/);
    const empty = await get(`${url}/metrics`, 'POST');
    expect(empty.headers['connection']).toBe('keep-alive');
  });
});

describe('clients that take their time', () => {
  it.each([
    ['says nothing', ''],
    ['does not end its headers', 'GET / HTTP/1.1\r\nHost: test\r\nX-Slow: '],
  ])('one that %s is cut off', async (_title, text) => {
    const { url } = await start(createRoutes(shown, options, log), { headersMs: 200, requestMs: 400 });
    const began = performance.now();
    const client = await rawClient(url, text);
    const drip = setInterval(() => client.socket.write(text === '' ? '' : 'a'), 50);
    const answer = await client.closed;
    clearInterval(drip);
    expect(answer).toMatch(text === '' ? /^(HTTP\/1\.1 408 |$)/ : /^HTTP\/1\.1 408 /);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('one that keeps its connection without use is closed', async () => {
    const { url } = await start(createRoutes(shown, options, log), { idleMs: 100 });
    const client = await rawClient(url, requestText('/-/healthy'));
    expect(await client.closed).toContain('healthy\n');
  });

  it('one that does not read its answer is cut off, and its place is free again', async () => {
    let scrapes = 0;
    const metrics = async (): Promise<Buffer> => {
      scrapes += 1;
      return Buffer.from(scrapes === 1 ? LARGE : 'small');
    };
    const app = createRoutes({ ...shown, metrics }, { ...options, maxRequests: 1 }, log);
    const { url } = await start(app, { answerMs: 500 });
    const lazy = await rawClient(url, requestText('/metrics'));
    lazy.socket.pause();
    await until(() => scrapes > 0);
    expect((await get(`${url}/metrics`)).status).toBe(503);
    while ((await get(`${url}/metrics`)).status === 503) await sleep(20);
    expect(scrapes).toBe(2);
    lazy.socket.destroy();
  });

  it('more connections than allowed are turned away, and let in when there is room', async () => {
    const { url } = await start(createRoutes(shown, options, log), { connections: 5 });
    const clients = await Promise.all(Array.from({ length: 5 }, async () => rawClient(url)));
    const surplus = await rawClient(url, requestText('/-/healthy'));
    expect(await surplus.closed).toBe('');
    for (const { socket } of clients) socket.destroy();
    await Promise.all(clients.map(async ({ closed }) => closed));
    const status = await get(`${url}/-/healthy`).then(
      (answer) => answer.status,
      () => 0,
    );
    expect(status).toBe(200);
  });
});

describe('--web.max-requests', () => {
  it('refuses more scrapes and pages at once, and never the health paths', async () => {
    const { app, release, arrived } = heldApp();
    const { url } = await start(app);
    const scrapes = [get(`${url}/metrics`), get(`${url}/metrics`)];
    await until(() => arrived() === 2);
    for (const path of ['/metrics', '/', '/pending']) {
      const refused = await get(url + path);
      expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1', 'x-frame-options': 'DENY' } });
      expect(refused.text).toBe('over 2 requests at once (--web.max-requests)\n');
    }
    expect((await get(`${url}/-/healthy`)).status).toBe(200);
    release('done\n');
    expect((await Promise.all(scrapes)).map(({ text }) => text)).toEqual(['done\n', 'done\n']);
    expect((await get(url)).status).toBe(200);
  });

  it.each([
    ['leaves', 1],
    ['sends requests ahead and leaves', 2],
  ])('counts no longer a client that %s', async (_title, requests) => {
    const { app, release, arrived } = heldApp();
    const { url } = await start(app);
    const clients = await Promise.all(
      Array.from({ length: 2 / requests }, async () => rawClient(url, requestText('/metrics').repeat(requests))),
    );
    await until(() => arrived() === 2);
    for (const { socket } of clients) socket.destroy();
    await Promise.all(clients.map(async ({ closed }) => closed));
    // Held scrapes arrive again as soon as the places are free.
    while (arrived() < 4) {
      void get(`${url}/metrics`).catch(() => undefined);
      await sleep(20);
    }
    release('late\n');
    expect(arrived()).toBe(4);
  });
});

describe('the end', () => {
  it('comes at once with nothing but idle connections and half a request', async () => {
    const server = await start(createRoutes(shown, options, log), { drainMs: 10_000 });
    const idle = await rawClient(server.url, requestText('/-/healthy'));
    await until(() => idle.received().endsWith('healthy\n'));
    const silent = await rawClient(server.url);
    const half = await rawClient(server.url, 'GET / HTTP/1.1\r\nHost: a');
    const began = performance.now();
    await server.close();
    expect(performance.now() - began).toBeLessThan(500);
    await Promise.all([idle, silent, half].map(async ({ closed }) => closed));
  });

  it('lets a scrape in flight be answered, whole, and takes no new one', async () => {
    const { app, release, arrived } = heldApp();
    const server = await start(app, { drainMs: 10_000 });
    const scrape = await rawClient(server.url, requestText('/metrics'));
    await until(() => arrived() === 1);
    const closing = server.close();
    await expect(rawClient(server.url)).rejects.toThrow('ECONNREFUSED');
    release('whole\n');
    expect(await scrape.closed).toMatch(/Connection: close\r\n[^]*whole\n$/);
    await closing;
  });

  it('does not cut off an answer that is handed over and not read yet', async () => {
    let handedOver: ServerResponse | undefined;
    const answer: Listener = (_request, response) => {
      handedOver = response.end(LARGE);
    };
    const server = await start(answer, { drainMs: 10_000 });
    const slow = await rawClient(server.url, requestText('/'));
    slow.socket.pause();
    await until(() => handedOver?.writableEnded === true);
    const began = performance.now();
    const closing = server.close();
    slow.socket.resume();
    expect((await slow.closed).length).toBeGreaterThan(LARGE.length);
    await closing;
    expect(performance.now() - began, 'and the connection ends with it').toBeLessThan(5_000);
  });

  it('does not wait longer than its deadline for a client that never reads', async () => {
    let handedOver: ServerResponse | undefined;
    const server = await start((_request, response) => {
      handedOver = response.end(LARGE);
    });
    const lazy = await rawClient(server.url, requestText('/'));
    lazy.socket.pause();
    await until(() => handedOver?.writableEnded === true);
    const began = performance.now();
    await server.close();
    expect(performance.now() - began).toBeGreaterThan(250);
    expect(performance.now() - began).toBeLessThan(1_500);
    lazy.socket.destroy();
  });
});
