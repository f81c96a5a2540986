import { describe, expect, it } from 'vitest';
import { createView, toJson } from '../../src/pages/view.js';
import { pendingPage } from '../../src/pages/pending-page.js';
import { batch, idleState, vote } from '../items/bridge-state.js';
import {
  at,
  BRIDGE,
  CROSSCHAIN,
  crosschainResult,
  FAILED,
  HOSTILE,
  idsIn,
  initialSnapshots,
  pendingAt,
  polledSnapshots,
  shownOf,
  STALE_AFTER_SECONDS,
  statusAt,
  TARGET,
  judgeTarget,
  testLinks,
  textOf,
  transfer,
  problem,
} from './sample-snapshots.js';
import { pollOf } from '../support/polls.js';

describe('the pending page', () => {
  it('escapes text from the chain, the node and the configuration', () => {
    const snapshots = polledSnapshots({ unbatched_transfers: [transfer('1', '1', HOSTILE)] });
    const outbound = { receiver_chainId: '1', coin_type: 'Gas', amount: '1', tss_nonce: '1', hash: HOSTILE };
    snapshots.record(
      CROSSCHAIN,
      crosschainResult({ cctxs_pending: [{ index: HOSTILE, outbound_params: [outbound] }] }),
      at(0),
    );
    snapshots.record(BRIDGE, FAILED, at(1));
    const html = pendingAt(snapshots, 2);
    expect(html).toContain('&lt;b&gt;&quot;oh&quot;&lt;/b&gt;');
    expect(html).toContain('main &quot;net&quot; &lt;1&gt;');
    for (const raw of ['<script>', '<b>"oh"', 'alert("', 'net" <1>']) expect(html).not.toContain(raw);
    expect(pendingAt(snapshots, 2)).toContain(
      'title="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;amp;"',
    );
  });

  it('shows how many items there are, how many are listed and in which order', () => {
    const unbatched_transfers = Array.from({ length: 812 }, (_, index) => transfer(`${812 - index}`, '1'));
    const html = pendingAt(polledSnapshots({ unbatched_transfers, batches: [] }), 12);
    expect(html).toContain('Waiting transfers <b>812</b></a> <small>812 in no batch; 0 in 0 batches');
    expect(html).toContain('<summary>812: the first 50, oldest first</summary>');
    expect(idsIn(html)).toEqual(Array.from({ length: 50 }, (_, index) => `${index + 1}`));
  });

  it('has the tables of the firing problem first, then the validators', () => {
    const store = polledSnapshots({
      ...idleState,
      batches: [batch('1')],
      attestations: [{ observed: false, height: '900', votes: [vote(0)], claim: { event_nonce: '8' } }],
    });
    const ids = (alert: ReturnType<typeof problem>): string[] =>
      Array.from(
        pendingAt(store, 0, {}, { problems: [judgeTarget([alert])] }).matchAll(
          /<section id="(validators|module_state|claims|batches|problems|rate_limiter_input)"/g,
        ),
        ([, id = '']) => id,
      );
    expect(ids(problem('BridgeOracleStalled', 'critical', 18))).toEqual([
      'module_state',
      'claims',
      'batches',
      'validators',
      'rate_limiter_input',
    ]);
    expect(ids(problem('BridgeBatchUnsigned', 'critical', 50))).toEqual([
      'module_state',
      'batches',
      'claims',
      'validators',
      'rate_limiter_input',
    ]);
    expect(ids(problem('BridgeHeightStalled', 'critical', 50))[0]).toBe('validators');
  });

  it('distinguishes no items from unreadable ones, and unknown values from 0', () => {
    const none = pendingAt(polledSnapshots({ unbatched_transfers: [], batches: [] }), 1);
    const empty = 'Transfers <span class="quiet">none</span>';
    expect(none).toContain(empty);
    const unreadable = pendingAt(
      polledSnapshots({ unbatched_transfers: [{ ...transfer('1', '1'), id: null }], batches: [] }),
      1,
    );
    expect(unreadable).not.toContain(empty);
    expect(unreadable).toMatch(/Transfers <span class="quiet">unknown<\/span><\/h3>\n<p class="alert">Cannot be read/);
    const unknown = pendingAt(polledSnapshots({ unbatched_transfers: [{ id: '1' }], batches: [] }), 1);
    expect(unknown).toMatch(/data-label="Amount"><span class="quiet">unknown</);
  });
});

const cctx = (index: string, status: object = {}, outbound: object = {}) => ({
  index,
  cctx_status: { status: 'PendingOutbound', created_timestamp: '1767265200', lastUpdate_timestamp: '0', ...status },
  inbound_params: { sender: '0xSender', sender_chain_id: '7000', observed_hash: '0xInbound' },
  outbound_params: [{ receiver_chainId: '56', coin_type: 'Gas', amount: '15', tss_nonce: '9', hash: '', ...outbound }],
});

function crosschainPage(
  document: object,
  query: Readonly<Record<string, string>> = {},
  ...problems: readonly ReturnType<typeof problem>[]
): string {
  const snapshots = initialSnapshots();
  snapshots.record(CROSSCHAIN, crosschainResult({ cctxs_missed: [], cctxs_pending: [], ...document }), at(0));
  return pendingAt(snapshots, 0, query, { problems: [judgeTarget(problems)] });
}

describe('cross-chain transactions', () => {
  it('have an estimated age if only their last update is known', () => {
    const update = { created_timestamp: '0', lastUpdate_timestamp: '1767265200' };
    const text = textOf(crosschainPage({ cctxs_pending: [cctx('0xindex', update)] }));
    expect(text).toContain('60 min ago\ntime of the last update; the creation was earlier');
  });

  it('have the severity of a joint problem of chains only on these chains', () => {
    const document = { cctxs_pending: [cctx('a'), cctx('b', {}, { receiver_chainId: '8332', tss_nonce: '3' })] };
    const markedRows = (chains: readonly string[]) => {
      const joint = problem('CrosschainBacklogStuck', 'critical', 50, { ...CROSSCHAIN, chains });
      const [, ...rows] = crosschainPage(document, {}, joint).split('<tr role="row" id="');
      return rows.filter((row) => row.includes('class="state critical"')).map((row) => row.split('"')[0]);
    };
    expect(markedRows(['56', '1', '137'])).toEqual(['chains/56', 'pending/a']);
    expect(markedRows(['56', '8332', '137'])).toHaveLength(4);
  });

  it('are listed on demand if there are more than eight', () => {
    const cctxs_pending = Array.from('abcdefghi', (index) => cctx(index));
    const details = '<details id="pending/rows"><summary>9: oldest first</summary>';
    expect(crosschainPage({ cctxs_pending })).toContain(details);
    expect(crosschainPage({ cctxs_pending: cctxs_pending.slice(1) })).not.toContain('<details');
  });

  it('are open while an alert is about them', () => {
    const cctxs_missed = Array.from('abcdefghi', (index) => cctx(index));
    const isOpen = (...problems: Parameters<typeof crosschainPage>[2][]) =>
      crosschainPage({ cctxs_missed }, {}, ...problems).includes(
        '<tr role="row" id="missed/a"><th role="rowheader" scope="row"><b class="state warning"',
      );
    expect(isOpen()).toBe(false);
    expect(isOpen(problem('CrosschainCctxsMissed', 'warning', 50, CROSSCHAIN))).toBe(true);
  });

  it('say why each waits, which is unknown while the nonce of another one cannot be read', () => {
    const cctxs_pending = [cctx('a', {}, { hash: '0x1' }), cctx('b', {}, { tss_nonce: '10' })];
    const cctxs_missed = [cctx('c', {}, { tss_nonce: '3' })];
    const reasons = (document: object) =>
      Array.from(
        crosschainPage(document).matchAll(/data-label="Waits" class="wide">(?:<span class="quiet">)?([^<]*)/g),
        ([, reason]) => reason,
      );
    const unsent = 'not sent, or not seen on its chain yet';
    const overtaken = 'overtaken by a later nonce: an observer has to post the hash';
    const sent = 'sent, waits for confirmations and votes';
    expect(reasons({ cctxs_missed, cctxs_pending })).toEqual([overtaken, sent, 'waits behind nonce 9']);
    const frozen = { cctxs_missed, cctxs_pending: [cctx('a'), cctx('b', {}, { tss_nonce: '64' })] };
    expect(reasons(frozen)).toEqual([overtaken, unsent, 'waits behind the missed nonce 3']);
    const scheduled = { cctxs_missed, cctxs_pending: [cctx('a'), cctx('b', {}, { tss_nonce: '63' })] };
    expect(reasons(scheduled), 'at the end of the lookahead').toEqual([overtaken, unsent, 'waits behind nonce 9']);
    const fractions = { cctxs_missed: [], cctxs_pending: [cctx('a'), cctx('b', {}, { tss_nonce: '9.5' })] };
    expect(reasons(fractions)).toEqual([unsent, 'waits behind nonce 9']);
    expect(reasons({ cctxs_missed, cctxs_pending: [] }), 'nothing is pending').toEqual([overtaken]);
    const unreadable = cctx('c', {}, { receiver_chainId: 1.5 });
    expect(reasons({ cctxs_pending: [...cctxs_pending, unreadable] })).toEqual(['unknown', 'unknown', 'unknown']);
  });

  it('have no lowest nonce of a chain where none is pending, which is unknown where one cannot be read', () => {
    const cctxs_missed = [cctx('c', {}, { tss_nonce: '3' })];
    const chainIn = (document: object) => textOf(crosschainPage(document)).split('\n56\n')[1]?.split('\n').slice(0, 5);
    expect(chainIn({ cctxs_missed, cctxs_pending: [] })).toEqual(['0', 'none', '30 min', 'none', '1']);
    expect(chainIn({ cctxs_missed, cctxs_pending: null })).toEqual(['unknown', 'unknown', '30 min', 'unknown', '1']);
    const unreadable = [cctx('a', {}, { tss_nonce: 'x' })];
    expect(chainIn({ cctxs_missed, cctxs_pending: unreadable })).toEqual(['1', '60 min ago', '30 min', 'unknown', '1']);
  });

  it('are filtered by the query of the page, of which the whole list has the number', () => {
    const cctxs_pending = Array.from({ length: 200 }, (_, index) => cctx(`0x${1000 + index}`));
    const textWith = (q: string): string => textOf(crosschainPage({ cctxs_pending }, { target: TARGET, q }));
    expect(textWith(' 0X1049 ')).toMatch(/\nPending cctxs 1 of 200\n[^]*\n60 min ago\n0x1049\n/);
    expect(textWith('0x1199'), 'newer than those of the page').toContain('\nPending cctxs 1 of 200\n');
    expect(textWith('0x1')).toContain('\n200: the first 50, oldest first\n');
    expect(crosschainPage({ cctxs_pending }, { q: '0x1' })).toContain('<details id="pending/rows" open>');
    expect(textWith(HOSTILE)).toContain('Pending cctxs none of 200');
    expect(crosschainPage({}, { q: HOSTILE })).toContain('value="&lt;script&gt;');
  });

  it('are open with the one that an alert is about, also if many are older', () => {
    const older = Array.from({ length: 40 }, (_, index) => cctx(`0x${1000 + index}`));
    const own = cctx('0x9', { created_timestamp: '1767268700' }, { receiver_chainId: '8332', tss_nonce: '41073' });
    const subject = { chain_id: '8332' };
    const details = {
      summary: 'nothing moves on chain 8332 at nonce 41073',
      details: `the limit is 35 min; outbound hash ${'ab'.repeat(32)}`,
    };
    const stuck = { ...problem('CrosschainBacklogStuck', 'critical', 50, { ...CROSSCHAIN, subject }), ...details };
    const html = crosschainPage({ cctxs_pending: [...older, own] }, {}, stuck);
    const rows = Array.from(html.matchAll(/<tr role="row" id="pending\/(0x\d+)"/g), ([, id]) => id);
    expect(rows.slice(0, 2)).toEqual(['0x9', '0x1000']);
    expect(textOf(html)).toContain('\n40 more: oldest first\n');
    expect(html).toContain('at nonce <a href="./pending?target=main%20%22net%22%20%3C1%3E&amp;q=41073">41073</a>');
    expect(html).toContain(
      `outbound hash <a href="./pending?target=main%20%22net%22%20%3C1%3E&amp;q=${'ab'.repeat(32)}"`,
    );
  });
});

describe('items of an old success', () => {
  const state = { unbatched_transfers: [transfer('424242', '1')], batches: [] };

  it('are shown with their age and the failure while polls fail', () => {
    const snapshots = polledSnapshots(state);
    expect(pendingAt(snapshots, 12)).toContain(
      '<p>Last success: <time datetime="2026-01-01T12:00:00.000Z" title="2026-01-01 12:00:00 UTC">12 s ago</time></p>',
    );
    snapshots.record(BRIDGE, FAILED, at(30));
    const html = pendingAt(snapshots, 33);
    expect(html).toContain('<div class="alert"><p>Last success: <time');
    expect(html).toContain('<code class="reason">status</code> /x: responded with status 500');
    expect(html).toContain('424242');
  });

  it('are not shown when they are stale by either clock', () => {
    const snapshots = polledSnapshots(state);
    snapshots.record(BRIDGE, FAILED, at(30));
    const later = at(STALE_AFTER_SECONDS + 1);
    for (const now of [later, { ...at(0), at: later.at }]) {
      const links = testLinks();
      const document = createView(shownOf(snapshots.states()), [judgeTarget()], links, now, '');
      const html = pendingPage(document, '', links, { telemetryPath: '/metrics', version: '0.1.0' });
      expect(textOf(html)).toContain('Last success: 61 s ago\nchain series are withdrawn');
      expect(html).not.toContain('424242');
      expect(JSON.stringify(toJson(document, { withItems: true }))).not.toContain('424242');
      expect(document.endpoints[0]).toMatchObject({ shown: false, ageSeconds: 61, items: null });
    }
  });
});

describe('the rate limit', () => {
  const context = { ...CROSSCHAIN, settings: { ...CROSSCHAIN.settings, rate: '2' } };
  const pendingOn = (chain: string) => ({
    index: chain,
    cctx_status: { status: 'PendingOutbound', created_timestamp: '1700000000' },
    outbound_params: [{ receiver_chainId: chain, coin_type: 'Native', amount: '1', tss_nonce: '1' }],
  });
  const textWith = (value: string): string => {
    const snapshots = initialSnapshots();
    const document = {
      height: '1000',
      cctxs_missed: [],
      cctxs_pending: [pendingOn('56'), pendingOn('8332')],
      total_pending: '2',
      lowest_pending_cctx_height: '0',
      past_cctxs_value: '1',
      pending_cctxs_value: value,
    };
    snapshots.record(context, pollOf(context, document, { at: at(0) }), at(0));
    const [status, pending] = [statusAt(snapshots, 1), pendingAt(snapshots, 1, { target: TARGET })].map(textOf);
    expect(status?.includes('the rate limit')).toBe(pending?.includes('the rate limit'));
    return pending ?? '';
  };

  it('is beside the number of pending transactions', () => {
    expect(textWith('1499')).toContain('150 % of the rate limit');
    expect(textWith('999')).toContain('100 % of the rate limit');
  });
});

describe('the numbers of a bridge', () => {
  it('are two when nothing is wrong, and three while an alert about validator sets fires', () => {
    const numbersWith = (...problems: readonly ReturnType<typeof problem>[]): readonly string[] => {
      const snapshots = initialSnapshots();
      snapshots.record(BRIDGE, pollOf(BRIDGE, { state: idleState }, { height: 1000, at: at(0) }), at(0));
      const html = pendingAt(snapshots, 1, {}, { problems: [judgeTarget(problems)] });
      return Array.from(html.matchAll(/<li><a[^>]*#(\w+)">/g), ([, table = '']) => table);
    };
    expect(numbersWith()).toEqual(['tokens', 'claims']);
    expect(numbersWith(problem('BridgeValsetUnsigned', 'critical', 30))).toEqual(['tokens', 'claims', 'valsets']);
  });
});
