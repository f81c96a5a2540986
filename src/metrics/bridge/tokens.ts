import { add, decimal, lowest, toDouble, ZERO, type Decimal } from '../../chain/decimal.js';
import { once } from '../../chain/memo.js';
import type { Coin, Transfer } from '../../chain/module-state.js';
import { ifPresent, need, rows, type Read } from '../../chain/reading.js';
import { gauge, labelledGauge, labelText, type Sample } from '../family.js';
import { unlessWithdrawn } from '../singly.js';
import type { BridgeFamily, BridgeInput } from './input.js';

type Transfers = readonly Transfer[];

/** Transfers that wait for a batch. */
export const unbatched = once(({ state }: BridgeInput): Transfers => rows(state.unbatched_transfers));

const batched = once(({ state }: BridgeInput): Transfers =>
  rows(state.batches).flatMap(({ transactions }) => rows(transactions)),
);

const token = ({ erc20_token }: Transfer): Coin => need(erc20_token);
const fee = ({ erc20_fee }: Transfer): Coin => need(erc20_fee);

/** As it is shown, which is also how it is joined: contracts that are cut to one label are one series. */
export function contractOf({ contract }: Pick<Coin, 'contract'>): string {
  return labelText(need(contract).toLowerCase());
}

/** Denom by contract: the list of the state first, then the hub coin. What does not say leaves it empty. */
export const denoms = once(({ state }: BridgeInput): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  const name = (erc20: Read<string>, denom: Read<string>): void => {
    const contract = labelText((ifPresent(erc20) ?? '').toLowerCase());
    if (contract !== '' && !found.has(contract)) found.set(contract, labelText(ifPresent(denom) ?? ''));
  };
  for (const row of ifPresent(state.erc20_to_denoms) ?? []) {
    const named = ifPresent(row);
    name(named?.erc20, named?.denom);
  }
  const params = ifPresent(state.params);
  name(params?.hub_coin_erc20_contract, params?.hub_coin_denom);
  return found;
});

/**
 * Contracts that have a series: those with a denom, and those of every part of the two queues that can be read. A part that
 * cannot withdraws the families it is about; to the others it adds nothing.
 */
const contracts = once((input: BridgeInput): ReadonlySet<string> => {
  const found = new Set(denoms(input).keys());
  for (const queue of [unbatched, batched]) {
    for (const coin of [token, fee]) {
      const read = unlessWithdrawn(() => queue(input).map((transfer) => contractOf(coin(transfer))));
      for (const contract of read) found.add(contract);
    }
  }
  return found;
});

function byContract(
  queue: (input: BridgeInput) => Transfers,
  coin: (transfer: Transfer) => Coin,
  amount: (coin: Coin) => Decimal,
) {
  return (input: BridgeInput): readonly Sample[] => {
    const totals = new Map<string, Decimal>();
    for (const transfer of queue(input)) {
      const moved = coin(transfer);
      const contract = contractOf(moved);
      totals.set(contract, add(totals.get(contract) ?? ZERO, amount(moved)));
    }
    return Array.from(contracts(input), (contract) => ({
      labels: [contract, denoms(input).get(contract) ?? ''],
      value: toDouble(totals.get(contract) ?? ZERO),
    }));
  };
}

const one = (): Decimal => ({ units: 1n, scale: 0 });
const amountOf = ({ amount }: Coin): Decimal => decimal(need(amount));

/** Every queued transfer of the state, wherever it waits. */
export const queuedTransfers = once((input: BridgeInput): Transfers => [...unbatched(input), ...batched(input)]);

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
const COUNTED = { labels: ['token_contract', 'denom'], keep: 'fold', unit: 'transfers' } as const;
const SUMMED = { labels: ['token_contract', 'denom'], keep: 'largest', unit: 'smallest units of the token' } as const;

/** What waits, for each token. */
export const tokenFamilies: readonly BridgeFamily[] = [
  labelledGauge({
    name: 'bridge_token_unbatched_transfers',
    help: 'Transfers that wait for a batch.',
    reads: TOKEN_FIELDS,
    ...COUNTED,
    derive: byContract(unbatched, token, one),
  }),
  labelledGauge({
    name: 'bridge_token_unbatched_amount',
    help: 'Amount that waits for a batch.',
    reads: [...TOKEN_FIELDS, `${UNBATCHED}[].erc20_token.amount`],
    ...SUMMED,
    derive: byContract(unbatched, token, amountOf),
  }),
  labelledGauge({
    name: 'bridge_token_unbatched_fees',
    help: 'Fees of the transfers that wait for a batch; too low a sum and no one builds one.',
    reads: [...TOKEN_FIELDS, `${UNBATCHED}[].erc20_fee.amount`],
    ...SUMMED,
    derive: byContract(unbatched, fee, amountOf),
  }),
  labelledGauge({
    name: 'bridge_token_batched_transfers',
    help: 'Transfers in live batches.',
    reads: TOKEN_FIELDS,
    ...COUNTED,
    derive: byContract(batched, token, one),
  }),
  labelledGauge({
    name: 'bridge_token_batched_amount',
    help: 'Amount in live batches.',
    reads: [...TOKEN_FIELDS, `${BATCHED}[].erc20_token.amount`],
    ...SUMMED,
    derive: byContract(batched, token, amountOf),
  }),
  labelledGauge({
    name: 'bridge_token_batched_fees',
    help: 'Fees of the transfers in live batches.',
    reads: [...TOKEN_FIELDS, `${BATCHED}[].erc20_fee.amount`],
    ...SUMMED,
    derive: byContract(batched, fee, amountOf),
  }),
  labelledGauge({
    name: 'bridge_token_info',
    help: 'Symbol of a token contract, in its labels; always 1.',
    unit: 'none',
    reads: ['configuration tokens[].symbol'],
    // One series for each configured token.
    labels: ['token_contract', 'symbol'],
    keep: 'first',
    derive: ({ tokens }) =>
      tokens.flatMap(({ contract, symbol }) =>
        symbol === undefined ? [] : [{ labels: [contract, labelText(symbol)], value: 1 }],
      ),
  }),
  labelledGauge({
    name: 'bridge_token_decimals',
    help: 'Decimals of a token: an amount divided by 10 to this power is in whole tokens.',
    unit: 'decimals',
    reads: ['configuration tokens[].decimals'],
    // One series for each configured token.
    labels: ['token_contract'],
    keep: 'first',
    derive: ({ tokens }) => tokens.map(({ contract, decimals }) => ({ labels: [contract], value: decimals })),
  }),
  gauge({
    name: 'bridge_oldest_pending_transfer_id',
    help: 'Lowest id of a transfer that waits, in a batch or for one; absent when none does.',
    unit: 'transfer id',
    reads: [UNBATCHED, `${UNBATCHED}[].id`, 'state.batches', BATCHED, `${BATCHED}[].id`],
    value: (input) => {
      const oldest = lowest(queuedTransfers(input).map(({ id }) => decimal(need(id))));
      return oldest && toDouble(oldest);
    },
  }),
];
