import { compare, highest, lowest, sum, type Decimal, type Exact } from '../../chain/decimal.js';
import type { Coin, Transfer } from '../../chain/module-state.js';
import type { TokenConfig } from '../../config/config.js';
import type { Field } from '../../chain/field.js';
import { asDecimalString, type Numeral } from '../../chain/numeral.js';
import { compareLabels, families, gauge, labeledGauge, type ExactSample, toLabelValue } from '../../metrics/family.js';
import { groupBy } from '../grouping.js';
import { memoize } from '../memoize.js';
import { optional, orElse, orEmpty, required, rows } from '../required-fields.js';
import { isRolledBack } from './block-times.js';
import type { BridgeInput } from './input.js';

/** Transfers that are not yet in a batch. */
export const unbatchedTransfers = memoize(({ state }: BridgeInput): readonly Transfer[] =>
  rows(state.unbatched_transfers),
);

const batchedTransfers = memoize(({ state }: BridgeInput): readonly Transfer[] =>
  rows(state.batches).flatMap(({ transactions }) => rows(transactions)),
);

/** Selects one of the two coins of a transfer. */
type CoinOf = (transfer: Transfer) => Coin | undefined;

export const transferredCoin: CoinOf = ({ erc20_token }) => optional(erc20_token);

export const feeCoin: CoinOf = ({ erc20_fee }) => optional(erc20_fee);

/** The label value of a contract, by which transfers are grouped: contracts with the same truncated value share a series. */
export function contractLabel(contract: Field<string>): string {
  return toLabelValue(required(contract));
}

/** The configured minimum fees by token contract. */
export const minBatchFees = memoize(
  (tokens: readonly TokenConfig[]): ReadonlyMap<string, Numeral> =>
    new Map(
      tokens.flatMap(({ contract, minBatchFee }) =>
        minBatchFee === undefined ? [] : [[contract, asDecimalString(minBatchFee)]],
      ),
    ),
);

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
  const contractOf = (transfer: Transfer): string => contractLabel(coinOf(transfer)?.contract);
  return memoize((input) => groupBy(transfersOf(input), contractOf));
}

/** Transfers that are not yet in a batch, by the label value of their contract. */
export const unbatchedByToken = byContract(unbatchedTransfers, transferredCoin);
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

/** The transfers of a token that are not executed: in no batch, and in live batches. */
export interface WaitingToken {
  readonly contract: string;
  readonly unbatched: readonly Transfer[];
  readonly batched: readonly Transfer[];
}

/** The tokens with such transfers. */
export function waitingTokens(input: BridgeInput): readonly WaitingToken[] {
  const [unbatched, batched] = [unbatchedByToken(input), batchedByToken(input)];
  return Array.from(new Set([...unbatched.keys(), ...batched.keys()]), (contract) => ({
    contract,
    unbatched: unbatched.get(contract) ?? [],
    batched: batched.get(contract) ?? [],
  }));
}

export const idOf = ({ id }: Transfer): Numeral => required(id);

export const feeOf = (transfer: Transfer): Numeral => required(feeCoin(transfer)?.amount);

const amountOf = (transfer: Transfer): Numeral => required(transferredCoin(transfer)?.amount);

/** The amounts of transfers in the smallest unit of their token. */
export function totalAmount(transfers: readonly Transfer[]): Decimal {
  return sum(transfers.map(amountOf));
}

function counts(transfersByContract: TransfersByContract) {
  return perContract(transfersByContract, ({ length }) => length);
}

function amounts(transfersByContract: TransfersByContract, valueOf: (transfer: Transfer) => Numeral) {
  return perContract(transfersByContract, (transfers) => sum(transfers.map(valueOf)));
}

// Anyone can bridge a token, so the number of contracts is not bounded by the chain. Above the limit, the smallest counts are
// aggregated; amounts of different tokens have no common unit, so the smallest are dropped.
const COUNTED = { labels: ['token_contract', 'denom'], overLimit: 'aggregate' } as const;
const PER_TOKEN = { labels: ['token_contract', 'denom'] } as const;
const SUMMED = {
  ...PER_TOKEN,
  overLimit: 'keep-largest',
} as const;

/** The number of transfers in a batch; a batch takes those with the highest fees. */
export const BATCH_SIZE = 100;

/** The samples of the tokens with unbatched transfers. */
function perUnbatchedToken(valueOf: (transfers: readonly Transfer[]) => Exact | undefined) {
  return (input: BridgeInput): readonly ExactSample<'token_contract' | 'denom'>[] =>
    perToken(
      input,
      Array.from(unbatchedByToken(input), ([contract, transfers]) => [contract, valueOf(transfers)]),
    );
}

/** Samples with the denom of each token, in the order of their labels. */
function perToken(
  input: BridgeInput,
  values: readonly (readonly [contract: string, value: Exact | undefined])[],
): readonly ExactSample<'token_contract' | 'denom'>[] {
  const denoms = denomByContract(input);
  return values
    .map(([contract, value]) => ({ labels: { token_contract: contract, denom: denoms.get(contract) ?? '' }, value }))
    .toSorted((a, b) => compareLabels(PER_TOKEN.labels, a.labels, b.labels));
}

/** The lowest id of the transfers with the highest fee. */
function topFeeTransferId(transfers: readonly Transfer[]): Numeral | undefined {
  const top = highest(transfers.map(feeOf));
  if (top === undefined) return undefined;
  return lowest(transfers.filter((transfer) => compare(feeOf(transfer), top) === 0).map(idOf));
}

function topBatchFees(transfers: readonly Transfer[]): Decimal {
  return sum(transfers.map(feeOf).toSorted(descending).slice(0, BATCH_SIZE));
}

const descending = (a: Numeral, b: Numeral): number => compare(b, a);

/** What a batch built now would earn, by token. */
export const topBatchFeesByToken = memoize(
  (input: BridgeInput): ReadonlyMap<string, Decimal> =>
    new Map(Array.from(unbatchedByToken(input), ([contract, transfers]) => [contract, topBatchFees(transfers)])),
);

/** The tokens whose batches are remembered: many more than have batches on any chain. */
const MAX_REMEMBERED_TOKENS = 1_000;

/** The highest batch nonce of each token, with those of earlier documents. */
const newestBatchNonces = memoize((input: BridgeInput): ReadonlyMap<string, Numeral> => {
  const live = groupBy(rows(input.state.batches), ({ token_contract }) => contractLabel(token_contract));
  const newest = new Map(earlierBatchNonces(input));
  for (const [contract, batches] of live) {
    const nonce = highest([newest.get(contract), ...batches.map(({ batch_nonce }) => required(batch_nonce))]);
    if (nonce !== undefined) newest.set(contract, nonce);
  }
  if (newest.size <= MAX_REMEMBERED_TOKENS) return newest;
  return new Map(
    Array.from(newest)
      .toSorted(([, a], [, b]) => compare(b, a))
      .slice(0, MAX_REMEMBERED_TOKENS),
  );
});

function earlierBatchNonces(input: BridgeInput): ReadonlyMap<string, Numeral> {
  return isRolledBack(input) ? new Map() : (input.previous?.batchNonces ?? new Map());
}

/** The batch nonces to remember; those of earlier documents when this one cannot be read. */
export function rememberedBatchNonces(input: BridgeInput): ReadonlyMap<string, Numeral> {
  return orElse(
    () => newestBatchNonces(input),
    () => earlierBatchNonces(input),
  );
}

/** Transfers that are not executed, by token and in total, and the settings for them. */
export const tokenFamilies = families<BridgeInput>({
  bridge_token_unbatched_transfers: labeledGauge({
    help: 'Number of outgoing transfers of the token that are not yet in a batch.',
    ...COUNTED,
    derive: counts(unbatchedByToken),
  }),
  bridge_token_unbatched_amount: labeledGauge({
    help: 'Amount of outgoing transfers that are not yet in a batch, in smallest units of the token.',
    ...SUMMED,
    derive: amounts(unbatchedByToken, amountOf),
  }),
  bridge_token_unbatched_fees: labeledGauge({
    help: 'Fees of outgoing transfers that are not yet in a batch, in smallest units of the token.',
    ...SUMMED,
    derive: amounts(unbatchedByFeeToken, feeOf),
  }),
  bridge_token_batched_transfers: labeledGauge({
    help: 'Number of transfers of the token in live batches.',
    ...COUNTED,
    derive: counts(batchedByToken),
  }),
  bridge_token_batched_amount: labeledGauge({
    help: 'Amount of transfers in live batches, in smallest units of the token.',
    ...SUMMED,
    derive: amounts(batchedByToken, amountOf),
  }),
  bridge_token_batched_fees: labeledGauge({
    help: 'Fees of transfers in live batches, in smallest units of the token.',
    ...SUMMED,
    derive: amounts(batchedByFeeToken, feeOf),
  }),
  bridge_token_oldest_unbatched_transfer_id: labeledGauge({
    help: 'Lowest id of the transfers of the token that are not yet in a batch; absent when there is none.',
    ...PER_TOKEN,
    derive: perUnbatchedToken((transfers) => lowest(transfers.map(idOf))),
  }),
  bridge_token_top_fee_transfer_id: labeledGauge({
    help: 'Id of the unbatched transfer of the token with the highest fee, which the next batch takes first; absent when there is none.',
    ...PER_TOKEN,
    derive: perUnbatchedToken(topFeeTransferId),
  }),
  bridge_token_top_batch_fees: labeledGauge({
    help: 'Sum of the 100 highest fees of unbatched transfers, which a batch built now would earn, in smallest units of the token; absent when there is none.',
    ...SUMMED,
    derive: (input) => perToken(input, Array.from(topBatchFeesByToken(input))),
  }),
  bridge_token_newest_batch_nonce: labeledGauge({
    help: 'Highest nonce of a batch of the token since the exporter started; absent before the first batch.',
    ...PER_TOKEN,
    overLimit: 'keep-lowest',
    derive: (input) => perToken(input, Array.from(newestBatchNonces(input))),
  }),
  bridge_token_info: labeledGauge({
    help: 'Configured symbol of a token contract as a label; the value is always 1.',
    // One series per configured token.
    labels: ['token_contract', 'symbol'],
    derive: ({ tokens }) =>
      tokens.flatMap(({ contract, symbol }) =>
        symbol === undefined ? [] : [{ labels: { token_contract: contract, symbol: toLabelValue(symbol) }, value: 1 }],
      ),
  }),
  bridge_token_decimals: labeledGauge({
    help: 'Configured number of decimals of a token: amounts divided by 10 to this power are in whole tokens.',
    // One series per configured token.
    labels: ['token_contract'],
    derive: ({ tokens }) =>
      tokens.map(({ contract, decimals }) => ({ labels: { token_contract: contract }, value: decimals })),
  }),
  bridge_token_min_batch_fee: labeledGauge({
    help: 'Configured sum of fees below which no batch of the token is built or relayed, in smallest units of the token.',
    // One series per configured token.
    labels: ['token_contract'],
    derive: ({ tokens }) =>
      Array.from(minBatchFees(tokens), ([contract, value]) => ({ labels: { token_contract: contract }, value })),
  }),
  bridge_backlog_limit_transfers: gauge({
    help: 'Configured number of pending transfers above which an alert fires.',
    value: ({ settings }) => settings.backlogLimit,
  }),
  bridge_oldest_pending_transfer_id: gauge({
    help: 'Lowest id of a transfer in a live batch or not yet in one; absent when there is none.',
    value: (input) => lowest([unbatchedTransfers, batchedTransfers].map((queue) => lowest(queue(input).map(idOf)))),
  }),
});
