import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { pendingJson, pendingView, type PendingJson } from '../../src/pages/pending-view.js';
import { pendingPage } from '../../src/pages/pending-page.js';
import type { RecordedStates } from '../support/endpoint-states.js';
import { serverLimits, startWebServer, type WebServer } from '../../src/server/server.js';
import {
  at,
  CROSSCHAIN,
  FAILED,
  idsIn,
  polledSnapshots,
  TARGET,
  targetVerdicts,
  testLinks,
  transfer,
  verdict,
  statusDocumentAt,
} from '../pages/sample-snapshots.js';
import { statusJson } from '../../src/pages/status-json.js';
import { get } from '../support/http.js';
import { waitUntil } from '../support/wait-for.js';
import { rawClient, requestText } from './clients.js';
import { createHeldScrapes, createTestApp } from './test-app.js';
import { fuzzRuns } from '../support/fuzz.js';

/*
 * The Express application behind the real server.
 */
let servers: WebServer[] = [];

afterEach(async () => {
  await Promise.all(servers.map(async (server) => server.close()));
  servers = [];
});

async function serve(...parts: Parameters<typeof createTestApp>): Promise<string> {
  const options = { log: pino({ level: 'silent' }), limits: { ...serverLimits, drainMs: 300 } };
  const server = await startWebServer(createTestApp(...parts), { host: '127.0.0.1', port: 0 }, options);
  servers.push(server);
  return server.url;
}

describe('the headers of every response', () => {
  it.each(['/', '/metrics', '/pending', '/config', '/-/healthy', '/-/ready', '/none', '/-/reload'])(
    'forbid caching, framing and foreign content: %s',
    async (path) => {
      const { headers } = await get((await serve()) + path);
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; script-src 'sha256-[\w+/=]{44}'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
        ) as string,
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
      expect(headers).not.toHaveProperty('x-powered-by');
      expect(headers).not.toHaveProperty('etag');
    },
  );

  it('are also sent with an internal error, whose cause goes to the log only', async () => {
    const url = await serve({ metrics: () => Promise.reject(new Error('the secret place')) });
    expect(await get(`${url}/metrics`)).toMatchObject({
      status: 500,
      text: 'internal error\n',
      headers: { 'x-frame-options': 'DENY' },
    });
  });
});

describe('methods and paths', () => {
  it.each([
    ['HEAD', '/metrics', 200, undefined],
    ['GET', '/metrics?x=1', 200, undefined],
    ['GET', '/Metrics/', 200, undefined],
    ['HEAD', '/none', 404, undefined],
    ['POST', '/metrics', 405, 'GET, HEAD'],
    ['DELETE', '/-/healthy', 405, 'GET, HEAD'],
    ['GET', '/-/reload', 405, 'POST, PUT'],
    ['POST', '/-/reload', 403, undefined],
    ['POST', '/none', 404, undefined],
  ] as const)('%s %s is answered with %i, Allow %s', async (method, path, status, allow) => {
    const response = await get((await serve()) + path, { method });
    expect({ status: response.status, allow: response.headers['allow'] }).toEqual({ status, allow });
    expect(response.text === '').toBe(method === 'HEAD');
  });

  it.each([
    ['a URL over the header limit', requestText(`/${'a'.repeat(20_000)}`), /^HTTP\/1\.1 431 /],
    ['headers over their limit', requestText('/', { 'X-Long': 'a'.repeat(20_000) }), /^HTTP\/1\.1 431 /],
    ['bytes that are not HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a path that cannot be decoded', requestText('/%c0%80', { Connection: 'close' }), /^HTTP\/1\.1 404 /],
    ['a target that cannot be parsed', requestText('http://[', { Connection: 'close' }), /^HTTP\/1\.1 404 /],
    ['a path with ..', requestText('/../../etc/passwd', { Connection: 'close' }), /^HTTP\/1\.1 404 /],
    ['two lengths of a body', requestText('/', { 'Content-Length': '1', 'content-length': '2' }), /^HTTP\/1\.1 400 /],
    ['TRACE', requestText('/metrics', { Connection: 'close' }, 'TRACE'), /^HTTP\/1\.1 405 /],
    ['an upgrade', requestText('/none', { Connection: 'Upgrade', Upgrade: 'h2c' }), /^HTTP\/1\.1 404 /],
  ])('%s is rejected without a stack trace', async (_title, text, expected) => {
    const url = await serve();
    const client = await rawClient(url, text);
    await waitUntil(() => client.received() !== '');
    client.socket.destroy();
    expect(client.received()).toMatch(expected);
    expect(client.received()).not.toContain('    at ');
    expect((await get(`${url}/metrics`)).status, 'other clients are served').toBe(200);
  });

  it('a request body is not read: the response comes at once and closes the connection', async () => {
    const url = await serve();
    const endless = await rawClient(
      url,
      `${requestText('/metrics', { 'Transfer-Encoding': 'chunked' })}5\r\nhello\r\n`,
    );
    expect(await endless.closed).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n[^]*metrics\n$/);
    const empty = await get(`${url}/metrics`, { method: 'POST' });
    expect(empty.headers['connection']).toBe('keep-alive');
  });
});

describe('content negotiation', () => {
  const metrics = async (format: string, encoding: string): Promise<Buffer> => Buffer.from(`${format} ${encoding}`);

  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['deflate, gzip;q=0.5', 'gzip'],
    ['gzip;q=0', 'identity'],
    ['gzip;q=nonsense', 'identity'],
    ['*', 'gzip'],
    ['*;q=0', 'identity'],
    ['gzip;q=0, *', 'identity'],
    ['br', 'identity'],
  ])('Accept-Encoding %s is answered in the encoding %s', async (accepted, encoding) => {
    const url = await serve({ metrics });
    const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
    const response = await request(`${url}/metrics`, { headers });
    expect(await response.body.text()).toBe(`text ${encoding}`);
    expect(response.headers['content-encoding']).toBe(encoding === 'gzip' ? 'gzip' : undefined);
    expect(response.headers['vary']).toBe('Accept, Accept-Encoding');
  });

  it('sends pages compressed to a client that accepts gzip', async () => {
    const url = await serve();
    for (const path of ['/', '/pending']) {
      const { headers, body } = await request(url + path, { headers: { 'accept-encoding': 'gzip' } });
      expect(headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(await body.arrayBuffer()).toString()).toBe('<!doctype html>');
    }
  });

  it('serves one of two formats and encodings whatever Accept headers a client sends', async () => {
    const url = await serve({ metrics });
    const header = fc.oneof(
      fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)) }),
      fc.stringMatching(/^[a-z*/;=,. 0-9q"-]*$/),
    );
    const property = fc.asyncProperty(header, header, async (accept, encoding) => {
      const text = requestText('/metrics', { Accept: accept, 'Accept-Encoding': encoding, Connection: 'close' });
      const client = await rawClient(url, Buffer.from(text, 'latin1'));
      // DEL is no header character: Node.js rejects it before the application.
      const expected = /\x7f/.test(text)
        ? /^HTTP\/1\.1 400 /
        : /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n(text|openmetrics) (identity|gzip)$/;
      expect(await client.closed).toMatch(expected);
    });
    await fc.assert(property, { numRuns: fuzzRuns(100) });
  });
});

describe('a page with a slash after its name', () => {
  it.each([
    ['/pending/', '../pending'],
    ['/pending/?target=a%2Fb&sort=x', '../pending?target=a%2Fb&sort=x'],
    ['/config/', '../config'],
  ])('redirects, because its links are relative: %s', async (path, location) => {
    const { status, headers } = await get((await serve()) + path);
    expect([status, headers['location']]).toEqual([308, location]);
  });
});

describe('--web.max-requests', () => {
  it('rejects scrapes and pages over the limit, and never the health paths', async () => {
    const { metrics, release, arrived } = createHeldScrapes();
    const url = await serve({ metrics }, { maxRequests: 2 });
    const scrapes = [get(`${url}/metrics`), get(`${url}/metrics`)];
    await waitUntil(() => arrived() === 2);
    for (const path of ['/metrics', '/', '/pending']) {
      const rejected = await get(url + path);
      expect(rejected).toMatchObject({ status: 503, headers: { 'retry-after': '1', 'x-frame-options': 'DENY' } });
      expect(rejected.text).toBe('over 2 requests at once (--web.max-requests)\n');
    }
    expect((await get(`${url}/-/healthy`)).status).toBe(200);
    release('done\n');
    expect((await Promise.all(scrapes)).map(({ text }) => text)).toEqual(['done\n', 'done\n']);
    expect((await get(url)).status).toBe(200);
  });

  it.each([
    ['leaves', 1],
    ['pipelines requests and leaves', 2],
  ])('no longer counts the requests of a client that %s', async (_title, requests) => {
    const { metrics, release, arrived } = createHeldScrapes();
    const url = await serve({ metrics }, { maxRequests: 2 });
    const clients = await Promise.all(
      Array.from({ length: 2 / requests }, async () => rawClient(url, requestText('/metrics').repeat(requests))),
    );
    await waitUntil(() => arrived() === 2);
    for (const { socket } of clients) socket.destroy();
    await Promise.all(clients.map(async ({ closed }) => closed));
    // Two more scrapes arrive once the requests of the clients are no longer counted.
    while (arrived() < 4) {
      void get(`${url}/metrics`).catch(() => undefined);
      await sleep(20);
    }
    release('late\n');
    expect(arrived()).toBe(4);
  });
});

describe('/pending', () => {
  async function servePending(snapshots: RecordedStates, seconds: number): Promise<string> {
    const links = testLinks();
    const verdicts = [targetVerdicts([verdict('BridgeOracleStalled', 'critical', 18)])];
    const view = (target?: string) => pendingView(snapshots.states(), verdicts, links, at(seconds), target);
    return serve({
      pendingPage: (target, sorting) => {
        const selected = view(target);
        return selected && pendingPage(selected, sorting, links, { telemetryPath: '/metrics', version: '0.1.0' });
      },
      pendingJson: (target) => {
        const selected = view(target);
        return selected && pendingJson(selected);
      },
    });
  }

  it('is HTML unless Accept names JSON', async () => {
    const url = await servePending(polledSnapshots({ unbatched_transfers: [] }), 1);
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

  it('as JSON has freshness and items, with amounts as strings', async () => {
    const snapshots = polledSnapshots({ unbatched_transfers: [transfer('9007199254740993', String(2n ** 256n))] });
    snapshots.record(CROSSCHAIN, FAILED, at(2));
    const url = await servePending(snapshots, 5);
    const { body } = await request(`${url}/pending`, { headers: { accept: 'application/json' } });
    const { endpoints, targets } = (await body.json()) as PendingJson;
    const [bridge, crosschain] = endpoints;
    expect(bridge).toMatchObject({
      target: TARGET,
      document: 'module_state',
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
      document: 'rate_limiter_input',
      up: false,
      asOf: null,
      ageSeconds: null,
      node: { blockTime: null, behindSeconds: null, syncing: null, watched: [] },
      shown: false,
      lastFailure: {
        at: '2026-01-01T12:00:02.000Z',
        ageSeconds: 3,
        reason: 'status',
        message: '/x: responded with status 500: <b>"oh"</b>',
      },
      items: null,
      flow: null,
    });
    expect(targets).toEqual([
      {
        target: TARGET,
        status: 'critical',
        unknown: [],
        observedSince: '2026-01-01T11:50:00.000Z',
        observedSeconds: 605,
        verdicts: [
          {
            alert: 'BridgeOracleStalled',
            severity: 'critical',
            state: 'firing',
            document: 'module_state',
            since: '2026-01-01T11:42:00.000Z',
            ageSeconds: 1085,
            firesAt: null,
            firesInSeconds: null,
            subjects: [{}],
            isOneAlert: false,
            inhibitedBy: null,
            mayBeOlder: false,
            summary: 'summary of BridgeOracleStalled',
            action: 'action of BridgeOracleStalled',
            runbook: 'https://github.com/bridge-exporter/bridge-exporter/blob/main/docs/runbook.md#bridgeoraclestalled',
            dashboard: null,
          },
        ],
        blocking: [],
      },
    ]);
  });

  it('is preceded by the status page, as HTML and as JSON', async () => {
    const document = statusDocumentAt(polledSnapshots({ unbatched_transfers: [] }), 1);
    const url = await serve({ statusPage: () => '<!doctype html>', statusJson: () => statusJson(document) });
    const json = await get(`${url}/`, { headers: { accept: 'application/json' } });
    expect(json.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(JSON.parse(json.text)).toEqual(JSON.parse(JSON.stringify(statusJson(document))));
    for (const accept of ['text/html,application/xhtml+xml,*/*;q=0.8', '*/*']) {
      expect((await get(`${url}/`, { headers: { accept } })).headers['content-type']).toBe('text/html; charset=utf-8');
    }
  });

  it('selects a target by name, as HTML and as JSON', async () => {
    const url = await servePending(polledSnapshots({ unbatched_transfers: [] }), 1);
    const requestTarget = async (query: string, accept: string) =>
      get(`${url}/pending?${query}`, { headers: { accept } });
    const query = `target=${encodeURIComponent(TARGET)}`;
    expect((await requestTarget(query, 'text/html')).text).toContain('id="module_state"');
    expect(JSON.parse((await requestTarget(query, 'application/json')).text)).toMatchObject({
      endpoints: [{ target: TARGET }, { target: TARGET }],
      targets: [{ target: TARGET }],
    });
    for (const accept of ['text/html', 'application/json']) {
      expect(await requestTarget('target=other', accept)).toMatchObject({
        status: 404,
        text: 'no such target is polled by this exporter; /pending lists them\n',
      });
      expect(await requestTarget(`${query}&${query}`, accept)).toMatchObject({
        status: 400,
        text: 'target is set more than once — expected ?target=NAME\n',
      });
    }
  });

  it('is sorted by the query; HEAD has no body and other methods are rejected', async () => {
    const url = await servePending(
      polledSnapshots({ unbatched_transfers: [transfer('1', '1'), transfer('2', '2')] }),
      1,
    );
    const sorted = await request(`${url}/pending?sort=transfers.amount&dir=desc`);
    expect(idsIn(await sorted.body.text())).toEqual(['2', '1']);
    const head = await request(`${url}/pending`, { method: 'HEAD' });
    expect([head.statusCode, await head.body.text()]).toEqual([200, '']);
    const post = await request(`${url}/pending`, { method: 'POST' });
    expect([post.statusCode, post.headers['allow']]).toEqual([405, 'GET, HEAD']);
    await post.body.dump();
  });
});
