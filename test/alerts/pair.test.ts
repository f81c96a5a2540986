import { expect, it } from 'vitest';
import { hasTool } from '../support/tools.js';
import { firings, usedNames, type Firing } from './promtool.js';
import { record, type Recorded, type Stretch } from './recording.js';

/*
 * Two exporters that watch the same bridge, as docs/scale.md describes it.
 */
const hasPromtool = hasTool('promtool');

it.skipIf(!hasPromtool)('each of a pair fires for itself, and when one goes away the other goes on', () => {
  const incident: readonly Stretch[] = [{ minutes: 20 }, { minutes: 25, scenario: 'conflicting-claims' }];
  const stays = record([...incident, { minutes: 30 }], { keep: usedNames });
  const goes = record([...incident, { minutes: 30, exporterDown: true }], { keep: usedNames });
  const claims = firings(stays, { 'other:10917': goes })
    .filter(({ alert }) => alert === 'BridgeConflictingClaims')
    .toSorted((first, second) => second.until - first.until);
  const labels = { job: 'bridge', target: 'demo', endpoint: 'module_state' };
  expect(claims).toMatchObject([
    { labels: { ...labels, instance: 'localhost:10917' }, from: 30, until: 74, times: 1 },
    // Its data end at minute 44; keep_firing_for holds it for 20 minutes more.
    { labels: { ...labels, instance: 'other:10917' }, from: 30, until: 64, times: 1 },
  ]);
});

/** What BridgeBacklogStuck goes by. */
const STUCK = new Set([
  'bridge_unbatched_transfers',
  'bridge_last_outgoing_batch_id',
  'bridge_height',
  'bridge_exporter_last_success_timestamp_seconds',
]);

function during({ series, ...rest }: Recorded, first: number, end: number): Recorded {
  const within = (values: readonly (number | undefined)[]): (number | undefined)[] =>
    values.map((value, at) => (first <= at && at < end ? value : undefined));
  return { ...rest, series: new Map(Array.from(series, ([key, values]) => [key, within(values)])) };
}

it.skipIf(!hasPromtool)(
  'an exporter that comes back as another instance begins anew to judge what stands still',
  () => {
    const always = record([{ minutes: 20 }, { minutes: 140, scenario: 'stuck' }], { keep: STUCK, valsets: 1 });
    const stuck = (fired: readonly Firing[]): unknown[] =>
      fired
        .filter(({ alert, severity }) => alert === 'BridgeBacklogStuck' && severity === 'critical')
        .toSorted((first, second) => first.from - second.from)
        .map(({ from, until }) => [from, until]);
    expect(stuck(firings(always))).toEqual([[69, 159]]);
    const moved = firings(during(always, 0, 90), { 'other:10917': during(always, 90, 160) });
    expect(stuck(moved)).toEqual([
      [69, 109],
      [140, 159],
    ]);
  },
);
