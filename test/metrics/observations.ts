import type { BridgeObservations } from '../../src/metrics/bridge/observations.js';
import type { Snapshot } from '../../src/poll/poll.js';

/** Whether observations are those of a module state. */
export function isBridgeObservations(observations: Snapshot['observations']): observations is BridgeObservations {
  return 'batchNonces' in observations;
}
