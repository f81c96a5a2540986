import { lowest, sum, type Exact } from '../../chain/decimal.js';
import type { Coin, Transfer } from '../../chain/module-state.js';
import type { Field } from '../../json/field.js';
import { families, gauge, labeledGauge, type ExactSample, toLabelValue } from '../family.js';
import { groupBy } from '../grouping.js';
import { memoize } from '../memoize.js';
import { optional, orEmpty, required, rows } from '../required-fields.js';
import type { BridgeInput } from './input.js';

/** Transfers that are not yet in a batch. */
export const unbatchedTransfers = memoize(({ state }: BridgeInput): readonly Transfer[] =>
  rows(state.unbatched_transfers),
);

const batchedTransfers = memoize(({ state }: BridgeInput): readonly Transfer[] =>
  rows(state.batches).flatMap(({ transactions }) => rows(transactions)),
);

/** Selects one of the two coins of a transfer. */
export type CoinOf = (transfer: Transfer) => Coin | undefined;

export const transferredCoin: CoinOf = ({ erc20_token }) => optional(erc20_token);

export const feeCoin: CoinOf = ({ erc20_fee }) => optional(erc20_fee);

/** The label value of a contract, by which transfers are grouped: contracts with the same truncated value share a series. */
export function contractLabel(contract: Field<string>): string {
  return toLabelValue(required(contract));
}

/** Denom by contract. The list of the state precedes the hub coin; a missing source leaves the denom empty. */
export const denomByContract = memoize(({ state }: BridgeInput): ReadonlyMap<string, string> => {
  const denoms = new Map<string, string>();
  const add = (erc20: Field<string>, denom: Field<string>): void => {
    const contract = toLabelValue(optional(erc20) ?? '');
    if (contract !== '' && !denoms.has(contract)) denoms.set(contract, toLabelValue(optional(denom) ?? ''));
  };
  for (const row of optional(state.erc20_to_denoms) ?? []) {
    const present = optional(row);
    add(present?.erc20, present?.denom);
  }
  const params = optional(state.params);
  add(params?.hub_coin_erc20_contract, params?.hub_coin_denom);
  return denoms;
});

type TransfersByContract = (input: BridgeInput) => ReadonlyMap<string, readonly Transfer[]>;

function byContract(transfersOf: (input: BridgeInput) => readonly Transfer[], coinOf: CoinOf): TransfersByContract {
  return memoize((input) => groupBy(transfersOf(input), (transfer) => contractLabel(coinOf(transfer)?.contract)));
}

const unbatchedByToken = byContract(unbatchedTransfers, transferredCoin);
const unbatchedByFeeToken = byContract(unbatchedTransfers, feeCoin);
const batchedByToken = byContract(batchedTransfers, transferredCoin);
const batchedByFeeToken = byContract(batchedTransfers, feeCoin);

/**
 * The contracts with a series in each of the six families: those with a denom and those of any transfer. A list that cannot be
 * read adds no contracts and withdraws only its own families.
 */
const exportedContracts = memoize((input: BridgeInput): ReadonlySet<string> => {
  const groupings = [unbatchedByToken, unbatchedByFeeToken, batchedByToken, batchedByFeeToken];
  const used = groupings.flatMap((transfersByContract) => orEmpty(() => Array.from(transfersByContract(input).keys())));
  return new Set([...denomByContract(input).keys(), ...used]);
});

function perContract(transfersByContract: TransfersByContract, valueOf: (transfers: readonly Transfer[]) => Exact) {
  return (input: BridgeInput): readonly ExactSample<'token_contract' | 'denom'>[] => {
    const transfers = transfersByContract(input);
    const denoms = denomByContract(input);
    return Array.from(exportedContracts(input), (contract) => ({
      labels: { token_contract: contract, denom: denoms.get(contract) ?? '' },
      value: valueOf(transfers.get(contract) ?? []),
    }));
  };
}

function counts(transfersByContract: TransfersByContract) {
  return perContract(transfersByContract, ({ length }) => length);
}

function amounts(transfersByContract: TransfersByContract, coinOf: CoinOf) {
  return perContract(transfersByContract, (transfers) =>
    sum(transfers.map((transfer) => required(coinOf(transfer)?.amount))),
  );
}

// Anyone can bridge a token, so the number of contracts is not bounded by the chain. Above the limit, the smallest counts are
// aggregated; amounts of different tokens have no common unit, so the smallest are dropped.
const COUNTED = { labels: ['token_contract', 'denom'], overLimit: 'aggregate', unit: 'transfers' } as const;
const SUMMED = {
  labels: ['token_contract', 'denom'],
  overLimit: 'keep-largest',
  unit: 'smallest units of the token',
} as const;

/** Pending transfers by token. */
export const tokenFamilies = families<BridgeInput>({
  bridge_token_unbatched_transfers: labeledGauge({
    help: 'Number of outgoing transfers of the token that are not yet in a batch.',
    ...COUNTED,
    derive: counts(unbatchedByToken),
  }),
  bridge_token_unbatched_amount: labeledGauge({
    help: 'Amount of outgoing transfers that are not yet in a batch, in smallest units of the token.',
    ...SUMMED,
    derive: amounts(unbatchedByToken, transferredCoin),
  }),
  bridge_token_unbatched_fees: labeledGauge({
    help: 'Fees of outgoing transfers that are not yet in a batch, in smallest units of the token.',
    ...SUMMED,
    derive: amounts(unbatchedByFeeToken, feeCoin),
  }),
  bridge_token_batched_transfers: labeledGauge({
    help: 'Number of transfers of the token in live batches.',
    ...COUNTED,
    derive: counts(batchedByToken),
  }),
  bridge_token_batched_amount: labeledGauge({
    help: 'Amount of transfers in live batches, in smallest units of the token.',
    ...SUMMED,
    derive: amounts(batchedByToken, transferredCoin),
  }),
  bridge_token_batched_fees: labeledGauge({
    help: 'Fees of transfers in live batches, in smallest units of the token.',
    ...SUMMED,
    derive: amounts(batchedByFeeToken, feeCoin),
  }),
  bridge_token_info: labeledGauge({
    help: 'Configured symbol of a token contract as a label; the value is always 1.',
    unit: 'none',
    // One series per configured token.
    labels: ['token_contract', 'symbol'],
    derive: ({ tokens }) =>
      tokens.flatMap(({ contract, symbol }) =>
        symbol === undefined ? [] : [{ labels: { token_contract: contract, symbol: toLabelValue(symbol) }, value: 1 }],
      ),
  }),
  bridge_token_decimals: labeledGauge({
    help: 'Configured number of decimals of a token: amounts divided by 10 to this power are in whole tokens.',
    unit: 'decimals',
    // One series per configured token.
    labels: ['token_contract'],
    derive: ({ tokens }) =>
      tokens.map(({ contract, decimals }) => ({ labels: { token_contract: contract }, value: decimals })),
  }),
  bridge_oldest_pending_transfer_id: gauge({
    help: 'Lowest id of a transfer in a live batch or not yet in one; absent when there is none.',
    unit: 'transfer id',
    value: (input) =>
      lowest([unbatchedTransfers, batchedTransfers].map((queue) => lowest(queue(input).map(({ id }) => required(id))))),
  }),
});
