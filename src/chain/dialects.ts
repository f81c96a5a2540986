import type { Aliases } from './fields.js';

/**
 * The path of a document on a public chain, and its names with their name in the spec. The differences follow no rule
 * (`peggy_id` is `bridge_id`, but `bridge_chain_id` is the same), so each dialect is a table.
 */
export interface Dialect {
  readonly path: string;
  readonly fields: Aliases;
  /** The names of enum values in the dialect. */
  readonly values: Aliases;
}

export interface DocumentPath {
  readonly dialect: string;
  /** Appended to the base URL of the node. */
  readonly path: string;
}

// `auto` requests the paths in the order of these tables. Public chains are first: a provider may reject the neutral
// path with a status that does not mean an unknown path, such as 403.

export const bridgeDialects = {
  peggy: {
    path: '/peggy/v1/module_state',
    fields: {
      peggy_id: 'bridge_id',
      bridge_ethereum_address: 'bridge_external_address',
      average_ethereum_block_time: 'average_external_block_time',
      cosmos_coin_denom: 'hub_coin_denom',
      cosmos_coin_erc20_contract: 'hub_coin_erc20_contract',
      ethereum_address: 'external_address',
      last_observed_ethereum_height: 'last_observed_external_height',
      ethereum_blacklist: 'external_blacklist',
      ethereum_sender: 'external_sender',
      cosmos_receiver: 'hub_receiver',
    },
    values: {},
  },
  neutral: { path: '/bridge/v1/module_state', fields: {}, values: {} },
} as const satisfies Record<string, Dialect>;

export const crosschainDialects = {
  zeta: {
    path: '/zeta-chain/crosschain/rateLimiterInput',
    fields: {},
    values: { Zeta: 'Native' },
  },
  neutral: { path: '/chain/crosschain/rateLimiterInput', fields: {}, values: {} },
} as const satisfies Record<string, Dialect>;

type Dialects<Name extends string> = Readonly<Record<Name, Dialect>>;

/** The names of all dialects, which are accepted in every document, whatever its path. */
export function allAliases(dialects: Dialects<string>): Pick<Dialect, 'fields' | 'values'> {
  const tables = Object.values(dialects);
  return {
    fields: Object.assign({}, ...tables.map(({ fields }) => fields)),
    values: Object.assign({}, ...tables.map(({ values }) => values)),
  };
}

/** The path of a dialect; all paths for `auto`. */
export function documentPaths<Name extends string>(
  dialects: Dialects<Name>,
  selected: Name | 'auto',
): readonly DocumentPath[] {
  return Object.entries<Dialect>(dialects)
    .filter(([dialect]) => selected === 'auto' || dialect === selected)
    .map(([dialect, { path }]) => ({ dialect, path }));
}
