import { describe, expect, it } from 'vitest';
import { toJson } from '../../src/pages/view.js';
import { idleState } from '../items/bridge-state.js';
import {
  bridgeResult,
  FAILED,
  initialSnapshots,
  statusDocumentAt,
  targetVerdicts,
  transfer,
  verdict,
  at,
  BRIDGE,
  CROSSCHAIN,
} from './sample-snapshots.js';

describe('the JSON of the status page', () => {
  const snapshots = initialSnapshots();
  snapshots.record(
    BRIDGE,
    bridgeResult({ ...idleState, unbatched_transfers: [transfer('1', '2500000')] }, '1000'),
    at(0),
  );
  snapshots.record(CROSSCHAIN, FAILED, at(0));
  const options = { verdicts: [targetVerdicts([verdict('BridgeBacklogStuck', 'critical', 60)])] };
  const json = toJson(statusDocumentAt(snapshots, 5, options), { withItems: false });

  it('has the problems, and the failures of polls', () => {
    expect(json.targets[0]).toMatchObject({ status: 'critical', verdicts: [{ alert: 'BridgeBacklogStuck' }] });
    expect(json.endpoints[1]).toMatchObject({
      document: 'rate_limiter_input',
      host: 'node.example:1317',
      availability: 'failing',
      up: false,
      lastFailure: { reason: 'status' },
      backlog: null,
    });
  });
});
