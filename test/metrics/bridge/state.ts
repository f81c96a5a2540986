import { deriveBridge, type Values } from '../derive.js';

/*
 * States of a bridge that are small enough to reckon by hand. Only what matters to a test is in it; the rest is empty.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Row = Readonly<Record<string, Json>>;

/**
 * A key with two prefixes: the account of a validator and, with another checksum, its operator address in the votes. Its
 * letters have to be of the bech32 alphabet, which leaves out b, i and o.
 */
export const account = (data: string): string => `inj1${data}cccccc`;
export const operator = (data: string): string => `injvaloper1${data}zzzzzz`;

/** Members from `{address: power}`. */
export function members(powers: Readonly<Record<string, string | number>>): Row[] {
  return Object.entries(powers).map(([external_address, power]) => ({ external_address, power: String(power) }));
}

export function valset(nonce: string, powers: Readonly<Record<string, string | number>>, more: Row = {}): Row {
  return { nonce, height: nonce, members: members(powers), reward_amount: '0', reward_token: '', ...more };
}

export function valsetConfirm(nonce: string, eth_address: string): Row {
  return { nonce, eth_address, orchestrator: '', signature: '' };
}

export function batch(batch_nonce: string, token_contract: string, more: Row = {}): Row {
  return { batch_nonce, token_contract, batch_timeout: '1000', block: '1', transactions: [], ...more };
}

export function batchConfirm(nonce: string, token_contract: string, eth_signer: string): Row {
  return { nonce, token_contract, eth_signer, orchestrator: '', signature: '' };
}

export function transfer(id: string, contract: string, amount: string, fee: Row = { contract, amount: '0' }): Row {
  return { id, sender: '', dest_address: '', erc20_token: { contract, amount }, erc20_fee: fee };
}

export function orchestrator(data: string, eth_address: string): Row {
  return { sender: account(data), orchestrator: account(data), eth_address };
}

export function attestation(event_nonce: string, votes: readonly string[], more: Row = {}): Row {
  return { observed: false, votes, height: '1', claim: { '@type': '/x.MsgDepositClaim', event_nonce }, ...more };
}

const empty: Row = {
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

export function state(fields: Row): Row {
  return { ...empty, ...fields };
}

export function without(row: Row, name: string): Row {
  return Object.fromEntries(Object.entries(row).filter(([key]) => key !== name));
}

/** What a family says of a state: its value, or `{labels: value}` where its series have labels; `undefined` for none. */
export function told(of: Row, name: string, about?: Parameters<typeof deriveBridge>[1]): number | Values | undefined {
  return familyIn(deriveBridge(of, about).values, name);
}

/** The same for several families at once. */
export function toldOf(
  of: Row,
  names: readonly string[],
  about?: Parameters<typeof deriveBridge>[1],
): Record<string, number | Values | undefined> {
  const { values } = deriveBridge(of, about);
  return Object.fromEntries(names.map((name) => [name, familyIn(values, name)]));
}

export function familyIn(values: Values, name: string): number | Values | undefined {
  const labelled = Object.entries(values).filter(([series]) => series.startsWith(`${name}{`));
  if (labelled.length === 0) return values[name];
  return Object.fromEntries(labelled.map(([series, value]) => [series.slice(name.length + 1, -1), value]));
}

/** Those of the families that say something of a state. */
export function present(of: Row, names: readonly string[], about?: Parameters<typeof deriveBridge>[1]): string[] {
  const found = toldOf(of, names, about);
  return names.filter((name) => found[name] !== undefined);
}
