import { anomalyFamilies } from './anomalies.js';
import { batchFamilies } from './batches.js';
import { blockTimeFamilies } from './block-times.js';
import { eventFamilies } from './events.js';
import { integrityFamilies } from './integrity.js';
import { objectiveFamilies } from './objective.js';
import { orchestratorFamilies } from './orchestrators.js';
import { paramsFamilies } from './params.js';
import { signingFamilies } from './signing.js';
import { tokenFamilies } from './tokens.js';
import { totalFamilies } from './totals.js';
import { driftFamilies, valsetFamilies } from './valsets.js';
import { watchedFamilies } from './watched.js';

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
