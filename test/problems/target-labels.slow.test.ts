import { expect, it } from 'vitest';
import { rules } from '../../src/problems/rules.js';
import { hasTool } from '../support/tools.js';
import { metricsInRules, runAlerts } from './promtool.js';
import { record, type Phase } from './recording.js';

/* Alertmanager routes by labels such as `team`: every alert of a target has its `targets[].labels`. */

const alertsOfExporters = new Set(
  rules
    .filter(({ problems, name }) => problems === undefined && name !== 'BridgeEndpointNotPolled')
    .map(({ name }) => name),
);

it.skipIf(!hasTool('promtool')).each<[string, readonly Phase[], string[]]>([
  ['an endpoint is not polled', [{ minutes: 20 }, { minutes: 20, bridge: 'not polled' }], ['BridgeEndpointNotPolled']],
  [
    'a response is too large',
    [{ minutes: 20, bridge: { fails: 'too_large' }, crosschain: { fails: 'unauthorized' } }],
    ['BridgeEndpointDown', 'BridgeEndpointMisconfigured', 'BridgeResponseNearLimit', 'BridgeSnapshotStale'],
  ],
])('alerts have the labels of their target when %s', (_title, phases, expected) => {
  const recording = record(phases, { keep: metricsInRules, valsets: 3, targetLabels: { team: 'payments' } });
  const firings = runAlerts(recording).filter(({ alert }) => !alertsOfExporters.has(alert));
  expect(Array.from(new Set(firings.map(({ alert }) => alert))).toSorted()).toEqual(expected);
  expect(firings.filter(({ labels }) => labels['team'] !== 'payments')).toEqual([]);
});
