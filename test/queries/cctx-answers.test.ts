import { expect, it } from 'vitest';
import { newAnswers } from '../../src/queries/query.js';
import { createModel } from '../../src/simulator/model.js';
import { startNode } from '../http/nodes.js';
import { answeredQueries } from '../support/answered-queries.js';
import { seriesOf } from '../support/exposition-text.js';
import { waitUntil } from '../support/wait-for.js';
import { createPolledLoop, respondAs } from './polled-loop.js';

it('the node is asked for transactions that have left the lists, until they are finished', async () => {
  // Documents have the time of the machine, behind which the chain stays.
  const startTime = Math.floor(Date.now() / 1000) - 3600;
  const model = createModel({ seed: 3, scenario: 'healthy', startTime, blockTimeMs: 2000 });
  const polled = createPolledLoop();
  const node = await startNode({ respond: respondAs(model) });
  polled.configure(`
poll: {interval: 100ms, timeout: 2s, stale_after: 5m}
targets: [{name: a, crosschain: {url: "${node.url}"}}]`);
  const asked = (): number => node.requests.filter(({ url = '' }) => url.includes('/cctx/')).length;
  for (let step = 0; step < 6; step += 1) {
    model.advanceTime(20_000);
    polled.advance(20_000);
    // oxlint-disable-next-line no-await-in-loop -- one poll after the other
    await polled.nextPolls();
  }
  await waitUntil(() => asked() > 5);
  await polled.nextPolls(3);
  const [before] = [asked(), await polled.nextPolls(3)];
  expect(asked()).toBe(before);
  const requested = node.requests.find(({ url = '' }) => url.includes('/cctx/'));
  expect(requested?.url).toMatch(/^\/chain\/crosschain\/cctx\/0x[0-9a-f]{64}$/);
  const failures = seriesOf(polled.exposition()).filter(
    ({ name }) => name === 'bridge_exporter_node_query_failures_total',
  );
  expect(failures.filter(({ value }) => value > 0)).toEqual([]);
});

it('an answer counts in the document after it, also when it arrives while a document is requested, and once only', () => {
  const answered = (seconds: number) =>
    answeredQueries({ at: seconds, clockOffset: 0 }, { cctx: { index: '0x1', answer: 'pending' } }, '0x1');
  const countNew = (...[states, before]: Parameters<typeof newAnswers>) =>
    newAnswers(states, before).get('cctx')?.answers.size;
  expect(countNew(answered(10), undefined)).toBe(1);
  expect(countNew(answered(10), new Map())).toBe(1);
  expect(countNew(answered(10), answered(10))).toBe(0);
  expect(countNew(answered(20), answered(10))).toBe(1);
});
