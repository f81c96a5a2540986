import type { RequestListener } from 'node:http';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clock, type Instant } from '../../src/clock.js';
import { createEndpointRegistry, type EndpointRegistry } from '../../src/poll/registry.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import { jobsOf } from '../../src/poll/jobs.js';
import { createPollExecutor, type PollExecutor } from '../../src/poll/fetch.js';
import { executeQuery, parseRequest } from '../../src/simulator/query-service.js';
import { createModel, type Model } from '../../src/simulator/model.js';
import { startNode, type Node } from '../http/nodes.js';
import { parseValidConfig } from '../support/config.js';
import { seriesOf } from '../support/exposition-text.js';
import { waitFor, waitUntil } from '../support/wait-for.js';

const HOUR_MS = 3_600_000;
const BLOCK_MS = 2000;
const FINISHED = 'crosschain_cctxs_finished_total';

let model: Model;
let executor: PollExecutor;
let registry: EndpointRegistry;
let node: Node;
let elapsedMs = 0;
/** How the node responds to the query for a cctx, unless like the simulated chain. */
let respondToQuery: RequestListener | undefined;

const now = (): Instant => {
  const { epochSeconds, monotonicMs } = clock();
  return { epochSeconds: epochSeconds + elapsedMs / 1000, monotonicMs: monotonicMs + elapsedMs };
};

beforeEach(async () => {
  elapsedMs = 0;
  respondToQuery = undefined;
  // Documents have the time of the machine, behind which the chain stays.
  const startTime = Math.floor(Date.now() / 1000) - HOUR_MS / 1000;
  model = createModel({ seed: 3, scenario: 'healthy', startTime, blockTimeMs: BLOCK_MS });
  executor = createPollExecutor('test');
  registry = createEndpointRegistry(executor, pino({ level: 'silent' }), now);
  node = await startNode({
    respond: (request, response) => {
      const { url = '' } = request;
      if (respondToQuery !== undefined && url.includes('/cctx/')) return respondToQuery(request, response);
      const query = parseRequest('GET', url);
      const { status, headers, body } = 'endpoint' in query ? executeQuery(model, query) : query;
      response.writeHead(status, headers).end(body);
      return undefined;
    },
  });
});

afterEach(async () => {
  registry.close();
  executor.close();
  await node.close();
});

function start(settings = '', staleAfter = '5m'): void {
  const config = parseValidConfig(`
poll: {interval: 100ms, timeout: 2s, stale_after: ${staleAfter}}
targets: [{name: a, crosschain: {url: "${node.url}"${settings}}}]`);
  registry.reconcile(jobsOf(config), config.poll, now());
}

const polls = (): number => registry.states()[0]?.polls ?? 0;

/** Waits until polls that have begun from now on have ended. */
async function nextPolls(): Promise<void> {
  const before = polls();
  await waitUntil(() => polls() >= before + 2);
}

/** Some minutes in which polls keep up with the chain. */
async function advance(minutes: number, stepMs = 20_000): Promise<void> {
  for (let ms = 0; ms < minutes * 60_000; ms += stepMs) {
    model.advanceTime(stepMs);
    elapsedMs += stepMs;
    // oxlint-disable-next-line no-await-in-loop -- one poll after the other
    await nextPolls();
  }
}

const series = () => seriesOf(renderEndpoints(registry.states(), 'text', now()));
const sumOf = (name: string, label = ''): number =>
  series()
    .filter((one) => one.name === name && one.labels.includes(label))
    .reduce((sum, { value }) => sum + value, 0);
const failures = (): number => sumOf('bridge_exporter_node_query_failures_total', 'query="cctx"');
const requests = (): readonly string[] =>
  node.requests.map(({ url = '' }) => url).filter((url) => url.includes('/cctx/'));

describe('the outcomes of cross-chain transactions', () => {
  it('are asked of the same node, and are those of the chain', async () => {
    start();
    await nextPolls();
    const before = finishedOf(model);
    await advance(4);
    const after = finishedOf(model);
    const all = (counts: typeof after): number => counts.OutboundMined + counts.Reverted + counts.Aborted;
    await waitUntil(() => sumOf(FINISHED) >= all(after) - all(before));
    expect(after.OutboundMined - before.OutboundMined).toBeGreaterThan(5);
    expect(sumOf(FINISHED, 'outcome="mined"')).toBe(after.OutboundMined - before.OutboundMined);
    expect(sumOf(FINISHED, 'outcome="reverted"')).toBe(after.Reverted - before.Reverted);
    expect(sumOf(FINISHED, 'outcome="aborted"')).toBe(after.Aborted - before.Aborted);
    expect(sumOf(FINISHED, 'outcome="unknown"')).toBe(0);
    expect(sumOf('crosschain_cctx_duration_seconds_count')).toBe(sumOf(FINISHED));
    expect(requests()[0]).toMatch(/^\/chain\/crosschain\/cctx\/0x[0-9a-f]{64}$/);
    expect(failures()).toBe(0);
  });

  it('are unknown on a node that refuses the query, which is sent again every hour', async () => {
    respondToQuery = (_request, response) => response.writeHead(501).end('{}');
    start('', '3s');
    await nextPolls();
    await advance(20, 2 * 60_000);
    const refused = await waitFor(failures, (count) => count === requests().length);
    await advance(30, 10 * 60_000);
    expect(requests()).toHaveLength(refused);
    expect(failures()).toBe(refused);
    expect(sumOf(FINISHED)).toBeGreaterThan(0);
    expect(sumOf(FINISHED)).toBe(sumOf(FINISHED, 'outcome="unknown"'));
    elapsedMs += HOUR_MS / 2;
    await advance(1);
    expect(requests().length).toBeGreaterThan(refused);
  });
});

/** Finished transactions on all chains, by status, as in the books. */
function finishedOf({ books }: Model): Record<'OutboundMined' | 'Reverted' | 'Aborted', number> {
  const count = (status: string): number =>
    Array.from(books)
      .filter(([key]) => key.startsWith('cctxs_finished ') && key.endsWith(` ${status}`))
      .reduce((sum, [, value]) => sum + Number(value), 0);
  return { OutboundMined: count('OutboundMined'), Reverted: count('Reverted'), Aborted: count('Aborted') };
}
