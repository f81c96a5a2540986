import type { Instant } from '../../clock.js';
import type { CrosschainInput } from './input.js';
import { rememberedNonces, type LowestNonce } from './chains.js';

/** What families remember of the earlier rate limiter inputs of an endpoint: a bounded number of values, as plain data. */
export interface CrosschainObservations {
  /** When the last document was received. */
  readonly at: Instant;
  /** The lowest nonces in the last complete lists. */
  readonly lowestNonces: readonly LowestNonce[];
}

/** What is remembered from this document on. The first document of an endpoint has no previous observations. */
export function crosschainObservations(input: CrosschainInput): CrosschainObservations {
  return { at: input.at, lowestNonces: rememberedNonces(input) };
}
