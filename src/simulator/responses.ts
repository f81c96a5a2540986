import type { BridgeModule } from './bridge-module.js';
import type { CrosschainModule } from './crosschain-module.js';

/*
 * The types of the two responses, inferred from the code that makes them, and of the rows that several parts of the model share. A test
 * compares the responses with the names and types of the spec (docs/coverage.md).
 */

export type Immutable<T> = { readonly [Key in keyof T]: Immutable<T[Key]> };

export type ModuleState = Immutable<ReturnType<BridgeModule['state']>>;

export interface ModuleStateResponse {
  readonly state: ModuleState;
}

export type RateLimiterInput = Immutable<ReturnType<CrosschainModule['input']>>;

export type { Cctx } from './cctx.js';

export interface Valset {
  readonly nonce: string;
  readonly members: readonly ValsetMember[];
  readonly height: string;
  readonly reward_amount: string;
  readonly reward_token: string;
}

export interface ValsetMember {
  readonly power: string;
  readonly external_address: string;
}

export interface ValsetConfirm {
  readonly nonce: string;
  readonly orchestrator: string;
  readonly eth_address: string;
  readonly signature: string;
}

export interface Batch {
  readonly batch_nonce: string;
  readonly batch_timeout: string;
  readonly transactions: readonly OutgoingTransfer[];
  readonly token_contract: string;
  readonly block: string;
}

export interface OutgoingTransfer {
  readonly id: string;
  readonly sender: string;
  readonly dest_address: string;
  readonly erc20_token: Erc20Amount;
  readonly erc20_fee: Erc20Amount;
}

export interface Erc20Amount {
  readonly contract: string;
  readonly amount: string;
}

export interface BatchConfirm {
  readonly nonce: string;
  readonly token_contract: string;
  readonly eth_signer: string;
  readonly orchestrator: string;
  readonly signature: string;
}

export interface Attestation {
  readonly observed: boolean;
  readonly votes: readonly string[];
  readonly height: string;
  readonly claim: Claim;
}

export interface Claim {
  readonly type_url: string;
  readonly value: string;
}

export interface OrchestratorAddress {
  readonly sender: string;
  readonly orchestrator: string;
  readonly eth_address: string;
}
