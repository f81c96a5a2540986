import type { RequestListener } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { cctx, outbound, rateLimiterInput } from '../facts/crosschain/document.js';
import { startNode, type Node } from '../http/nodes.js';
import { createPolledLoop, type PolledLoop } from '../queries/polled-loop.js';
import { valueIn } from '../support/exposition-text.js';
import type { JsonObject } from '../support/json.js';
import { waitUntil } from '../support/wait-for.js';

/* A transaction leaves the lists of a node, whose answers about it differ. */

const INDEX = '0xaa';

let polled: PolledLoop;
let node: Node;
let document: JsonObject;
let height = 1;
let respondToQuery: RequestListener;

const json =
  (body: unknown, status = 200): RequestListener =>
  (_request, response) =>
    void response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));

const withStatus = (status: unknown, index = INDEX): RequestListener =>
  json({ CrossChainTx: { index, cctx_status: { status } } });

const WITHOUT_OUTCOME: readonly (readonly [string, RequestListener])[] = [
  ['of another transaction', withStatus('OutboundMined', '0xbb')],
  ['an unknown status', withStatus('Vanished')],
  ['no index', json({ CrossChainTx: { cctx_status: { status: 'OutboundMined' } } })],
  ['an error with status 200', json({ code: 5, message: 'not found' })],
  ['a page', json('<html>')],
  ['an index that the node does not know', json({ code: 3, message: 'not found' }, 400)],
  ['404', json({ code: 5, message: 'not found' }, 404)],
  ['404 of a proxy', json('<html>', 404)],
  ['429', json('', 429)],
  ['501', json({ code: 12, message: 'Not Implemented' }, 501)],
  ['none', () => undefined],
];

beforeEach(async () => {
  height = 1;
  document = rateLimiterInput({ cctxs_pending: [cctx(INDEX, [outbound('1')])], total_pending: '1' });
  respondToQuery = withStatus('PendingOutbound');
  polled = createPolledLoop();
  node = await startNode({
    respond: (request, response) => {
      const { url = '' } = request;
      if (url.startsWith('/chain/crosschain/cctx/')) return respondToQuery(request, response);
      height += 1;
      const body = url.startsWith('/chain/crosschain/rateLimiterInput') ? { ...document, height: String(height) } : {};
      return json(body, url.startsWith('/chain/') ? 200 : 501)(request, response);
    },
  });
});

const start = (rest = '', limits = ''): void =>
  polled.configure(`
poll: {interval: 100ms, timeout: 500ms, stale_after: 2s}
${limits}
targets: [{name: a, crosschain: {url: "${node.url}", dialect: neutral, node_queries: "off"${rest}}}]`);

const value = (name: string, label = 'chain_id="1"'): number | undefined => valueIn(polled.exposition(), name, label);
const unlisted = (): number | undefined => value('crosschain_cctxs_unlisted');
const failures = (): number | undefined => value('bridge_exporter_node_query_failures_total', 'query="cctx"');

/** The transaction leaves the lists. */
async function leave(): Promise<void> {
  start();
  await polled.nextPolls();
  document = rateLimiterInput({});
}

async function becomeUnlisted(): Promise<void> {
  await leave();
  await waitUntil(() => unlisted() === 1);
}

describe('a transaction that has left the lists', () => {
  it.each(['PendingOutbound', 4])('is unlisted while the node says %s, and not when it is finished', async (status) => {
    respondToQuery = withStatus(status);
    await becomeUnlisted();
    await polled.nextPolls(5);
    expect(unlisted()).toBe(1);
    respondToQuery = withStatus('Aborted');
    await waitUntil(() => unlisted() === undefined);
    await polled.nextPolls();
    expect(node.requests.at(-1)?.url).not.toContain(INDEX);
  });

  it('stays unlisted with all responses without its outcome, which are failures', async () => {
    await becomeUnlisted();
    for (const [what, respond] of WITHOUT_OUTCOME) {
      const before = failures() ?? 0;
      respondToQuery = respond;
      await waitUntil(() => (failures() ?? 0) > before + 1);
      expect(unlisted(), what).toBe(1);
    }
    polled.advance(60_000);
    await polled.nextPolls(3);
    expect(unlisted()).toBe(1);
    respondToQuery = withStatus('OutboundMined');
    await waitUntil(() => unlisted() === undefined);
  });

  it('stays unlisted at a reload, also when the counters begin anew', async () => {
    await becomeUnlisted();
    respondToQuery = () => undefined;
    start(', age_limits: {default: 1h}');
    await polled.nextPolls();
    expect(unlisted()).toBe(1);
    start('', 'limits: {max_series_per_family: 50}');
    await polled.nextPolls();
    expect(unlisted()).toBe(1);
    start(', cctx_queries: "off"');
    await polled.nextPolls();
    expect(unlisted()).toBeUndefined();
    start();
    await polled.nextPolls();
    expect(unlisted()).toBe(1);
  });
});
