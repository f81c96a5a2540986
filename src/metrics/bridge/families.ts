import { anomalyFamilies } from './anomalies.js';
import { batchFamilies } from './batches.js';
import { driftFamilies } from './drift.js';
import { eventFamilies } from './events.js';
import { hashFamilies } from './hashes.js';
import type { BridgeFamily } from './input.js';
import { numberFamilies } from './numbers.js';
import { orchestratorFamilies } from './orchestrators.js';
import { paramsFamilies } from './params.js';
import { signingFamilies } from './signing.js';
import { tokenFamilies } from './tokens.js';
import { valsetFamilies } from './valsets.js';

/** All families of the module state, in the order of the exposition. */
export const bridgeFamilies: readonly BridgeFamily[] = [
  ...numberFamilies,
  ...valsetFamilies,
  ...signingFamilies,
  ...orchestratorFamilies,
  ...batchFamilies,
  ...tokenFamilies,
  ...eventFamilies,
  ...driftFamilies,
  ...anomalyFamilies,
  ...paramsFamilies,
  ...hashFamilies,
];
