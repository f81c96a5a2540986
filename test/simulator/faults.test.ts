import { once } from 'node:events';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../src/simulator/faults.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { get, MODULE_STATE, RATE_LIMITER_INPUT } from './client.js';

/** A busy machine needs more than the default second. */
const PATIENCE = { timeout: 20_000 };

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    seed: 1,
    scenario: 'healthy',
    blockTimeMs: 2000,
    startTime: 1_760_000_000,
    tick: false,
  });
});
afterEach(() => simulator.close());

const moduleState = (fault: Fault, headers: Record<string, string> = {}) => {
  simulator.fault('module_state', fault);
  return get(simulator, MODULE_STATE, { headers });
};

describe('a whole answer that is not the right one', () => {
  it('status: the code, with the body of a gateway', async () => {
    const { status, text } = await moduleState({ kind: 'status', code: 503 });
    expect([status, text]).toEqual([503, '{"code":2,"message":"simulated failure","details":[]}']);
  });

  it('status: with a body and headers of its own', async () => {
    const headers = { 'Content-Type': 'text/plain', 'Retry-After': '7' };
    const reply = await moduleState({ kind: 'status', code: 429, body: 'slow down', headers });
    expect([reply.status, reply.text]).toEqual([429, 'slow down']);
    expect([reply.headers['content-type'], reply.headers['retry-after']]).toEqual(['text/plain', '7']);
  });

  it('redirect: 302 to the location', async () => {
    const { status, headers, text } = await moduleState({ kind: 'redirect', location: 'http://elsewhere.example/' });
    expect([status, headers['location'], text]).toEqual([302, 'http://elsewhere.example/', '']);
  });

  it('not-json: a page, or the text given', async () => {
    const page = await moduleState({ kind: 'not-json' });
    expect([page.status, page.headers['content-type'], page.text.slice(0, 15)]).toEqual([
      200,
      'text/html',
      '<!DOCTYPE html>',
    ]);
    expect((await moduleState({ kind: 'not-json', text: '[]' })).text).toBe('[]');
  });

  it('empty: 200 without a body', async () => {
    const { status, headers, text } = await moduleState({ kind: 'empty' });
    expect([status, headers['content-length'], text]).toEqual([200, '0', '']);
  });

  it('bad-encoding: said to be gzip and is not', async () => {
    const { headers, bytes } = await moduleState({ kind: 'bad-encoding' });
    expect(headers['content-encoding']).toBe('gzip');
    expect(() => gunzipSync(bytes)).toThrow('incorrect header check');
  });

  it('invalid-utf8: JSON for who does not look, no text for who does', async () => {
    const { bytes } = await moduleState({ kind: 'invalid-utf8' });
    expect(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes)).toThrow('encoded data was not valid');
    expect(Object.keys(JSON.parse(bytes.toString()))).toEqual(['state']);
  });

  it.each([
    ['1', '1'],
    ['no number', 'no number'],
    [null, undefined],
  ])('height: the header is %j', async (value, expected) => {
    const { headers, text } = await moduleState({ kind: 'height', value });
    expect(headers['grpc-metadata-x-cosmos-block-height']).toBe(expected);
    expect(JSON.parse(text)).toEqual(simulator.model.moduleState());
  });

  it('drop: a field is left out, the rest stays, the model does not change', async () => {
    const { text } = await moduleState({ kind: 'drop', path: 'state.valsets[*].members[0].power' });
    const { state } = simulator.model.moduleState();
    expect(JSON.parse(text).state.valsets[0].members[0]).toEqual({
      external_address: state.valsets[0]?.members[0]?.external_address,
    });
    expect(JSON.parse(text).state.valsets[0].members[1]).toEqual(state.valsets[0]?.members[1]);
    expect(state.valsets[0]?.members[0]?.power).toMatch(/^\d+$/);
  });

  it('set: a field has another value, in compressed answers too', async () => {
    const reply = await moduleState(
      { kind: 'set', path: 'state.last_observed_nonce', value: { a: [1] } },
      { 'Accept-Encoding': 'gzip' },
    );
    expect(reply.headers['content-encoding']).toBe('gzip');
    const { state } = simulator.model.moduleState();
    expect(JSON.parse(reply.text)).toEqual({ state: { ...state, last_observed_nonce: { a: [1] } } });
  });

  it('drop and set: a path that leads nowhere shows, one that is none is refused', async () => {
    const { status, text } = await moduleState({ kind: 'drop', path: 'state.vlasets' });
    expect([status, JSON.parse(text).message]).toEqual([
      500,
      'simulated fault: the document has nothing at state.vlasets',
    ]);
    expect(() => simulator.fault('module_state', { kind: 'set', path: 'a..b', value: 1 })).toThrow(
      'a..b is no field path',
    );
  });
});

describe('an exchange that does not end well', () => {
  it('hang: the request arrives and nothing comes back', async () => {
    const received = raw({ kind: 'hang' }, () => false);
    await expect.poll(() => simulator.requests.module_state, PATIENCE).toBe(1);
    await simulator.close();
    expect(await received).toBe('');
  });

  it('stall: headers and half of the body, then nothing', async () => {
    const { length } = JSON.stringify(simulator.model.moduleState());
    const half = Math.floor(length / 2);
    const received = await raw({ kind: 'stall' }, (text) => bodyOf(text).length >= half);
    expect(received).toMatch(new RegExp(`^HTTP/1.1 200 OK\r\n.*Content-Length: ${length}\r\n`, 's'));
    expect(bodyOf(received)).toHaveLength(half);
  });

  it('drip: a few bytes at a time, in order', async () => {
    const received = await raw({ kind: 'drip', bytes: 3, everyMs: 1 }, (text) => bodyOf(text).length >= 12);
    expect(JSON.stringify(simulator.model.moduleState()).startsWith(bodyOf(received))).toBe(true);
    expect(bodyOf(received).length % 3).toBe(0);
  });

  it('drip: is whole in the end', async () => {
    const { text } = await moduleState({ kind: 'drip', bytes: 20_000, everyMs: 1 });
    expect(JSON.parse(text)).toEqual(simulator.model.moduleState());
  });

  it('truncate: the connection ends in mid body', async () => {
    await expect(moduleState({ kind: 'truncate' })).rejects.toThrow(/other side closed|terminated/);
    const half = Math.floor(JSON.stringify(simulator.model.moduleState()).length / 2);
    expect(bodyOf(await raw({ kind: 'truncate' }, () => false))).toHaveLength(half);
  });

  it('oversize: the document with white space up to the size', async () => {
    const { headers, bytes, text } = await moduleState({ kind: 'oversize', bytes: 3_000_001 });
    expect(headers['content-length']).toBeUndefined();
    expect(bytes).toHaveLength(3_000_001);
    expect(JSON.parse(text)).toEqual(simulator.model.moduleState());
  });

  it('gzip-bomb: small on the wire, large when decoded', async () => {
    const { headers, bytes, text } = await moduleState({ kind: 'gzip-bomb', bytes: 20_000_000 });
    expect(headers['content-encoding']).toBe('gzip');
    expect(bytes.length).toBeLessThan(200_000);
    expect(text).toHaveLength(20_000_000);
    expect(JSON.parse(text)).toEqual(simulator.model.moduleState());
  });

  it.each(['oversize', 'gzip-bomb'] as const)('%s: a reader that hangs up early ends it', async (kind) => {
    const received = await raw({ kind, bytes: 10 ** 12 }, (text) => text.length > 100_000);
    expect(received.length).toBeGreaterThan(100_000);
    expect((await get(simulator, RATE_LIMITER_INPUT)).status).toBe(200);
  });

  it('garbage: bytes that are no HTTP', async () => {
    expect(await raw({ kind: 'garbage' }, () => false)).toBe('SSH-2.0-simulated\r\n');
    await expect(moduleState({ kind: 'garbage' })).rejects.toThrow('Expected HTTP/');
  });

  it('reset: the connection is gone before an answer', async () => {
    await expect(moduleState({ kind: 'reset' })).rejects.toThrow(expect.objectContaining({ code: 'ECONNRESET' }));
  });
});

it('a fault befalls one endpoint until it is taken back', async () => {
  simulator.fault('rate_limiter_input', { kind: 'status', code: 500 });
  expect((await get(simulator, MODULE_STATE)).status).toBe(200);
  expect((await get(simulator, RATE_LIMITER_INPUT)).status).toBe(500);
  simulator.fault('rate_limiter_input', undefined);
  expect((await get(simulator, RATE_LIMITER_INPUT)).status).toBe(200);
});

const endless: Fault[] = [
  { kind: 'hang' },
  { kind: 'stall' },
  { kind: 'drip', bytes: 1, everyMs: 5 },
  { kind: 'oversize', bytes: 10 ** 12 },
  { kind: 'gzip-bomb', bytes: 10 ** 12 },
];
it.each(endless.map((fault) => [fault.kind, fault] as const))(
  'close ends a request in %s at once',
  async (_kind, fault) => {
    simulator.fault('module_state', fault);
    const failure = request(`${simulator.url}${MODULE_STATE}`)
      .then(({ body }) => body.text())
      .catch((error: unknown) => error);
    await expect.poll(() => simulator.requests.module_state, PATIENCE).toBe(1);
    await simulator.close();
    expect(String(await failure)).toMatch(/other side closed|terminated|ECONNRESET/);
  },
);

/** What comes over a bare connection until it ends, or is enough. */
async function raw(fault: Fault, isEnough: (received: string) => boolean): Promise<string> {
  simulator.fault('module_state', fault);
  const socket = connect(Number(new URL(simulator.url).port), '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1').on('data', (text) => {
    received += String(text);
    if (isEnough(received)) socket.destroy();
  });
  socket.write(`GET ${MODULE_STATE} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  await once(socket, 'close');
  return received;
}

function bodyOf(received: string): string {
  const end = received.indexOf('\r\n\r\n');
  return end < 0 ? '' : received.slice(end + 4);
}
