/*
 * Names of public chains by those of the spec. They repeat src/chain/dialects.ts, so that a change there fails a test.
 */

export type Names = Readonly<Record<string, string>>;

export const PEGGY_NAMES: Names = {
  bridge_id: 'peggy_id',
  bridge_external_address: 'bridge_ethereum_address',
  average_external_block_time: 'average_ethereum_block_time',
  hub_coin_denom: 'cosmos_coin_denom',
  hub_coin_erc20_contract: 'cosmos_coin_erc20_contract',
  external_address: 'ethereum_address',
  last_observed_external_height: 'last_observed_ethereum_height',
  external_blacklist: 'ethereum_blacklist',
};

export const ZETA_NAMES: Names = {
  native_fees: 'zeta_fees',
  finalized_native_height: 'finalized_zeta_height',
  Native: 'Zeta',
};

/** A copy of the document in which the keys, and the values of `coin_type`, that are selected have these names. */
export function withNames(json: unknown, names: Names, isSelected: () => boolean): unknown {
  const rename = (name: string): string => (Object.hasOwn(names, name) && isSelected() ? (names[name] ?? name) : name);
  if (Array.isArray(json)) return json.map((row) => withNames(row, names, isSelected));
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json).map(([key, value]: [string, unknown]) => [
      rename(key),
      key === 'coin_type' && typeof value === 'string' ? rename(value) : withNames(value, names, isSelected),
    ]),
  );
}

/** Names of the spec by those of a chain. */
export function inverted(names: Names): Names {
  return Object.fromEntries(Object.entries(names).map(([name, other]) => [other, name]));
}
