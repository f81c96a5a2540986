import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClient, type FetchResult } from '../../src/http/client.js';
import type { Fault } from '../../src/simulator/faults.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { listenOnFreePort } from '../support/ports.js';
import { startTestSimulator } from '../support/test-simulator.js';

const PATH = '/bridge/v1/module_state';
const LIMITS = { timeoutMs: 10_000, maxBodyBytes: 8 * 1024 * 1024 };

let simulator: Simulator;
const client = createClient('test/1');

beforeAll(async () => {
  simulator = await startTestSimulator();
});

beforeEach(() => {
  simulator.fault('module_state', undefined);
});

afterAll(async () => {
  await client.close();
  await simulator.close();
});

function fetchState(limits: Partial<typeof LIMITS> = {}): Promise<FetchResult> {
  return client.fetch(new URL(simulator.url + PATH), { ...LIMITS, ...limits });
}

function failure(result: FetchResult): { reason: string; message: string } {
  if (result.ok) throw new Error('the fetch succeeded');
  return result.error;
}

describe('fetching a document', () => {
  it('gives the decoded body and the hub height of the header', async () => {
    const result = await fetchState();
    if (!result.ok) throw new Error(result.error.message);
    expect(result.height).toBe(String(simulator.model.height));
    expect(JSON.parse(result.body.bytes.toString())).toEqual(simulator.model.moduleState());
  });

  it('has no height without the header or with one that is no number', async () => {
    for (const value of [null, 'soon']) {
      simulator.fault('module_state', { kind: 'height', value });
      expect(await fetchState()).toMatchObject({ ok: true, height: undefined });
    }
  });

  it.each<[string, Fault, Partial<typeof LIMITS>, string, RegExp]>([
    ['no answer', { kind: 'hang' }, { timeoutMs: 300 }, 'timeout', /took over 300 ms \(poll\.timeout\)/],
    ['half a body', { kind: 'stall' }, { timeoutMs: 300 }, 'timeout', /took over 300 ms/],
    ['a drip', { kind: 'drip', bytes: 1, everyMs: 20 }, { timeoutMs: 300 }, 'timeout', /took over 300 ms/],
    ['a cut connection', { kind: 'truncate' }, {}, 'aborted', /was cut off/],
    ['a reset', { kind: 'reset' }, {}, 'aborted', /was cut off/],
    ['what is not HTTP', { kind: 'garbage' }, {}, 'aborted', /was cut off/],
    [
      'a long body',
      { kind: 'oversize', bytes: 65 * 1024 * 1024 },
      {},
      'too_large',
      /is over 8MiB \(poll\.max_body_size\)/,
    ],
    ['a gzip bomb', { kind: 'gzip-bomb', bytes: 256 * 1024 * 1024 }, {}, 'too_large', /is over 8MiB/],
    ['a wrong encoding', { kind: 'bad-encoding' }, {}, 'not_json', /cannot be decoded/],
    ['a redirect', { kind: 'redirect', location: 'http://127.0.0.1:1/' }, {}, 'status', /status 302/],
    ['a 500', { kind: 'status', code: 500 }, {}, 'status', /status 500/],
    ['a 204', { kind: 'status', code: 204 }, {}, 'status', /status 204/],
    ['a 401', { kind: 'status', code: 401 }, {}, 'unauthorized', /status 401/],
    ['a 403', { kind: 'status', code: 403, body: '<html>' }, {}, 'unauthorized', /status 403$/],
    ['a 429', { kind: 'status', code: 429, body: 'slow down' }, {}, 'rate_limited', /status 429$/],
    [
      'a 429 of code 8',
      { kind: 'status', code: 429, body: '{"code":8,"message":"grpc: received message larger than max"}' },
      {},
      'response_too_large_upstream',
      /status 429: grpc: received message larger than max/,
    ],
    [
      'a 400',
      { kind: 'status', code: 400, body: '{"code":3,"message":"window must be positive\\n","details":[]}' },
      {},
      'bad_request',
      /status 400: window must be positive$/,
    ],
  ])('%s', async (_title, fault, limits, reason, message) => {
    simulator.fault('module_state', fault);
    const error = failure(await fetchState(limits));
    expect(error).toEqual({ reason, message: expect.stringMatching(message) as string });
    expect(error.message).toContain(PATH);
  });

  it('does not go where a redirect points', async () => {
    const asked = simulator.requests.rate_limiter_input;
    simulator.fault('module_state', { kind: 'redirect', location: '/chain/crosschain/rateLimiterInput' });
    expect(failure(await fetchState()).reason).toBe('status');
    expect(simulator.requests.rate_limiter_input).toBe(asked);
  });

  it('an empty and an HTML body are bodies, for whoever reads them', async () => {
    simulator.fault('module_state', { kind: 'empty' });
    expect(await fetchState()).toMatchObject({ ok: true, body: Buffer.alloc(0) });
    simulator.fault('module_state', { kind: 'not-json' });
    expect((await fetchState()).ok).toBe(true);
  });
});

describe('a node that cannot be asked', () => {
  const open: (Server | Socket)[] = [];

  afterAll(() => {
    for (const one of open) {
      if ('close' in one) one.close();
      else one.destroy();
    }
  });

  async function answering(onSocket: (socket: Socket) => void): Promise<number> {
    const server = createServer((socket) => {
      open.push(socket);
      socket.on('error', () => undefined);
      onSocket(socket);
    });
    open.push(server);
    return listenOnFreePort(server);
  }

  async function reasonOf(url: string, timeoutMs = 10_000): Promise<string> {
    return failure(await client.fetch(new URL(url), { ...LIMITS, timeoutMs })).reason;
  }

  it('for want of a name, of a listener, of a handshake', async () => {
    const plain = await answering((socket) => socket.once('data', () => socket.end('no TLS here\r\n\r\n')));
    const closing = await answering((socket) => socket.destroy());
    expect(await reasonOf('http://node.invalid/')).toBe('dns');
    expect(await reasonOf('http://127.0.0.1:1/')).toBe('connect');
    expect(await reasonOf('https://127.0.0.1:1/')).toBe('connect');
    expect(await reasonOf(`https://127.0.0.1:${plain}/`)).toBe('tls');
    expect(await reasonOf(`https://127.0.0.1:${closing}/`)).toBe('tls');
    expect(await reasonOf(`http://127.0.0.1:${closing}/`)).toBe('aborted');
  });

  it('does not outlast the deadline while it shakes hands', async () => {
    const silent = await answering(() => undefined);
    const began = performance.now();
    expect(await reasonOf(`https://127.0.0.1:${silent}/`, 300)).toBe('timeout');
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('sends headers without end', async () => {
    const port = await answering((socket) =>
      socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`)),
    );
    expect(await reasonOf(`http://127.0.0.1:${port}/`)).toBe('too_large');
  });

  it.each([
    ['stalls', 'HTTP/1.1 429 Slow\r\ncontent-length: 1000\r\n\r\n{"code":8,', 'rate_limited'],
    ['has no end', `HTTP/1.1 503 No\r\n\r\n${'x'.repeat(200_000)}`, 'status'],
  ])('an error body that %s leaves its status to decide', async (_title, answer, reason) => {
    const port = await answering((socket) => socket.once('data', () => socket.write(answer)));
    expect(await reasonOf(`http://127.0.0.1:${port}/`, 700)).toBe(reason);
  });
});
