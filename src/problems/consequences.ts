import type { Inhibition } from './problem.js';

/* What follows from a cause that several problems share. */

/** While no batch is relayed, no other one is built. */
export const OF_UNRELAYED_BATCHES: readonly Inhibition[] = [
  { problem: 'BridgeBacklogStuck' },
  { problem: 'BridgeBacklogHigh' },
  { problem: 'BridgeValsetDrift' },
];

/** While no event is observed, no execution is known on the hub. A missing vote of a watched validator is a cause. */
export const OF_UNOBSERVED_EVENTS: readonly Inhibition[] = [
  { problem: 'BridgeOracleSilent' },
  { problem: 'BridgeBatchOverdue' },
  { problem: 'BridgeBatchTimeoutNear' },
  { problem: 'BridgeBatchNotRelayed' },
  ...OF_UNRELAYED_BATCHES,
  { problem: 'BridgeOrchestratorMissingVotes', exceptWatched: true },
];
