import { connect } from 'node:net';
import { once } from 'node:events';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { simulate } from '../../src/simulator/start.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { get, MODULE_STATE, RATE_LIMITER_INPUT } from './client.js';

const options = { host: '127.0.0.1', port: 0, seed: 1, scenario: 'truncated', blockTimeMs: 2000, tick: false } as const;

/** A busy machine needs more than the default second. */
const PATIENCE = { timeout: 20_000 };

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ ...options, startTime: 1_760_000_000 });
});
afterAll(() => simulator.close());

describe('the two queries', () => {
  it('answer with the documents of the model', async () => {
    const moduleState = await get(simulator, MODULE_STATE);
    const rateLimiterInput = await get(simulator, RATE_LIMITER_INPUT);
    expect([moduleState.status, rateLimiterInput.status]).toEqual([200, 200]);
    expect(JSON.parse(moduleState.text)).toEqual(simulator.model.moduleState());
    expect(JSON.parse(rateLimiterInput.text)).toEqual(simulator.model.rateLimiterInput());
  });

  it('say the type and the height in headers, which moves on with the chain', async () => {
    const before = await get(simulator, MODULE_STATE);
    simulator.advance(3);
    const after = await get(simulator, RATE_LIMITER_INPUT);
    expect(before.headers['content-type']).toBe('application/json');
    expect(after.headers['content-type']).toBe('application/json');
    const heights = [before, after].map(({ headers }) => Number(headers['grpc-metadata-x-cosmos-block-height']));
    expect(heights).toEqual([simulator.model.height - 3, simulator.model.height]);
  });

  it('give HEAD the same headers and no body', async () => {
    const [head, full] = [await get(simulator, MODULE_STATE, { method: 'HEAD' }), await get(simulator, MODULE_STATE)];
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', full.headers['content-length']]);
  });

  it('count how often they were asked', async () => {
    const before = { ...simulator.requests };
    await Promise.all([
      get(simulator, MODULE_STATE),
      get(simulator, `${RATE_LIMITER_INPUT}?limit=x`),
      get(simulator, '/'),
    ]);
    expect(simulator.requests).toEqual({
      module_state: before.module_state + 1,
      rate_limiter_input: before.rate_limiter_input + 1,
    });
  });

  it.each([
    ['gzip', true],
    ['br;q=1.0, gzip;q=0.8, *;q=0.1', true],
    ['GZIP', true],
    ['gzip;q=0', false],
    ['gzip; q=0.0, br', false],
    ['identity', false],
    ['x-gzipped', false],
  ])('are compressed by Accept-Encoding: %s', async (encoding, isCompressed) => {
    const { headers, bytes, text } = await get(simulator, MODULE_STATE, { headers: { 'Accept-Encoding': encoding } });
    expect(headers['content-encoding']).toBe(isCompressed ? 'gzip' : undefined);
    expect((isCompressed ? gunzipSync(bytes) : bytes).toString()).toBe(text);
    expect(JSON.parse(text)).toEqual(simulator.model.moduleState());
  });
});

describe('limit and window', () => {
  it.each([
    ['', 500],
    ['?limit=3', 3],
    ['?limit=0', 500],
    ['?limit=501', 500],
    ['?limit=007', 7],
    ['?limit=9223372036854775807', 500],
    ['?window=500&limit=2&pagination.key=abc&limit=x', 2],
  ])('%s lists %i pending', async (query, count) => {
    const { status, text } = await get(simulator, `${RATE_LIMITER_INPUT}${query}`);
    expect([status, JSON.parse(text).cctxs_pending.length]).toEqual([200, count]);
  });

  it.each([
    ['?window=0', 0n],
    ['?window=100', 100n],
    ['', 500n],
    ['?window=9223372036854775807', 2n ** 63n - 1n],
  ])('%s sums up the past of that many blocks', async (query, window) => {
    const { text } = await get(simulator, `${RATE_LIMITER_INPUT}${query}`);
    expect(JSON.parse(text).past_cctxs_value).toBe(simulator.model.rateLimiterInput({ window }).past_cctxs_value);
  });

  const wrong = [
    '-1',
    '1.5',
    '0x10',
    '1e3',
    '',
    '%20',
    '%2B1',
    'ten',
    '%EF%BC%91',
    '9223372036854775808',
    '9'.repeat(60),
  ];
  const queries = ['limit', 'window'].flatMap((name) => wrong.map((text) => [name, text] as const));
  it.each(queries)('%s=%s is refused', async (name, text) => {
    const { status, headers, text: body } = await get(simulator, `${RATE_LIMITER_INPUT}?${name}=${text}`);
    expect([status, headers['content-type']]).toEqual([400, 'application/json']);
    const { code, message, details, ...others } = JSON.parse(body);
    expect({ code, details, others }).toEqual({ code: 3, details: [], others: {} });
    expect(message).toMatch(
      new RegExp(`^type mismatch, parameter: ${name}, error: parsing ".*": (not decimal digits|value out of range)$`),
    );
  });

  it('are not looked at by the other query', async () => {
    expect((await get(simulator, `${MODULE_STATE}?limit=x&height=1`)).status).toBe(200);
  });
});

describe('what the service does not have', () => {
  it.each([
    '/',
    '/bridge/v1',
    '/bridge/v1/module_state/',
    '/bridge/v2/module_state',
    '/chain/crosschain/ratelimiterinput',
    '/toString',
    '//',
  ])('%s is not implemented', async (path) => {
    const { status, headers, text } = await get(simulator, path);
    expect([status, headers['content-type']]).toEqual([501, 'application/json']);
    expect(text).toBe('{"code":12,"message":"Not Implemented","details":[]}');
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('%s is no allowed method', async (method) => {
    const { status, text } = await get(simulator, MODULE_STATE, { method });
    expect([status, text]).toEqual([501, '{"code":12,"message":"Method Not Allowed","details":[]}']);
  });
});

describe('starting and closing', () => {
  it('blocks come by themselves unless told otherwise', async () => {
    const ticking = await startSimulator({ ...options, blockTimeMs: 10, tick: true });
    const first = ticking.model.height;
    await expect.poll(() => ticking.model.height, PATIENCE).toBeGreaterThan(first + 2);
    await ticking.close();
    const last = ticking.model.height;
    await startSimulator(options).then((other) => other.close());
    expect(ticking.model.height).toBe(last);
  });

  it('the scenario changes while it runs', async () => {
    const running = await startSimulator({ ...options, scenario: 'healthy' });
    running.setScenario('stuck');
    expect(running.model.scenario).toBe('stuck');
    await running.close();
  });

  it('an address in use is a clear error', async () => {
    const { port } = new URL(simulator.url);
    await expect(startSimulator({ ...options, port: Number(port) })).rejects.toThrow(
      `the simulator cannot listen on 127.0.0.1:${port}: it is in use; --listen=:0 takes any free port`,
    );
  });

  it('an address that is not of this machine is a clear error', async () => {
    await expect(startSimulator({ ...options, host: '203.0.113.1' })).rejects.toThrow(
      /^the simulator cannot listen on 203\.0\.113\.1:0: .*EADDRNOTAVAIL/,
    );
  });

  it('close ends connections that wait for an answer, and a second one does no harm', async () => {
    const closing = await startSimulator(options);
    closing.fault('module_state', { kind: 'hang' });
    const socket = connect(Number(new URL(closing.url).port), '127.0.0.1');
    socket.write(`GET ${MODULE_STATE} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await expect.poll(() => closing.requests.module_state, PATIENCE).toBe(1);
    const ended = once(socket, 'close');
    await closing.close();
    await ended;
    await closing.close();
    expect(socket.destroyed).toBe(true);
  });

  it('the command says what it plays and where it listens', async () => {
    const lines: string[] = [];
    const settings = {
      listen: { port: 0 },
      seed: 9,
      scenario: 'stuck',
      blockTimeMs: 2000,
      startTimeSeconds: 1_790_000_000,
    };
    const say = (line: string) => lines.push(line);
    const progress = (line: string) => lines.push(`progress: ${line}`);
    const started = await simulate(settings, say, progress);
    await started.close();
    expect(lines).toEqual([
      'simulated chain: scenario stuck, seed 9, a block every 2s',
      `  ${started.url}${MODULE_STATE}`,
      `  ${started.url}${RATE_LIMITER_INPUT}`,
    ]);
    lines.length = 0;
    await (await simulate({ ...settings, blockTimeMs: 120_000 }, say, progress)).close();
    expect(lines.slice(0, 2)).toEqual([
      'progress: living through 10h of the chain first, at 2m a block …',
      'simulated chain: scenario stuck, seed 9, a block every 2m',
    ]);
  });
});
