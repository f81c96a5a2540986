import type { RequestListener, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { get } from '../support/http.js';
import { waitUntil } from '../support/wait-for.js';
import { rawClient, requestText } from './clients.js';
import { createHeldScrapes, createTestApp, serve } from './test-app.js';

/*
 * The server against misbehaving clients, over real sockets and with shortened time limits.
 */
const LARGE = 'x'.repeat(30_000_000);

describe('a slow client', () => {
  it.each([
    ['sends nothing', ''],
    ['does not finish its headers', 'GET / HTTP/1.1\r\nHost: test\r\nX-Slow: '],
  ])('is disconnected if it %s', async (_title, text) => {
    const { url } = await serve(createTestApp(), { limits: { headersMs: 200, requestMs: 400 } });
    const began = performance.now();
    const client = await rawClient(url, text);
    const drip = setInterval(() => client.socket.write(text === '' ? '' : 'a'), 50);
    const received = await client.closed;
    clearInterval(drip);
    expect(received).toMatch(text === '' ? /^(HTTP\/1\.1 408 |$)/ : /^HTTP\/1\.1 408 /);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('is disconnected after the keep-alive timeout', async () => {
    const { url } = await serve(createTestApp(), { limits: { keepAliveMs: 100 } });
    const client = await rawClient(url, requestText('/-/healthy'));
    expect(await client.closed).toContain('healthy\n');
  });

  it('is counted as in flight while it does not read its response, until it is disconnected', async () => {
    let scrapes = 0;
    const metrics = async (): Promise<string> => {
      scrapes += 1;
      return scrapes === 1 ? LARGE : 'small';
    };
    const scrapeSlowly = async (responseMs: number): Promise<string> => {
      scrapes = 0;
      const { url } = await serve(createTestApp({ metrics }, { maxRequests: 1 }), { limits: { responseMs } });
      const slow = await rawClient(url, requestText('/metrics'));
      slow.socket.pause();
      await waitUntil(() => scrapes === 1);
      return url;
    };
    const patient = await scrapeSlowly(60_000);
    expect((await get(`${patient}/metrics`)).status).toBe(503);
    const strict = await scrapeSlowly(200);
    await waitUntil(async () => (await get(`${strict}/metrics`)).status === 200);
    expect(scrapes).toBe(2);
  });
});

describe('the connection limit', () => {
  it('closes connections over it, and accepts connections again below it', async () => {
    const { url } = await serve(createTestApp(), { limits: { connections: 5 } });
    const clients = await Promise.all(Array.from({ length: 5 }, async () => rawClient(url)));
    const surplus = await rawClient(url, requestText('/-/healthy'));
    expect(await surplus.closed).toBe('');
    for (const { socket } of clients) socket.destroy();
    await Promise.all(clients.map(async ({ closed }) => closed));
    const status = await get(`${url}/-/healthy`).then(
      (response) => response.status,
      () => 0,
    );
    expect(status).toBe(200);
  });
});

describe('close', () => {
  it('ends idle connections and incomplete requests at once', async () => {
    const server = await serve(createTestApp(), { limits: { drainMs: 10_000 } });
    const idle = await rawClient(server.url, requestText('/-/healthy'));
    await waitUntil(() => idle.received().endsWith('healthy\n'));
    const silent = await rawClient(server.url);
    const half = await rawClient(server.url, 'GET / HTTP/1.1\r\nHost: a');
    const began = performance.now();
    await server.close();
    expect(performance.now() - began).toBeLessThan(5_000);
    await Promise.all([idle, silent, half].map(async ({ closed }) => closed));
  });

  it('completes a scrape in flight and accepts no new connection', async () => {
    const { metrics, release, arrived } = createHeldScrapes();
    const server = await serve(createTestApp({ metrics }), { limits: { drainMs: 10_000 } });
    const scrape = await rawClient(server.url, requestText('/metrics'));
    await waitUntil(() => arrived() === 1);
    const closing = server.close();
    // Usually refused. Another process can listen on the port by now.
    const late = await rawClient(server.url, requestText('/metrics')).catch(() => undefined);
    release('whole\n');
    expect(await scrape.closed).toMatch(/Connection: close\r\n[^]*whole\n$/);
    await closing;
    late?.socket.destroy();
    expect(arrived()).toBe(1);
  });

  it('does not cut off a response that is buffered and not received yet', async () => {
    let buffered: ServerResponse | undefined;
    const app: RequestListener = (_request, response) => {
      buffered = response.end(LARGE);
    };
    const server = await serve(app, { limits: { drainMs: 10_000 } });
    const slow = await rawClient(server.url, requestText('/'));
    slow.socket.pause();
    await waitUntil(() => buffered?.writableEnded === true);
    const began = performance.now();
    const closing = server.close();
    slow.socket.resume();
    expect((await slow.closed).length).toBeGreaterThan(LARGE.length);
    await closing;
    expect(performance.now() - began, 'the connection is closed after the response').toBeLessThan(5_000);
  });

  it('ends at its deadline when a client never reads', async () => {
    let buffered: ServerResponse | undefined;
    const server = await serve((_request, response) => {
      buffered = response.end(LARGE);
    });
    const slow = await rawClient(server.url, requestText('/'));
    slow.socket.pause();
    await waitUntil(() => buffered?.writableEnded === true);
    const began = performance.now();
    await server.close();
    expect(performance.now() - began).toBeGreaterThan(250);
    expect(performance.now() - began).toBeLessThan(5_000);
    slow.socket.destroy();
  });
});
