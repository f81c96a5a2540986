import { expect, it } from 'vitest';
import { hasTool } from '../e2e/tools.js';
import { firings, usedNames } from './promtool.js';
import { record, type Stretch } from './recording.js';

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
