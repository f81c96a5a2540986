import type { JsonObject } from '../../support/json.js';
import { deriveBridge, familyReaders } from '../derive.js';

/*
 * Builders of small module states. Fields that are not given are empty.
 */

export const { valueOf, valuesOf, exportedOf } = familyReaders(deriveBridge);

/**
 * The bech32 addresses of a validator share their data part: the account address and the operator address, which votes
 * contain. The bech32 alphabet lacks b, i and o.
 */
export const account = (data: string): string => `inj1${data}cccccc`;
export const operator = (data: string): string => `injvaloper1${data}zzzzzz`;

/** Members from powers by external address. */
export function members(powers: Readonly<Record<string, string | number>>): JsonObject[] {
  return Object.entries(powers).map(([external_address, power]) => ({ external_address, power: String(power) }));
}

export function valset(
  nonce: string,
  powers: Readonly<Record<string, string | number>>,
  fields: JsonObject = {},
): JsonObject {
  return { nonce, height: nonce, members: members(powers), reward_amount: '0', reward_token: '', ...fields };
}

export function valsetConfirm(nonce: string, eth_address: string): JsonObject {
  return { nonce, eth_address, orchestrator: '', signature: '' };
}

export function batch(batch_nonce: string, token_contract: string, fields: JsonObject = {}): JsonObject {
  return { batch_nonce, token_contract, batch_timeout: '1000', block: '1', transactions: [], ...fields };
}

export function batchConfirm(nonce: string, token_contract: string, eth_signer: string): JsonObject {
  return { nonce, token_contract, eth_signer, orchestrator: '', signature: '' };
}

export function transfer(
  id: string,
  contract: string,
  amount: string,
  fee: JsonObject = { contract, amount: '0' },
): JsonObject {
  return { id, sender: '', dest_address: '', erc20_token: { contract, amount }, erc20_fee: fee };
}

export function orchestrator(data: string, eth_address: string): JsonObject {
  return { sender: account(data), orchestrator: account(data), eth_address };
}

export function attestation(event_nonce: string, votes: readonly string[], fields: JsonObject = {}): JsonObject {
  return { observed: false, votes, height: '1', claim: { '@type': '/x.MsgDepositClaim', event_nonce }, ...fields };
}

const empty: JsonObject = {
  params: {},
  last_observed_nonce: '0',
  valsets: [],
  valset_confirms: [],
  batches: [],
  batch_confirms: [],
  attestations: [],
  orchestrator_addresses: [],
  erc20_to_denoms: [],
  unbatched_transfers: [],
  last_observed_external_height: '0',
  last_outgoing_batch_id: '0',
  last_outgoing_pool_id: '0',
  last_observed_valset: valset('0', {}),
  external_blacklist: [],
};

export function state(fields: JsonObject): JsonObject {
  return { ...empty, ...fields };
}
