import { randomBytes } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createClient, type Client } from '../../src/http/client.js';
import type { Fault } from '../../src/simulator/simulator.js';
import { endpointUrl } from '../support/config.js';
import {
  badEncoding,
  drip,
  errorPage,
  garbage,
  gzipBomb,
  hang,
  oversize,
  redirect,
  reset,
  stall,
  truncate,
  withBody,
  withStatus,
} from '../support/faults.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { listen as listenAsNode } from './nodes.js';

const PATH = '/bridge/v1/module_state';
const LIMITS = { timeoutMs: 10_000, maxBodyBytes: 8 * 1024 * 1024 };

const LONG_HEADER = withStatus(200, undefined, { 'x-long': 'x'.repeat(64 * 1024) });
const BROTLI = withStatus(200, '{}', { 'Content-Encoding': 'br' });

const simulator = await startTestSimulator();
const client = createClient('test/1');

function requestState(limits: Partial<typeof LIMITS> = {}): ReturnType<Client['send']> {
  return client.send({ url: endpointUrl(simulator.url) }, PATH, { ...LIMITS, ...limits });
}

function failure(result: Awaited<ReturnType<Client['send']>>): { reason: string; message: string } {
  if (result.ok) throw new Error('the request succeeded');
  return result.error;
}

describe('a request', () => {
  it('returns the decoded body and the hub height of the header', async () => {
    const result = await requestState();
    if (!result.ok) throw new Error(result.error.message);
    expect(result.height).toBe(String(simulator.model.height));
    expect(JSON.parse(result.bytes.toString())).toEqual(simulator.model.moduleState());
  });

  it('returns gzip bodies of every size from connections that end right after them', async () => {
    const server = createServer((socket) => {
      socket.once('data', () => {
        const text = randomBytes(20_000 + Math.floor(Math.random() * 400_000)).toString('base64');
        const body = gzipSync(text);
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n`,
        );
        socket.end(body);
      });
    });
    const url = endpointUrl((await listenAsNode(server, 'http')).url);
    for (let request = 0; request < 50; request += 1) {
      const result = await client.send({ url }, '/', LIMITS);
      expect(result).toMatchObject({ ok: true });
    }
  });

  it.each<[string, Fault, Partial<typeof LIMITS>, string, RegExp]>([
    ['no response', hang, { timeoutMs: 300 }, 'timeout', /timed out after 300 ms \(poll\.timeout\)/],
    ['half a body', stall, { timeoutMs: 300 }, 'timeout', /timed out after 300 ms/],
    ['a dripping body', drip(1, 20), { timeoutMs: 300 }, 'timeout', /timed out after 300 ms/],
    ['a truncated body', truncate, {}, 'aborted', /connection lost: /],
    ['a connection reset', reset, {}, 'aborted', /connection lost: /],
    ['invalid HTTP', garbage, {}, 'aborted', /invalid HTTP response: /],
    ['a body over the limit', oversize(65 * 1024 * 1024), {}, 'too_large', /body is larger than 8MiB$/],
    ['a gzip bomb', gzipBomb(256 * 1024 * 1024), {}, 'too_large', /body is larger than 8MiB/],
    ['headers over 16 KiB', LONG_HEADER, {}, 'too_large', /headers are larger than 16 KiB$/],
    ['invalid gzip', badEncoding, {}, 'not_json', /invalid gzip encoding: /],
    ['an unsupported encoding', BROTLI, {}, 'not_json', /unsupported content encoding /],
    ['a redirect', redirect, {}, 'status', /status 302/],
    ['a 204', withStatus(204), {}, 'status', /status 204/],
    ['a 401', withStatus(401), {}, 'unauthorized', /status 401/],
    ['a 403', withStatus(403, '<html>'), {}, 'unauthorized', /status 403$/],
    ['a 429', withStatus(429, 'slow down'), {}, 'rate_limited', /status 429: slow down$/],
  ])('reports %s', async (_title, fault, limits, reason, message) => {
    simulator.fault('module_state', fault);
    const error = failure(await requestState(limits));
    expect(error).toMatchObject({ reason, message: expect.stringMatching(message) as string });
    expect(error.message).toContain(PATH);
  });

  it('returns an empty body and an HTML body, which are not its concern', async () => {
    simulator.fault('module_state', withBody(''));
    expect(await requestState()).toMatchObject({ ok: true, bytes: Buffer.alloc(0) });
    simulator.fault('module_state', errorPage);
    expect((await requestState()).ok).toBe(true);
  });
});

describe('a request to a broken server', () => {
  const listen = async (onSocket: (socket: Socket) => void): Promise<number> =>
    (await listenAsNode(createServer(onSocket), 'http')).port;

  async function reasonOf(url: string, { timeoutMs } = LIMITS): Promise<string> {
    return failure(await client.send({ url: endpointUrl(url) }, '/', { ...LIMITS, timeoutMs })).reason;
  }

  it('distinguishes DNS, connection, TLS and HTTP failures', async () => {
    const plain = await listen((socket) => socket.once('data', () => socket.end('no TLS here\r\n\r\n')));
    const closing = await listen((socket) => socket.destroy());
    expect(await reasonOf('http://node.invalid/')).toBe('dns');
    expect(await reasonOf('http://127.0.0.1:1/')).toBe('connect');
    expect(await reasonOf('https://127.0.0.1:1/')).toBe('connect');
    expect(await reasonOf(`https://127.0.0.1:${plain}/`)).toBe('tls');
    expect(await reasonOf(`https://127.0.0.1:${closing}/`)).toBe('tls');
    expect(await reasonOf(`http://127.0.0.1:${closing}/`)).toBe('aborted');
  });

  it.each([
    [
      'sends interim responses',
      'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}',
    ],
    [
      'names the character encoding as the content encoding',
      'HTTP/1.1 200 OK\r\ncontent-encoding: utf-8\r\ncontent-length: 2\r\n\r\n{}',
    ],
  ])('returns the body when the node %s', async (_title, response) => {
    const port = await listen((socket) => socket.once('data', () => socket.end(response)));
    const result = await client.send({ url: endpointUrl(`http://127.0.0.1:${port}`) }, '/', LIMITS);
    expect(result).toMatchObject({ ok: true, bytes: Buffer.from('{}') });
  });

  it.each([
    ['sends 100 Continue, which nobody asked for', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{}'],
    ['sends two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\n{}'],
    ['switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
    ['closes the connection before the headers are complete', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['closes the connection before the body is complete', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}'],
    ['sends an invalid chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n'],
  ])('reports a lost connection when the node %s', async (_title, response) => {
    const port = await listen((socket) => socket.once('data', () => socket.end(response)));
    expect(await reasonOf(`http://127.0.0.1:${port}/`)).toBe('aborted');
  });

  it.each([
    ['stalls', 'HTTP/1.1 429 Slow\r\ncontent-length: 1000\r\n\r\n{"code":8,', 'rate_limited'],
    ['is endless', `HTTP/1.1 503 No\r\n\r\n${'x'.repeat(200_000)}`, 'status'],
  ])('determines the reason by the status when the error body %s', async (_title, response, reason) => {
    const port = await listen((socket) => socket.once('data', () => socket.write(response)));
    expect(await reasonOf(`http://127.0.0.1:${port}/`, { ...LIMITS, timeoutMs: 700 })).toBe(reason);
  });
});
