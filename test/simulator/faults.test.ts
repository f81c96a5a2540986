import { once } from 'node:events';
import { connect } from 'node:net';
import { request } from 'undici';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ModuleStateResponse } from '../../src/simulator/responses.js';
import type { Fault, Simulator } from '../../src/simulator/simulator.js';
import { get, type HttpResponse } from '../support/http.js';
import { drip, edited, gzipBomb, hang, oversize, stall, withHeight, withStatus } from '../support/faults.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { waitUntil } from '../support/wait-for.js';

const MODULE_STATE = '/bridge/v1/module_state';
const RATE_LIMITER_INPUT = '/chain/crosschain/rateLimiterInput';

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startTestSimulator({ startTime: 1_760_000_000 });
});

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
    const { headers, text } = await queryWithFault(withHeight(value));
    expect(headers['grpc-metadata-x-cosmos-block-height']).toBe(expected);
    expect(JSON.parse(text)).toEqual(simulator.model.moduleState());
  });

  it('replaces a field, also in a compressed response', async () => {
    const reply = await queryWithFault(
      edited(({ state }: ModuleStateResponse) => ({ state: { ...state, last_observed_nonce: { a: [1] } } })),
      { 'Accept-Encoding': 'gzip' },
    );
    expect(reply.headers['content-encoding']).toBe('gzip');
    const { state } = simulator.model.moduleState();
    expect(JSON.parse(reply.text)).toEqual({ state: { ...state, last_observed_nonce: { a: [1] } } });
  });
});

describe('a transport fault', () => {
  it.each([
    ['oversize', oversize(10 ** 12)],
    ['gzip bomb', gzipBomb(10 ** 12)],
  ])('%s stops when the client disconnects', async (_name, fault) => {
    const received = await receiveRaw(fault, (text) => text.length > 100_000);
    expect(received.length).toBeGreaterThan(100_000);
    expect((await query(RATE_LIMITER_INPUT)).status).toBe(200);
  });
});

const endless = { hang, stall, drip: drip(1, 5), oversize: oversize(10 ** 12), gzipBomb: gzipBomb(10 ** 12) };

describe('a fault', () => {
  it('affects one endpoint until it is removed', async () => {
    simulator.fault('rate_limiter_input', withStatus(500));
    expect((await query(MODULE_STATE)).status).toBe(200);
    expect((await query(RATE_LIMITER_INPUT)).status).toBe(500);
    simulator.fault('rate_limiter_input', undefined);
    expect((await query(RATE_LIMITER_INPUT)).status).toBe(200);
  });

  it.each(Object.entries(endless))('%s ends at once when the simulator is closed', async (_name, fault) => {
    simulator.fault('module_state', fault);
    const failure = request(`${simulator.url}${MODULE_STATE}`)
      .then(({ body }) => body.text())
      .catch((error: unknown) => error);
    await waitUntil(() => simulator.requests.module_state === 1);
    await simulator.close();
    expect(String(await failure)).toMatch(/other side closed|terminated|ECONNRESET/);
  });
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
