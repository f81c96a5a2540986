import type { Instant } from '../../clock.js';
import type { BridgeInput } from './input.js';

/** What families remember of the earlier module states of an endpoint: a bounded number of values, as plain data. */
export interface BridgeObservations {
  /** When the last document was received. */
  readonly at: Instant;
}

/** What is remembered from this document on. The first document of an endpoint has no previous observations. */
export function bridgeObservations({ at }: BridgeInput): BridgeObservations {
  return { at };
}
