import { anomalyFamilies } from '../facts/bridge/anomalies.js';
import { batchFamilies } from '../facts/bridge/batches.js';
import { blockTimeFamilies } from '../facts/bridge/block-times.js';
import { eventFamilies } from '../facts/bridge/events.js';
import { integrityFamilies } from '../facts/bridge/integrity.js';
import { objectiveFamilies } from '../facts/bridge/objective.js';
import { orchestratorFamilies } from '../facts/bridge/orchestrators.js';
import { paramsFamilies } from '../facts/bridge/params.js';
import { signingFamilies } from '../facts/bridge/signing.js';
import { tokenFamilies } from '../facts/bridge/tokens.js';
import { totalFamilies } from '../facts/bridge/totals.js';
import { driftFamilies, valsetFamilies } from '../facts/bridge/valsets.js';
import { watchedFamilies } from '../facts/bridge/watched.js';

/** All families of the module state, in the order of the exposition. */
export const bridgeFamilies = [
  ...totalFamilies,
  ...valsetFamilies,
  ...signingFamilies,
  ...orchestratorFamilies,
  ...watchedFamilies,
  ...blockTimeFamilies,
  ...batchFamilies,
  ...tokenFamilies,
  ...objectiveFamilies,
  ...eventFamilies,
  ...driftFamilies,
  ...integrityFamilies,
  ...anomalyFamilies,
  ...paramsFamilies,
];
