import type { Instant } from '../../clock.js';
import type { CrosschainInput } from './input.js';

/** What families remember of the earlier rate limiter inputs of an endpoint: a bounded number of values, as plain data. */
export interface CrosschainObservations {
  /** When the last document was received. */
  readonly at: Instant;
}

/** What is remembered from this document on. The first document of an endpoint has no previous observations. */
export function crosschainObservations({ at }: CrosschainInput): CrosschainObservations {
  return { at };
}
