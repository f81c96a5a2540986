import { expect, it } from 'vitest';
import { newCctxAnswers } from '../../src/queries/crosschain-queries.js';
import { createModel, type Model } from '../../src/simulator/model.js';
import { startNode } from '../http/nodes.js';
import { answeredQueries } from '../support/answered-queries.js';
import { seriesOf } from '../support/exposition-text.js';
import { waitUntil } from '../support/wait-for.js';
import { createPolledLoop, respondAs } from './polled-loop.js';

const HOUR_SECONDS = 3600;
const STEP_MS = 20_000;
/** Steps in which polls keep up with the chain. */
const STEPS = 12;
const FINISHED = 'crosschain_cctxs_finished_total';

/** Finished transactions on all chains, by status, as in the event counts. */
function finishedOf({ counts }: Model): Record<'OutboundMined' | 'Reverted' | 'Aborted', number> {
  const count = (status: string): number =>
    Array.from(counts)
      .filter(([key]) => key.startsWith('cctxs_finished ') && key.endsWith(` ${status}`))
      .reduce((sum, [, value]) => sum + Number(value), 0);
  return { OutboundMined: count('OutboundMined'), Reverted: count('Reverted'), Aborted: count('Aborted') };
}

it('the outcomes of cross-chain transactions are asked of the same node, and are those of the chain', async () => {
  // Documents have the time of the machine, behind which the chain stays.
  const startTime = Math.floor(Date.now() / 1000) - HOUR_SECONDS;
  const model = createModel({ seed: 3, scenario: 'healthy', startTime, blockTimeMs: 2000 });
  const polled = createPolledLoop();
  const node = await startNode({ respond: respondAs(model) });
  polled.configure(`
poll: {interval: 100ms, timeout: 2s, stale_after: 5m}
targets: [{name: a, crosschain: {url: "${node.url}"}}]`);
  const sumOf = (name: string, label = ''): number =>
    seriesOf(polled.exposition())
      .filter((one) => one.name === name && one.labels.includes(label))
      .reduce((sum, { value }) => sum + value, 0);

  await polled.nextPolls();
  const before = finishedOf(model);
  for (let step = 0; step < STEPS; step += 1) {
    model.advanceTime(STEP_MS);
    polled.advance(STEP_MS);
    // oxlint-disable-next-line no-await-in-loop -- one poll after the other
    await polled.nextPolls();
  }
  const after = finishedOf(model);
  const all = (counts: typeof after): number => counts.OutboundMined + counts.Reverted + counts.Aborted;
  await waitUntil(() => sumOf(FINISHED) >= all(after) - all(before));
  expect(after.OutboundMined - before.OutboundMined).toBeGreaterThan(5);
  expect(sumOf(FINISHED, 'outcome="mined"')).toBe(after.OutboundMined - before.OutboundMined);
  expect(sumOf(FINISHED, 'outcome="reverted"')).toBe(after.Reverted - before.Reverted);
  expect(sumOf(FINISHED, 'outcome="aborted"')).toBe(after.Aborted - before.Aborted);
  expect(sumOf(FINISHED, 'outcome="unknown"')).toBe(0);
  expect(sumOf('crosschain_cctx_duration_seconds_count')).toBe(sumOf(FINISHED));
  const requested = node.requests.find(({ url = '' }) => url.includes('/cctx/'));
  expect(requested?.url).toMatch(/^\/chain\/crosschain\/cctx\/0x[0-9a-f]{64}$/);
  expect(sumOf('bridge_exporter_node_query_failures_total', 'query="cctx"')).toBe(0);
});

it('an answer counts in the document after it, also when it arrives while a document is requested, and once only', () => {
  const at = (seconds: number) => ({ at: seconds, clockOffset: 0 });
  const answered = answeredQueries(at(10), { cctx: { index: '0x1', answer: 'pending' } }, '0x1');
  const answeredAgain = answeredQueries(at(10), { cctx: { index: '0x1', answer: 'pending' } }, '0x1');
  const before = newCctxAnswers(new Map()).seenAnswers;
  const next = newCctxAnswers(answered, before);
  expect(Array.from(next.cctxAnswers)).toEqual([['0x1', 'pending']]);
  expect(newCctxAnswers(answered, next.seenAnswers).cctxAnswers.size).toBe(0);
  expect(newCctxAnswers(answeredAgain, next.seenAnswers).cctxAnswers.size).toBe(1);
});
