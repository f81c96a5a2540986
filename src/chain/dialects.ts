import type { WireNames } from '../json/shapes.js';

/**
 * The path and the field names of a public chain, where they differ from the spec. The differences follow no rule (`bridge_id`
 * is `peggy_id`, but `bridge_chain_id` is the same), so each dialect is a table of them.
 */
export interface Dialect extends WireNames {
  readonly path: string;
}

export const bridgeDialects = {
  neutral: { path: '/bridge/v1/module_state', fields: {}, values: {} },
  peggy: {
    path: '/peggy/v1/module_state',
    fields: {
      bridge_id: 'peggy_id',
      bridge_external_address: 'bridge_ethereum_address',
      average_external_block_time: 'average_ethereum_block_time',
      hub_coin_denom: 'cosmos_coin_denom',
      hub_coin_erc20_contract: 'cosmos_coin_erc20_contract',
      external_address: 'ethereum_address',
      last_observed_external_height: 'last_observed_ethereum_height',
      external_blacklist: 'ethereum_blacklist',
    },
    values: {},
  },
} as const satisfies Record<string, Dialect>;

export const crosschainDialects = {
  neutral: { path: '/chain/crosschain/rateLimiterInput', fields: {}, values: {} },
  zeta: {
    path: '/zeta-chain/crosschain/rateLimiterInput',
    fields: { native_fees: 'zeta_fees', finalized_native_height: 'finalized_zeta_height' },
    values: { Zeta: 'Native' },
  },
} as const satisfies Record<string, Dialect>;
