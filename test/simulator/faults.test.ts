import { once } from 'node:events';
import { connect } from 'node:net';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../src/simulator/faults.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { get, type HttpResponse } from '../support/http.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { waitUntil } from '../support/wait-for.js';

const MODULE_STATE = '/bridge/v1/module_state';
const RATE_LIMITER_INPUT = '/chain/crosschain/rateLimiterInput';

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startTestSimulator({ startTime: 1_760_000_000 });
});
afterEach(() => simulator.close());

const query = async (path: string, headers: Record<string, string> = {}): Promise<HttpResponse> =>
  get(`${simulator.url}${path}`, { headers });

const queryWithFault = async (fault: Fault, headers?: Record<string, string>): Promise<HttpResponse> => {
  simulator.fault('module_state', fault);
  return query(MODULE_STATE, headers);
};

describe('a content fault', () => {
  it.each([
    ['1', '1'],
    ['no number', 'no number'],
    [null, undefined],
  ])('height sends the height header with the value %j', async (value, expected) => {
    const { headers, text } = await queryWithFault({ kind: 'height', value });
    expect(headers['grpc-metadata-x-cosmos-block-height']).toBe(expected);
    expect(JSON.parse(text)).toEqual(simulator.model.moduleState());
  });

  it('set replaces a field, also in a compressed response', async () => {
    const reply = await queryWithFault(
      { kind: 'set', path: 'state.last_observed_nonce', value: { a: [1] } },
      { 'Accept-Encoding': 'gzip' },
    );
    expect(reply.headers['content-encoding']).toBe('gzip');
    const { state } = simulator.model.moduleState();
    expect(JSON.parse(reply.text)).toEqual({ state: { ...state, last_observed_nonce: { a: [1] } } });
  });

  it('drop and set report a missing field in the response, and throw for an invalid path', async () => {
    const { status, text } = await queryWithFault({ kind: 'drop', path: 'state.vlasets' });
    expect([status, JSON.parse(text).message]).toEqual([
      500,
      'simulated fault: the document has no field state.vlasets',
    ]);
    expect(() => simulator.fault('module_state', { kind: 'set', path: 'a..b', value: 1 })).toThrow(
      'a..b is not a field path',
    );
  });
});

describe('a transport fault', () => {
  it.each(['oversize', 'gzip-bomb'] as const)('%s stops when the client disconnects', async (kind) => {
    const received = await receiveRaw({ kind, bytes: 10 ** 12 }, (text) => text.length > 100_000);
    expect(received.length).toBeGreaterThan(100_000);
    expect((await query(RATE_LIMITER_INPUT)).status).toBe(200);
  });
});

const endless: Fault[] = [
  { kind: 'hang' },
  { kind: 'stall' },
  { kind: 'drip', bytes: 1, everyMs: 5 },
  { kind: 'oversize', bytes: 10 ** 12 },
  { kind: 'gzip-bomb', bytes: 10 ** 12 },
];

describe('a fault', () => {
  it('affects one endpoint until it is removed', async () => {
    simulator.fault('rate_limiter_input', { kind: 'status', code: 500 });
    expect((await query(MODULE_STATE)).status).toBe(200);
    expect((await query(RATE_LIMITER_INPUT)).status).toBe(500);
    simulator.fault('rate_limiter_input', undefined);
    expect((await query(RATE_LIMITER_INPUT)).status).toBe(200);
  });

  it.each(endless.map((fault) => [fault.kind, fault] as const))(
    'of kind %s ends at once when the simulator is closed',
    async (_kind, fault) => {
      simulator.fault('module_state', fault);
      const failure = request(`${simulator.url}${MODULE_STATE}`)
        .then(({ body }) => body.text())
        .catch((error: unknown) => error);
      await waitUntil(() => simulator.requests.module_state === 1);
      await simulator.close();
      expect(String(await failure)).toMatch(/other side closed|terminated|ECONNRESET/);
    },
  );
});

/** The bytes received over a TCP connection until it is closed or `isEnough`. */
async function receiveRaw(fault: Fault, isEnough: (received: string) => boolean): Promise<string> {
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
