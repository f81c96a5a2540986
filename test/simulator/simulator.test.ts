import { once } from 'node:events';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { get, type HttpResponse } from '../support/http.js';
import { hang } from '../support/faults.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { waitUntil } from '../support/wait-for.js';

const MODULE_STATE = '/bridge/v1/module_state';
const RATE_LIMITER_INPUT = '/chain/crosschain/rateLimiterInput';

const simulator = await startTestSimulator({ scenario: 'truncated', startTime: 1_760_000_000 });

const query = async (path: string, options?: Parameters<typeof get>[1]): Promise<HttpResponse> =>
  get(`${simulator.url}${path}`, options);

describe('the simulator', () => {
  it('responds to both queries with the documents of the model', async () => {
    const moduleState = await query(MODULE_STATE);
    const rateLimiterInput = await query(RATE_LIMITER_INPUT);
    expect([moduleState.status, rateLimiterInput.status]).toEqual([200, 200]);
    expect(JSON.parse(moduleState.text)).toEqual(simulator.model.moduleState());
    expect(JSON.parse(rateLimiterInput.text)).toEqual(simulator.model.rateLimiterInput());
  });

  it('sends the content type and the current height in headers', async () => {
    const before = await query(MODULE_STATE);
    simulator.model.advance(3);
    const after = await query(RATE_LIMITER_INPUT);
    expect(before.headers['content-type']).toBe('application/json');
    expect(after.headers['content-type']).toBe('application/json');
    const heights = [before, after].map(({ headers }) => Number(headers['grpc-metadata-x-cosmos-block-height']));
    expect(heights).toEqual([simulator.model.height - 3, simulator.model.height]);
  });

  it.each([
    ['gzip', true],
    ['br;q=1.0, gzip;q=0.8, *;q=0.1', true],
    ['gzip; q=0.0, br', false],
    ['x-gzipped', false],
  ])('negotiates compression for Accept-Encoding: %s', async (encoding, isCompressed) => {
    const { headers, bytes, text } = await query(MODULE_STATE, { headers: { 'Accept-Encoding': encoding } });
    expect(headers['content-encoding']).toBe(isCompressed ? 'gzip' : undefined);
    expect((isCompressed ? gunzipSync(bytes) : bytes).toString()).toBe(text);
    expect(JSON.parse(text)).toEqual(simulator.model.moduleState());
  });

  it.each([
    ['GET', '/', 'Not Implemented'],
    ['GET', '/bridge/v1/module_state/', 'Not Implemented'],
    ['GET', '/toString', 'Not Implemented'],
    ['GET', '//', 'Not Implemented'],
    ['POST', MODULE_STATE, 'Method Not Allowed'],
    ['OPTIONS', MODULE_STATE, 'Method Not Allowed'],
  ])('responds with 501 to %s %s', async (method, path, message) => {
    const { status, headers, text } = await query(path, { method });
    expect([status, headers['content-type']]).toEqual([501, 'application/json']);
    expect(text).toBe(`{"code":12,"message":"${message}","details":[]}`);
  });
});

describe('the query rateLimiterInput', () => {
  it.each([
    ['', 500],
    ['?limit=3', 3],
    ['?limit=0', 500],
    ['?limit=9223372036854775807', 500],
    ['?window=500&limit=2&pagination.key=abc&limit=x', 2],
  ])('with the parameters "%s" lists %i pending cctxs', async (parameters, count) => {
    const { status, text } = await query(`${RATE_LIMITER_INPUT}${parameters}`);
    expect([status, JSON.parse(text).cctxs_pending.length]).toEqual([200, count]);
  });

  it.each([
    ['?window=0', 0n],
    ['?window=100', 100n],
    ['', 500n],
    ['?window=9223372036854775807', 2n ** 63n - 1n],
  ])('with the parameters "%s" sums the past value of %i blocks', async (parameters, window) => {
    const { text } = await query(`${RATE_LIMITER_INPUT}${parameters}`);
    expect(JSON.parse(text).past_cctxs_value).toBe(simulator.model.rateLimiterInput({ window }).past_cctxs_value);
  });

  const invalidNumbers = ['-1', '1.5', '', '%EF%BC%91', '9223372036854775808'];
  const invalidParameters = ['limit', 'window'].flatMap((name) => invalidNumbers.map((text) => [name, text] as const));
  it.each(invalidParameters)('rejects the parameter %s=%s', async (name, text) => {
    const { status, headers, text: body } = await query(`${RATE_LIMITER_INPUT}?${name}=${text}`);
    expect([status, headers['content-type']]).toEqual([400, 'application/json']);
    const { code, message, details, ...others } = JSON.parse(body);
    expect({ code, details, others }).toEqual({ code: 3, details: [], others: {} });
    expect(message).toMatch(
      new RegExp(`^type mismatch, parameter: ${name}, error: parsing ".*": (not decimal digits|value out of range)$`),
    );
  });
});

describe('startSimulator', () => {
  it('makes a block per block time until it is closed', async () => {
    const ticking = await startTestSimulator({ blockTimeMs: 10, tick: true });
    const first = ticking.model.height;
    await waitUntil(() => ticking.model.height > first + 2);
    await ticking.close();
    const last = ticking.model.height;
    await startTestSimulator({ scenario: 'truncated' }).then((other) => other.close());
    expect(ticking.model.height).toBe(last);
  });

  it('reports an address in use', async () => {
    const { port } = new URL(simulator.url);
    await expect(startTestSimulator({ port: Number(port) })).rejects.toThrow(
      `the simulator cannot listen on 127.0.0.1:${port}: the address is in use; --listen=:0 selects a free port`,
    );
  });

  it('returns a simulator whose close ends pending requests, and can be called twice', async () => {
    const closing = await startTestSimulator();
    closing.fault('module_state', hang);
    const socket = connect(Number(new URL(closing.url).port), '127.0.0.1');
    socket.write(`GET ${MODULE_STATE} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await waitUntil(() => closing.requests.module_state === 1);
    const ended = once(socket, 'close');
    await closing.close();
    await ended;
    await closing.close();
    expect(socket.destroyed).toBe(true);
  });
});
