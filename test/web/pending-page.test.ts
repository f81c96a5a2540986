import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { readBody, type Outcome, type Reading } from '../../src/collect/collect.js';
import { neutralBridge, neutralCrosschain } from '../../src/config.js';
import type { Instant } from '../../src/endpoint-state.js';
import { createSnapshots, type Snapshots } from '../../src/snapshots.js';
import { createApp } from '../../src/web/app.js';
import { pendingDocument } from '../../src/web/endpoint-view.js';
import { pendingPage } from '../../src/web/pending-page.js';
import { statusPage } from '../../src/web/status-page.js';
import { sortingIn } from '../../src/web/table.js';

const at = (seconds: number): Instant => ({
  epochSeconds: Date.UTC(2026, 0, 1, 12) / 1000 + seconds,
  monotonicMs: 1000 * seconds,
});

const TARGET = 'main "net" <1>';
const BRIDGE = { target: TARGET, endpoint: 'module_state' } as const;
const CROSSCHAIN = { target: TARGET, endpoint: 'rate_limiter_input' } as const;
const STALE_AFTER_SECONDS = 60;
const FAILED: Outcome = {
  result: { ok: false, error: { reason: 'status', message: 'answered 500: <b>"oh"</b>' } },
  seconds: {},
};

const HOSTILE = `<script>alert("1")</script>'&amp;`;
const transfer = (id: string, amount: string, contract = '0xusdt') => ({
  id,
  sender: 'hub1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq',
  dest_address: HOSTILE,
  erc20_token: { contract, amount },
  erc20_fee: { contract, amount: '1' },
});

const base = {
  target: TARGET,
  labels: { tokens: [{ contract: '0xusdt', symbol: 'USDT', decimals: 6 }], chains: { '1': HOSTILE } },
  maxSeries: 200,
};

function bridgeAnswer(state: unknown): Outcome {
  const reading: Reading = { ...base, document: 'module_state', settings: neutralBridge };
  return readBody(reading, 'test', Buffer.from(JSON.stringify({ state })), undefined);
}

function crosschainAnswer(document: unknown): Outcome {
  const reading: Reading = { ...base, document: 'rate_limiter_input', settings: neutralCrosschain };
  return readBody(reading, 'test', Buffer.from(JSON.stringify(document)), undefined);
}

function fresh(): Snapshots {
  return createSnapshots([BRIDGE, CROSSCHAIN], { maxBodyBytes: 1024, staleAfterMs: STALE_AFTER_SECONDS * 1000 });
}

function polled(state: unknown): Snapshots {
  const snapshots = fresh();
  snapshots.record(BRIDGE, bridgeAnswer(state), at(0));
  return snapshots;
}

const pageOf = (snapshots: Snapshots, seconds: number, query: Record<string, unknown> = {}): string =>
  pendingPage(pendingDocument(snapshots, at(seconds)), sortingIn(query), '/metrics');

/** Ids of the transfers, in the order of the page. */
const idsIn = (html: string): string[] => [...html.matchAll(/data-label="Id">(\d+)/g)].map(([, id]) => id ?? '');

describe('the pending page', () => {
  it('escapes whatever the chain, the node and the configuration wrote', () => {
    const snapshots = polled({ unbatched_transfers: [transfer('1', '1', HOSTILE)] });
    const outbound = { receiver_chainId: '1', coin_type: 'Gas', amount: '1', tss_nonce: '1', hash: HOSTILE };
    snapshots.record(
      CROSSCHAIN,
      crosschainAnswer({ cctxs_pending: [{ index: HOSTILE, outbound_params: [outbound] }] }),
      at(0),
    );
    snapshots.record(BRIDGE, FAILED, at(1));
    for (const html of [
      pageOf(snapshots, 2, { sort: HOSTILE, dir: HOSTILE }),
      statusPage(pendingDocument(snapshots, at(2)).endpoints, '/metrics?"<'),
    ]) {
      expect(html).toContain('&lt;b&gt;&quot;oh&quot;&lt;/b&gt;');
      expect(html).toContain('main &quot;net&quot; &lt;1&gt;');
      for (const raw of ['<script', '<b>"oh"', 'alert("', 'net" <1>', '?"<']) expect(html).not.toContain(raw);
    }
    expect(pageOf(snapshots, 2)).toContain('title="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;amp;"');
  });

  it('loads nothing, runs nothing and leads nowhere else', () => {
    const html = pageOf(polled({ unbatched_transfers: [transfer('1', '1')] }), 1);
    expect(html).not.toMatch(/https?:|\/\/|<script|<img|<link|@import|url\(|\son\w+=/i);
    const targets = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href ?? '');
    expect(targets.length).toBeGreaterThan(5);
    expect(targets.filter((href) => !/^[/?#]/.test(href))).toEqual([]);
  });

  it('every link within it has its place', () => {
    const html = pageOf(polled({ unbatched_transfers: [transfer('1', '1')] }), 1);
    const ids = new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id));
    const wanted = [...html.matchAll(/href="[^"]*#([^"]*)"/g)].map(([, id]) => id);
    expect(wanted.length).toBeGreaterThan(5);
    expect(wanted.filter((id) => !ids.has(id))).toEqual([]);
  });

  it('says how many there are, how many it shows and in which order', () => {
    const unbatched_transfers = Array.from({ length: 812 }, (_, index) => transfer(`${812 - index}`, '1'));
    const html = pageOf(polled({ unbatched_transfers }), 12);
    expect(html).toContain('Unbatched transfers <b>812</b>');
    expect(html).toContain('Showing the 50 oldest of 812, oldest first.');
    expect(idsIn(html)).toEqual(Array.from({ length: 50 }, (_, index) => `${index + 1}`));
  });

  it('sorts what it shows by links', () => {
    const amounts = ['5', '9007199254740993', '10', '9007199254740992'];
    const snapshots = polled({ unbatched_transfers: amounts.map((amount, index) => transfer(`${index}`, amount)) });
    const link = /href="(\?sort=transfers\.amount&amp;dir=\w+#[^"]+)">Amount/;
    const first = link.exec(pageOf(snapshots, 1))?.[1];
    expect(first).toBe('?sort=transfers.amount&amp;dir=desc#main%20%22net%22%20%3C1%3E/transfers');
    const sorted = pageOf(snapshots, 1, { sort: 'transfers.amount', dir: 'desc' });
    expect(idsIn(sorted)).toEqual(['1', '3', '2', '0']);
    expect(sorted).toContain('Showing all 4, by amount, descending.');
    expect(sorted).toContain('aria-sort="descending"');
    expect(link.exec(sorted)?.[1]).toContain('dir=asc');
    expect(idsIn(pageOf(snapshots, 1, { sort: 'transfers.amount', dir: 'asc' }))).toEqual(['0', '2', '3', '1']);
  });

  it('takes an order it does not know for none', () => {
    const snapshots = polled({ unbatched_transfers: [transfer('2', '1'), transfer('1', '2')] });
    for (const sort of ['', 'transfers', 'transfers.sender', 'batches.nonce', 'transfers.__proto__', ['a', 'b']]) {
      const html = pageOf(snapshots, 1, { sort, dir: 'desc' });
      expect(idsIn(html)).toEqual(['1', '2']);
      expect(html).toContain('Showing all 2, oldest first.');
    }
  });

  it('tells none from what cannot be read, and unknown from 0', () => {
    const none = pageOf(polled({ unbatched_transfers: [] }), 1);
    expect(none).toContain('None waits.');
    const unreadable = pageOf(polled({ unbatched_transfers: [{ ...transfer('1', '1'), id: null }] }), 1);
    expect(unreadable).not.toContain('None waits.');
    expect(unreadable).toMatch(
      /Transfers that wait for a batch <span class="quiet">1<\/span><\/h4>\n<p class="alert">Cannot be read/,
    );
    const unknown = pageOf(polled({ unbatched_transfers: [{ id: '1' }] }), 1);
    expect(unknown).toMatch(/data-label="Amount"><span class="quiet">unknown</);
  });
});

describe('what is old', () => {
  const state = { unbatched_transfers: [transfer('424242', '1')] };

  it('is shown with its age, and with the failure when polls fail', () => {
    const snapshots = polled(state);
    expect(pageOf(snapshots, 12)).toContain(
      'As of <time datetime="2026-01-01T12:00:00.000Z">2026-01-01 12:00:00 UTC</time>, 12 s ago.',
    );
    snapshots.record(BRIDGE, FAILED, at(30));
    const html = pageOf(snapshots, 33);
    expect(html).toContain('The last poll failed; this is as of <time');
    expect(html).toContain('Last failure: status: answered 500');
    expect(html).toContain('424242');
  });

  it('is not shown at all when it is too old, by either clock', () => {
    const snapshots = polled(state);
    snapshots.record(BRIDGE, FAILED, at(30));
    const later = at(STALE_AFTER_SECONDS + 1);
    for (const now of [later, { ...at(0), epochSeconds: later.epochSeconds }]) {
      const document = pendingDocument(snapshots, now);
      const html = pendingPage(document, undefined, '/metrics');
      expect(html).toContain('No answer since <time');
      expect(html).toContain('61 s ago: too old to be shown');
      expect(html).not.toContain('424242');
      expect(statusPage(document.endpoints, '/metrics')).not.toContain('Unbatched transfers');
      expect(JSON.stringify(document)).not.toContain('424242');
      expect(document.endpoints[0]).toMatchObject({ shown: false, ageSeconds: 61, items: null });
    }
  });

  it('is nothing before the first answer', () => {
    const snapshots = fresh();
    expect(pageOf(snapshots, 0)).toContain('No answer yet.');
    snapshots.record(BRIDGE, FAILED, at(1));
    expect(pageOf(snapshots, 2)).toContain('No answer yet.<br>Last failure: status:');
  });
});

describe('over HTTP', () => {
  let server: Server | undefined;

  afterEach(() => {
    server?.close();
    server?.closeAllConnections();
  });

  async function serve(snapshots: Snapshots, seconds: number): Promise<string> {
    const shown = {
      metrics: async () => '',
      statusPage: () => statusPage(pendingDocument(snapshots, at(seconds)).endpoints, '/metrics'),
      pendingPage: (sorting: ReturnType<typeof sortingIn>) =>
        pendingPage(pendingDocument(snapshots, at(seconds)), sorting, '/metrics'),
      pendingDocument: () => pendingDocument(snapshots, at(seconds)),
      notReady: () => [],
      reload: async () => ({ ok: true }) as const,
    };
    const options = { telemetryPath: '/metrics', maxRequests: 40, enableLifecycle: false };
    const app = createApp(shown, options, pino({ level: 'silent' }));
    server = createServer(app).listen(0, '127.0.0.1');
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
