import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { get } from '../support/http.js';
import { waitUntil } from '../support/wait-for.js';
import { rawClient, requestText } from './clients.js';
import { createHeldScrapes, createTestApp, serve } from './test-app.js';

/*
 * The Express application behind the real server.
 */
const serveApp = async (...parts: Parameters<typeof createTestApp>): Promise<string> =>
  (await serve(createTestApp(...parts))).url;

describe('the headers of every response', () => {
  it.each(['/', '/metrics', '/pending', '/config', '/-/healthy', '/-/ready', '/none', '/-/reload'])(
    'forbid caching, framing and foreign content: %s',
    async (path) => {
      const { headers } = await get((await serveApp()) + path);
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
    const url = await serveApp({ metrics: () => Promise.reject(new Error('the secret place')) });
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
    ['GET', '/Metrics', 200, undefined],
    ['GET', '/metrics/', 404, undefined],
    ['GET', '/pending/', 404, undefined],
    ['HEAD', '/none', 404, undefined],
    ['POST', '/metrics', 405, 'GET, HEAD'],
    ['DELETE', '/-/healthy', 405, 'GET, HEAD'],
    ['GET', '/-/reload', 405, 'POST, PUT'],
    ['POST', '/-/reload', 403, undefined],
    ['POST', '/none', 404, undefined],
  ] as const)('%s %s is answered with %i, Allow %s', async (method, path, status, allow) => {
    const response = await get((await serveApp()) + path, { method });
    expect({ status: response.status, allow: response.headers['allow'] }).toEqual({ status, allow });
    expect(response.text === '').toBe(method === 'HEAD');
  });

  it.each([
    ['headers over their limit', requestText('/', { 'X-Long': 'a'.repeat(20_000) }), /^HTTP\/1\.1 431 /],
    ['a path that cannot be decoded', requestText('/%c0%80', { Connection: 'close' }), /^HTTP\/1\.1 404 /],
    ['a target that cannot be parsed', requestText('http://[', { Connection: 'close' }), /^HTTP\/1\.1 404 /],
    ['a path with ..', requestText('/../../etc/passwd', { Connection: 'close' }), /^HTTP\/1\.1 404 /],
    ['TRACE', requestText('/metrics', { Connection: 'close' }, 'TRACE'), /^HTTP\/1\.1 405 /],
  ])('%s is rejected without a stack trace', async (_title, text, expected) => {
    const url = await serveApp();
    const client = await rawClient(url, text);
    await waitUntil(() => client.received() !== '');
    client.socket.destroy();
    expect(client.received()).toMatch(expected);
    expect(client.received()).not.toContain('    at ');
    expect((await get(`${url}/metrics`)).status, 'other clients are served').toBe(200);
  });

  it('a request body is not read: the response comes at once and closes the connection', async () => {
    const url = await serveApp();
    const endless = await rawClient(
      url,
      `${requestText('/metrics', { 'Transfer-Encoding': 'chunked' })}5\r\nhello\r\n`,
    );
    expect(await endless.closed).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n[^]*metrics\n$/);
    const empty = await get(`${url}/metrics`, { method: 'POST' });
    expect(empty.headers['connection']).toBe('keep-alive');
  });
});

const PROMETHEUS_2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const PROMETHEUS_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';

describe('content negotiation', () => {
  const metrics = async (format: string): Promise<string> => format;

  it.each([
    [undefined, 'text'],
    ['*/*', 'text'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text'],
    ['text/plain;version=0.0.4', 'text'],
    [PROMETHEUS_2, 'openmetrics'],
    [PROMETHEUS_3, 'openmetrics'],
    ['application/openmetrics-text', 'openmetrics'],
    ['APPLICATION/OPENMETRICS-TEXT; VERSION=1.0.0', 'openmetrics'],
    ['application/openmetrics-text;version=0.0.1', 'text'],
    ['application/openmetrics-text;version=1.0.0;q=0.1,text/plain;version=0.0.4;q=0.9', 'text'],
    ['application/openmetrics-text;q=0', 'text'],
    ['application/vnd.google.protobuf', 'text'],
  ])('serves metrics for Accept %s as %s', async (accept, format) => {
    const url = await serveApp({ metrics });
    const response = await request(`${url}/metrics`, { headers: accept === undefined ? {} : { accept } });
    expect(await response.body.text()).toBe(format);
    expect(response.headers['content-type']).toBe(
      format === 'text'
        ? 'text/plain; version=0.0.4; charset=utf-8'
        : 'application/openmetrics-text; version=1.0.0; charset=utf-8',
    );
  });

  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['deflate, gzip;q=0.5', 'gzip'],
    ['gzip;q=0', 'identity'],
    ['*', 'gzip'],
  ])('Accept-Encoding %s is answered in the encoding %s', async (accepted, encoding) => {
    const url = await serveApp({ metrics });
    const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
    const response = await request(`${url}/metrics`, { headers });
    const body = Buffer.from(await response.body.arrayBuffer());
    expect((encoding === 'gzip' ? gunzipSync(body) : body).toString()).toBe('text');
    expect(response.headers['content-encoding']).toBe(encoding === 'gzip' ? 'gzip' : undefined);
    expect(response.headers['vary']).toBe('Accept, Accept-Encoding');
  });
});

describe('--web.max-requests', () => {
  it('rejects scrapes and pages over the limit, and never the health paths', async () => {
    const { metrics, release, arrived } = createHeldScrapes();
    const url = await serveApp({ metrics }, { maxRequests: 2 });
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

  it('no longer counts a client whose connection is closed because it pipelines requests', async () => {
    const { metrics, release, arrived } = createHeldScrapes();
    const url = await serveApp({ metrics }, { maxRequests: 1 });
    const client = await rawClient(url, requestText('/metrics').repeat(3));
    expect(await client.closed).toBe('');
    await waitUntil(() => {
      if (arrived() < 2) void get(`${url}/metrics`).catch(() => undefined);
      return arrived() >= 2;
    });
    release('late\n');
    expect(arrived()).toBe(2);
  });

  it('counts a client that leaves once', async () => {
    const { metrics, release, arrived } = createHeldScrapes();
    const url = await serveApp({ metrics }, { maxRequests: 1 });
    const leaving = await rawClient(url, requestText('/metrics'));
    await waitUntil(() => arrived() === 1);
    leaving.socket.destroy();
    await leaving.closed;
    await waitUntil(() => {
      if (arrived() < 2) void get(`${url}/metrics`).catch(() => undefined);
      return arrived() >= 2;
    });
    const statuses = await Promise.all([1, 2].map(async () => (await get(`${url}/`)).status));
    release('late\n');
    expect(statuses).toEqual([503, 503]);
  });
});

describe('the status page and the pending page', () => {
  it.each(['/', '/pending'])('%s is HTML unless Accept names JSON', async (path) => {
    const url = (await serveApp()) + path;
    const typeFor = async (accept: string): Promise<unknown> => {
      const { headers, body } = await request(url, { headers: { accept } });
      expect(headers['vary']).toContain('Accept');
      await body.dump();
      return headers['content-type'];
    };
    for (const accept of ['', '*/*', 'text/html,application/xhtml+xml,*/*;q=0.8', 'application/json;q=0']) {
      expect(await typeFor(accept), accept).toBe('text/html; charset=utf-8');
    }
    for (const accept of ['application/json, text/plain, */*', 'text/html;q=0.5,application/json']) {
      expect(await typeFor(accept), accept).toBe('application/json; charset=utf-8');
    }
  });

  it('pass on target and text of the query', async () => {
    const asked: unknown[] = [];
    const url = await serveApp({ pendingPage: async (...query) => String(asked.push(query)) });
    await get(`${url}/pending?target=a%2Fb&q=0x1`);
    await get(`${url}/pending?other=nonsense`, { headers: { accept: 'application/json' } });
    expect(asked).toEqual([
      ['html', 'a/b', '0x1'],
      ['json', undefined, undefined],
    ]);
  });

  it.each(['text/html', 'application/json'])('reject an unknown target, and several ones: %s', async (accept) => {
    const url = await serveApp({ pendingPage: async () => undefined });
    expect(await get(`${url}/pending?target=other`, { headers: { accept } })).toMatchObject({
      status: 404,
      text: 'this exporter polls no such target; /pending lists all targets\n',
    });
    expect(await get(`${url}/pending?target=a&target=b`, { headers: { accept } })).toMatchObject({
      status: 400,
      text: 'target is set more than once — expected ?target=NAME\n',
    });
  });
});
