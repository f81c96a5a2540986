import type { Numeral } from '../../json/numeral.js';
import { memoize } from '../memoize.js';
import type { Transfer } from '../../chain/module-state.js';
import { INVALID, type Field } from '../../json/field.js';
import { gauge, labelledGauge, toLabelValue, type Sample } from '../family.js';
import type { BridgeFamily, BridgeInput } from './input.js';
import { double, lowestNumeral, Sum, toDouble } from '../../chain/decimal.js';
import { optional, required, rows, WITHDRAWN, orEmpty } from '../withdrawal.js';

type Transfers = readonly Transfer[];
type TokenSample = Sample<'token_contract' | 'denom'>;

/** Transfers that wait for a batch. */
export const unbatchedTransfers = memoize(({ state }: BridgeInput): Transfers => rows(state.unbatched_transfers));

const batched = memoize(({ state }: BridgeInput): Transfers =>
  rows(state.batches).flatMap(({ transactions }) => rows(transactions)),
);

/** One of the two coins of a transfer. */
export interface CoinFields {
  readonly contract: (transfer: Transfer) => Field<string>;
  readonly amount: (transfer: Transfer) => Field<Numeral>;
}

export const transferredCoin: CoinFields = {
  contract: (transfer) => optional(transfer.erc20_token)?.contract,
  amount: (transfer) => optional(transfer.erc20_token)?.amount,
};

export const feeCoin: CoinFields = {
  contract: (transfer) => optional(transfer.erc20_fee)?.contract,
  amount: (transfer) => optional(transfer.erc20_fee)?.amount,
};

/** As it is shown, which is also how it is joined: contracts that are cut to one label are one series. */
export function contractLabel(contract: Field<string>): string {
  return toLabelValue(required(contract));
}

/** Denom by contract: the list of the state first, then the hub coin. What does not say leaves it empty. */
export const denomByContract = memoize(({ state }: BridgeInput): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  const name = (erc20: Field<string>, denom: Field<string>): void => {
    const contract = toLabelValue(optional(erc20) ?? '');
    if (contract !== '' && !found.has(contract)) found.set(contract, toLabelValue(optional(denom) ?? ''));
  };
  for (const row of optional(state.erc20_to_denoms) ?? []) {
    const named = optional(row);
    name(named?.erc20, named?.denom);
  }
  const params = optional(state.params);
  name(params?.hub_coin_erc20_contract, params?.hub_coin_denom);
  return found;
});

/** What a part of a queue holds of a contract. */
interface Held {
  transfers: number;
  readonly amount: Sum;
}

/** What one of the two coins of the transfers of a queue comes to, by contract. */
interface Part {
  readonly held: ReadonlyMap<string, Held>;
  /** Without one of the amounts every sum would be wrong. */
  readonly hasAllAmounts: boolean;
}

const unbatchedTokens = part(unbatchedTransfers, transferredCoin);
const unbatchedFees = part(unbatchedTransfers, feeCoin);
const batchedTokens = part(batched, transferredCoin);
const batchedFees = part(batched, feeCoin);

function part(queue: (input: BridgeInput) => Transfers, coin: CoinFields) {
  return memoize((input: BridgeInput): Part => {
    const held = new Map<string, Held>();
    /** By contracts as they are written, so that a label is made of each only once. */
    const known = new Map<Field<string>, Held>();
    let hasAllAmounts = true;
    for (const transfer of queue(input)) {
      const contract = coin.contract(transfer);
      let own = known.get(contract);
      if (own === undefined) {
        const label = contractLabel(contract);
        own = held.get(label) ?? { transfers: 0, amount: new Sum() };
        held.set(label, own);
        known.set(contract, own);
      }
      own.transfers += 1;
      const amount = coin.amount(transfer);
      if (amount === undefined || amount === INVALID) hasAllAmounts = false;
      else own.amount.add(amount);
    }
    return { held, hasAllAmounts };
  });
}

/**
 * Contracts that have a series: those with a denom, and those of every part of the two queues that can be read. A part that
 * cannot withdraws the families it is about; to the others it adds nothing.
 */
const contracts = memoize((input: BridgeInput): ReadonlySet<string> => {
  const parts = [unbatchedTokens, unbatchedFees, batchedTokens, batchedFees];
  const queued = parts.flatMap((read) => orEmpty(() => Array.from(read(input).held.keys())));
  return new Set([...denomByContract(input).keys(), ...queued]);
});

function byContract(input: BridgeInput, { held }: Part, value: (own: Held) => number): readonly TokenSample[] {
  return Array.from(contracts(input), (contract) => {
    const own = held.get(contract);
    return {
      labels: { token_contract: contract, denom: denomByContract(input).get(contract) ?? '' },
      value: own === undefined ? 0 : value(own),
    };
  });
}

function transfers(read: (input: BridgeInput) => Part) {
  return (input: BridgeInput): readonly TokenSample[] => byContract(input, read(input), (own) => own.transfers);
}

function amounts(read: (input: BridgeInput) => Part) {
  return (input: BridgeInput): readonly TokenSample[] => {
    const found = read(input);
    if (!found.hasAllAmounts) throw WITHDRAWN;
    return byContract(input, found, ({ amount }) => toDouble(amount.total));
  };
}

const DENOM_FIELDS = [
  'state.erc20_to_denoms',
  'state.erc20_to_denoms[].erc20',
  'state.erc20_to_denoms[].denom',
  'state.params.hub_coin_erc20_contract',
  'state.params.hub_coin_denom',
] as const;

const UNBATCHED = 'state.unbatched_transfers';
const BATCHED = 'state.batches[].transactions';

/** What decides which tokens have a series, whatever it is of. */
const TOKEN_FIELDS = [
  UNBATCHED,
  `${UNBATCHED}[].erc20_token.contract`,
  `${UNBATCHED}[].erc20_fee.contract`,
  'state.batches',
  BATCHED,
  `${BATCHED}[].erc20_token.contract`,
  `${BATCHED}[].erc20_fee.contract`,
  ...DENOM_FIELDS,
] as const;

// Anyone can bridge a junk token, so contracts are the chain's to choose: counts fold the smallest into `other`; amounts of
// different tokens have no common unit, so there the smallest are left out.
const COUNTED = { labels: ['token_contract', 'denom'], overLimit: 'aggregate', unit: 'transfers' } as const;
const SUMMED = {
  labels: ['token_contract', 'denom'],
  overLimit: 'keep-largest',
  unit: 'smallest units of the token',
} as const;

/** What waits, for each token. */
export const tokenFamilies: readonly BridgeFamily[] = [
  labelledGauge({
    name: 'bridge_token_unbatched_transfers',
    help: 'Transfers that wait for a batch.',
    reads: TOKEN_FIELDS,
    ...COUNTED,
    derive: transfers(unbatchedTokens),
  }),
  labelledGauge({
    name: 'bridge_token_unbatched_amount',
    help: 'Amount that waits for a batch.',
    reads: [...TOKEN_FIELDS, `${UNBATCHED}[].erc20_token.amount`],
    ...SUMMED,
    derive: amounts(unbatchedTokens),
  }),
  labelledGauge({
    name: 'bridge_token_unbatched_fees',
    help: 'Fees of the transfers that wait for a batch; too low a sum and no one builds one.',
    reads: [...TOKEN_FIELDS, `${UNBATCHED}[].erc20_fee.amount`],
    ...SUMMED,
    derive: amounts(unbatchedFees),
  }),
  labelledGauge({
    name: 'bridge_token_batched_transfers',
    help: 'Transfers in live batches.',
    reads: TOKEN_FIELDS,
    ...COUNTED,
    derive: transfers(batchedTokens),
  }),
  labelledGauge({
    name: 'bridge_token_batched_amount',
    help: 'Amount in live batches.',
    reads: [...TOKEN_FIELDS, `${BATCHED}[].erc20_token.amount`],
    ...SUMMED,
    derive: amounts(batchedTokens),
  }),
  labelledGauge({
    name: 'bridge_token_batched_fees',
    help: 'Fees of the transfers in live batches.',
    reads: [...TOKEN_FIELDS, `${BATCHED}[].erc20_fee.amount`],
    ...SUMMED,
    derive: amounts(batchedFees),
  }),
  labelledGauge({
    name: 'bridge_token_info',
    help: 'Symbol of a token contract, in its labels; always 1.',
    unit: 'none',
    reads: ['configuration tokens[].symbol'],
    // One series for each configured token.
    labels: ['token_contract', 'symbol'],
    overLimit: 'keep-first',
    derive: ({ tokens }) =>
      tokens.flatMap(({ contract, symbol }) =>
        symbol === undefined ? [] : [{ labels: { token_contract: contract, symbol: toLabelValue(symbol) }, value: 1 }],
      ),
  }),
  labelledGauge({
    name: 'bridge_token_decimals',
    help: 'Decimals of a token: an amount divided by 10 to this power is in whole tokens.',
    unit: 'decimals',
    reads: ['configuration tokens[].decimals'],
    // One series for each configured token.
    labels: ['token_contract'],
    overLimit: 'keep-first',
    derive: ({ tokens }) =>
      tokens.map(({ contract, decimals }) => ({ labels: { token_contract: contract }, value: decimals })),
  }),
  gauge({
    name: 'bridge_oldest_pending_transfer_id',
    help: 'Lowest id of a transfer that waits, in a batch or for one; absent when none does.',
    unit: 'transfer id',
    reads: [UNBATCHED, `${UNBATCHED}[].id`, 'state.batches', BATCHED, `${BATCHED}[].id`],
    value: (input) => {
      const oldest = lowestNumeral([unbatchedTransfers, batched], (queue) =>
        lowestNumeral(queue(input), ({ id }) => required(id)),
      );
      return oldest === undefined ? undefined : double(oldest);
    },
  }),
];
