import type { RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { serverLimits, startWebServer, type ServerLimits, type WebServer } from '../../src/server/server.js';
import { get, rawClient, requestText, until } from './clients.js';
import { createHeldScrapes, createTestApp } from './test-app.js';

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

async function start(app: RequestListener, limits: Partial<ServerLimits> = {}): Promise<WebServer> {
  const server = await startWebServer(
    app,
    { host: '127.0.0.1', port: 0 },
    { log, limits: { ...serverLimits, drainMs: 300, ...limits } },
  );
  servers.push(server);
  return server;
}

describe('clients that take their time', () => {
  it.each([
    ['says nothing', ''],
    ['does not end its headers', 'GET / HTTP/1.1\r\nHost: test\r\nX-Slow: '],
  ])('one that %s is cut off', async (_title, text) => {
    const { url } = await start(createTestApp(), { headersMs: 200, requestMs: 400 });
    const began = performance.now();
    const client = await rawClient(url, text);
    const drip = setInterval(() => client.socket.write(text === '' ? '' : 'a'), 50);
    const answer = await client.closed;
    clearInterval(drip);
    expect(answer).toMatch(text === '' ? /^(HTTP\/1\.1 408 |$)/ : /^HTTP\/1\.1 408 /);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('one that keeps its connection without use is closed', async () => {
    const { url } = await start(createTestApp(), { idleMs: 100 });
    const client = await rawClient(url, requestText('/-/healthy'));
    expect(await client.closed).toContain('healthy\n');
  });

  it('one that does not read its answer is cut off, and its place is free again', async () => {
    let scrapes = 0;
    const metrics = async (): Promise<Buffer> => {
      scrapes += 1;
      return Buffer.from(scrapes === 1 ? LARGE : 'small');
    };
    const app = createTestApp({ metrics }, { maxRequests: 1 });
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
    const { url } = await start(createTestApp(), { connections: 5 });
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

describe('the end', () => {
  it('comes at once with nothing but idle connections and half a request', async () => {
    const server = await start(createTestApp(), { drainMs: 10_000 });
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
    const { metrics, release, arrived } = createHeldScrapes();
    const server = await start(createTestApp({ metrics }), { drainMs: 10_000 });
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
    const app: RequestListener = (_request, response) => {
      handedOver = response.end(LARGE);
    };
    const server = await start(app, { drainMs: 10_000 });
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
