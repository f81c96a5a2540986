import type { BridgeModule } from './bridge-module.js';
import type { CrosschainModule } from './crosschain-module.js';

/*
 * The types of the two responses, inferred from the code that makes them. A test compares the responses with the names
 * and types of the spec (contributing/coverage.md).
 */

export type Immutable<T> = { readonly [Key in keyof T]: Immutable<T[Key]> };

export type ModuleState = Immutable<ReturnType<BridgeModule['state']>>;

export interface ModuleStateResponse {
  readonly state: ModuleState;
}

export type RateLimiterInput = Immutable<ReturnType<CrosschainModule['input']>>;

export type Attestation = ModuleState['attestations'][number];

export type { Cctx } from './cctx.js';
export type { Valset } from './validators.js';
