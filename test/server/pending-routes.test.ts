import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import type { Snapshots } from '../../src/poll/snapshots.js';
import { createRoutes } from '../../src/server/routes.js';
import { pendingDocument } from '../../src/pages/endpoint-view.js';
import { pendingPage } from '../../src/pages/pending-page.js';
import type { sortingIn } from '../../src/pages/table.js';
import { at, CROSSCHAIN, FAILED, idsIn, polled, TARGET, transfer } from '../pages/polled.js';

describe('/pending over HTTP', () => {
  let server: Server | undefined;

  afterEach(() => {
    server?.close();
    server?.closeAllConnections();
  });

  async function serve(snapshots: Snapshots, seconds: number): Promise<string> {
    const shown = {
      metrics: async () => Buffer.from(''),
      statusPage: () => '',
      pendingPage: (sorting: ReturnType<typeof sortingIn>) =>
        pendingPage(pendingDocument(snapshots, at(seconds)), sorting, '/metrics'),
      pendingDocument: () => pendingDocument(snapshots, at(seconds)),
      notReady: () => [],
      reload: async () => ({ ok: true }) as const,
    };
    const options = { telemetryPath: '/metrics', maxRequests: 40, enableLifecycle: false };
    const app = createRoutes(shown, options, pino({ level: 'silent' }));
    server = createServer((asked, answer) => app(asked, answer, [])).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('is HTML unless JSON is asked for by name', async () => {
    const url = await serve(polled({ unbatched_transfers: [] }), 1);
    for (const accept of ['', '*/*', 'text/html,application/xhtml+xml,*/*;q=0.8', 'application/json;q=0']) {
      const { headers, body } = await request(`${url}/pending`, { headers: { accept } });
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['vary']).toContain('Accept');
      expect(await body.text()).toContain('<!doctype html>');
    }
    for (const accept of [
      'application/json',
      'application/json, text/plain, */*',
      'text/html;q=0.5,application/json',
    ]) {
      const { headers, body } = await request(`${url}/pending`, { headers: { accept } });
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(headers['vary']).toContain('Accept');
      await body.dump();
    }
  });

  it('the JSON has freshness and items, with amounts as text', async () => {
    const snapshots = polled({ unbatched_transfers: [transfer('9007199254740993', String(2n ** 256n))] });
    snapshots.record(CROSSCHAIN, FAILED, at(2));
    const url = await serve(snapshots, 5);
    const { body } = await request(`${url}/pending`, { headers: { accept: 'application/json' } });
    const [bridge, crosschain] = ((await body.json()) as ReturnType<typeof pendingDocument>).endpoints;
    expect(bridge).toMatchObject({
      target: TARGET,
      endpoint: 'module_state',
      up: true,
      asOf: '2026-01-01T12:00:00.000Z',
      ageSeconds: 5,
      shown: true,
      lastFailure: null,
      items: {
        document: 'module_state',
        transfers: {
          readable: true,
          total: 1,
          rows: [{ id: '9007199254740993', amount: { amount: String(2n ** 256n), symbol: 'USDT' } }],
        },
        batches: { readable: false, total: null },
        pendingEvents: null,
      },
    });
    expect(crosschain).toEqual({
      target: TARGET,
      endpoint: 'rate_limiter_input',
      up: false,
      asOf: null,
      ageSeconds: null,
      shown: false,
      lastFailure: {
        at: '2026-01-01T12:00:02.000Z',
        ageSeconds: 3,
        reason: 'status',
        message: 'answered 500: <b>"oh"</b>',
      },
      items: null,
    });
  });

  it('sorts by the query, answers HEAD without a body and refuses other methods', async () => {
    const url = await serve(polled({ unbatched_transfers: [transfer('1', '1'), transfer('2', '2')] }), 1);
    const sorted = await request(`${url}/pending?sort=transfers.amount&dir=desc`);
    expect(idsIn(await sorted.body.text())).toEqual(['2', '1']);
    const head = await request(`${url}/pending`, { method: 'HEAD' });
    expect([head.statusCode, await head.body.text()]).toEqual([200, '']);
    const post = await request(`${url}/pending`, { method: 'POST' });
    expect([post.statusCode, post.headers['allow']]).toEqual([405, 'GET, HEAD']);
    await post.body.dump();
  });
});
