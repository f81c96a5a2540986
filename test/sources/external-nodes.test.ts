import { expect, it } from 'vitest';
import { createModel } from '../../src/simulator/model.js';
import { createPolledLoop } from '../queries/polled-loop.js';
import { seriesOf, valueIn } from '../support/exposition-text.js';
import { withStatus } from '../support/faults.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { waitUntil } from '../support/wait-for.js';

/** Five blocks of the external chain. */
const LAG_SECONDS = 60;

it('shows the older block of a node that takes the place of another one, and loses no poll', async () => {
  const startTime = Math.floor(Date.now() / 1000) - LAG_SECONDS;
  const [model, behind] = [LAG_SECONDS, 0].map((seconds) => {
    const created = createModel({ seed: 1, scenario: 'quiet', startTime, blockTimeMs: 2000 });
    created.advanceTime(seconds * 1000);
    return created;
  }) as [ReturnType<typeof createModel>, ReturnType<typeof createModel>];
  const [first, second] = [await startTestSimulator({ model }), await startTestSimulator({ model: behind })];
  const polled = createPolledLoop();
  polled.configure(`
poll: {interval: 100ms, timeout: 2s, stale_after: 1m}
targets:
  - name: a
    bridge:
      url: ${first.url}
      validator_names: "off"
      external: {interval: 1s, nodes: [{url: "${first.url}/external"}, {url: "${second.url}/external"}]}`);
  const height = () => valueIn(polled.exposition(), 'bridge_external_height');
  const newest = model.external.height;
  await waitUntil(() => height() === newest);
  const failures = () =>
    seriesOf(polled.exposition()).filter(
      ({ name, labels, value }) =>
        name === 'bridge_exporter_poll_failures_total' && labels.includes('external_contract') && value > 0,
    );
  // The contract is polled before the module state says where it is.
  const before = failures();
  first.fault('external_contract', withStatus(503));
  await waitUntil(() => height() === behind.external.height);
  expect(behind.external.height).toBeLessThan(newest);
  for (const each of [model, behind]) each.advanceTime(2 * LAG_SECONDS * 1000);
  await waitUntil(() => height() === behind.external.height);
  expect(behind.external.height).toBeGreaterThan(newest);
  expect(failures()).toEqual(before);
});
