import { compare, lowest, sum, type Numeral } from '../../chain/numeral.js';
import { validOrUndefined, type Field, asNumeral } from '../../chain/fields.js';
import type { Batch, Coin, Transfer } from '../../chain/module-state.js';
import type { TokenConfig } from '../../config/config.js';
import { groupBy } from '../grouping.js';
import { decimalOrNull, inWholeUnits, toLabelValue, truncatedOrNull } from '../plain-values.js';
import { memoize } from '../memoize.js';
import { optional, orEmpty, orNull, required, rows } from '../required-fields.js';
import type { BridgeInput } from './bridge-input.js';

/* Transfers that are not executed, by token, with the fees of their next batch. */

export const unbatchedTransfers = memoize(({ state }: BridgeInput): readonly Transfer[] =>
  rows(state.unbatched_transfers),
);

export const batchedTransfers = memoize(({ state }: BridgeInput): readonly Transfer[] =>
  rows(state.batches).flatMap(({ transactions }) => rows(transactions)),
);

type ReadCoin = (transfer: Transfer) => Coin | undefined;

export const transferredCoin: ReadCoin = ({ erc20_token }) => optional(erc20_token);

export const feeCoin: ReadCoin = ({ erc20_fee }) => optional(erc20_fee);

export const readId = ({ id }: Transfer): Numeral => required(id);

export const readFee = (transfer: Transfer): Numeral => required(feeCoin(transfer)?.amount);

/** The amounts of transfers in the smallest unit of their token. */
export function totalAmount(transfers: readonly Transfer[]): Numeral {
  return sum(transfers.map((transfer) => required(transferredCoin(transfer)?.amount)));
}

/** The fees of transfers in the smallest unit of their token. */
export function totalFee(transfers: readonly Transfer[]): Numeral {
  return sum(transfers.map(readFee));
}

/** The fees of a batch in the token of the batch, in the smallest unit. */
export function totalFees({ token_contract, transactions }: Batch): Numeral {
  const token = required(token_contract);
  const fees: Numeral[] = [];
  for (const transfer of rows(transactions)) {
    const fee = feeCoin(transfer);
    if (required(fee?.contract) === token) fees.push(required(fee?.amount));
  }
  return sum(fees);
}

/**
 * The label value of a contract. Transfers are grouped by it: contracts with the same truncated value share a series.
 */
export function contractLabel(contract: Field<string>): string {
  return toLabelValue(required(contract));
}

export const configuredTokens = memoize(
  (input: Pick<BridgeInput, 'tokens'>): ReadonlyMap<string, TokenConfig> =>
    new Map(input.tokens.map((token) => [token.contract, token])),
);

/** The configured minimum fees by token contract. */
export const minBatchFees = memoize(
  (tokens: readonly TokenConfig[]): ReadonlyMap<string, Numeral> =>
    new Map(
      tokens.flatMap(({ contract, min_batch_fee: minBatchFee }) =>
        minBatchFee === undefined ? [] : [[contract, asNumeral(minBatchFee)]],
      ),
    ),
);

/** The labels of a family with a series for each token. */
export const PER_TOKEN = { labels: ['token_contract', 'denom'] } as const;

export type TokenLabel = (typeof PER_TOKEN.labels)[number];

/** Denom by contract: of the list in the state, else of the hub coin. A missing list or coin withdraws nothing. */
export const denomByContract = memoize(({ state }: BridgeInput): ReadonlyMap<string, string> => {
  const denoms = new Map<string, string>();
  const add = (erc20: Field<string>, denom: Field<string>): void => {
    const contract = toLabelValue(optional(erc20) ?? '');
    if (contract !== '' && !denoms.has(contract)) denoms.set(contract, toLabelValue(optional(denom) ?? ''));
  };
  for (const row of optional(state.erc20_to_denoms) ?? []) {
    const pair = optional(row);
    add(pair?.erc20, pair?.denom);
  }
  const params = optional(state.params);
  add(params?.hub_coin_erc20_contract, params?.hub_coin_denom);
  return denoms;
});

/** The coin that pays for transactions on the hub; `undefined` if unknown. */
export function hubCoinDenom({ state: { params } }: BridgeInput): string | undefined {
  return validOrUndefined(validOrUndefined(params)?.hub_coin_denom) || undefined;
}

type Transfers = readonly Transfer[];
export type TransfersByContract = (input: BridgeInput) => ReadonlyMap<string, Transfers>;
export type ValueOfTransfers<Value> = (transfers: Transfers) => Value;

function byContract(
  listTransfers: (input: BridgeInput) => readonly Transfer[],
  readCoin: ReadCoin,
): TransfersByContract {
  const readContract = (transfer: Transfer): string => contractLabel(readCoin(transfer)?.contract);
  return memoize((input) => groupBy(listTransfers(input), readContract));
}

/** Transfers by the label value of the contract of their token, or of the token of their fee. */
export const unbatchedByToken = byContract(unbatchedTransfers, transferredCoin);
export const unbatchedByFeeToken = byContract(unbatchedTransfers, feeCoin);
export const batchedByToken = byContract(batchedTransfers, transferredCoin);
export const batchedByFeeToken = byContract(batchedTransfers, feeCoin);

/**
 * The contracts with a denom or a transfer. A list that cannot be read adds none, and withdraws only what is derived
 * from it.
 */
export const tokenContracts = memoize((input: BridgeInput): ReadonlySet<string> => {
  const groupings = [unbatchedByToken, unbatchedByFeeToken, batchedByToken, batchedByFeeToken];
  const used = groupings.flatMap((transfersByContract) => orEmpty(() => Array.from(transfersByContract(input).keys())));
  return new Set([...denomByContract(input).keys(), ...used]);
});

export const batchesByToken = memoize(({ state }: BridgeInput): ReadonlyMap<string, readonly Batch[]> =>
  groupBy(rows(state.batches), ({ token_contract }) => contractLabel(token_contract)),
);

/** The transfers of a token that are not executed. */
export interface WaitingToken {
  readonly contract: string;
  readonly unbatched: readonly Transfer[];
  readonly batched: readonly Transfer[];
}

/** Configured tokens first, because anyone can bridge a token; then by the number of transfers. */
export const waitingTokens = memoize((input: BridgeInput): readonly WaitingToken[] => {
  const [unbatched, batched] = [unbatchedByToken(input), batchedByToken(input)];
  const tokens = Array.from(new Set([...unbatched.keys(), ...batched.keys()]), (contract) => ({
    contract,
    unbatched: unbatched.get(contract) ?? [],
    batched: batched.get(contract) ?? [],
  }));
  const isConfigured = ({ contract }: WaitingToken): boolean => configuredTokens(input).has(contract);
  const transfers = (token: WaitingToken): number => token.unbatched.length + token.batched.length;
  return tokens.toSorted((a, b) => Number(isConfigured(b)) - Number(isConfigured(a)) || transfers(b) - transfers(a));
});

/**
 * What the transfers of a token in no batch wait for; `undefined` for an empty queue. Without a minimum, any fee is
 * sufficient.
 */
export function queueWaitsFor(input: BridgeInput, contract: string): 'fees' | 'batch' | undefined {
  const fees = topBatchFeesByToken(input).get(contract);
  if (fees === undefined) return undefined;
  const minimum = minBatchFees(input.tokens).get(contract);
  return minimum !== undefined && fees < minimum ? 'fees' : 'batch';
}

/** Number of waiting tokens without a configured minimum fee: whether a batch should be built is unknown. */
export function countTokensWithoutMinimum(input: BridgeInput): number {
  const minimums = minBatchFees(input.tokens);
  return waitingTokens(input).filter(({ contract }) => !minimums.has(contract)).length;
}

/** The number of transfers in a batch, which takes the transfers with the highest fees. */
export const BATCH_SIZE = 100;

export function lowestId(transfers: readonly Transfer[]): Numeral | undefined {
  return lowest(transfers.map(readId));
}

const descending = (a: Numeral, b: Numeral): number => compare(b, a);

/** The fees of a batch built now, by token. */
export const topBatchFeesByToken = memoize(
  (input: BridgeInput): ReadonlyMap<string, Numeral> =>
    new Map(
      Array.from(unbatchedByToken(input), ([contract, transfers]) => [
        contract,
        sum(transfers.map(readFee).toSorted(descending).slice(0, BATCH_SIZE)),
      ]),
    ),
);

/** Limit of the memory by token. Far fewer tokens have batches on any chain. */
export const MAX_REMEMBERED_TOKENS = 1_000;

/**
 * The highest batch nonce of each token in this and earlier documents, without nonces that the hub has not reached again
 * after a rollback; those of earlier documents when this one cannot be read.
 */
export const rememberedBatchNonces = memoize((input: BridgeInput): ReadonlyMap<string, Numeral> => {
  const { state, past } = input;
  const last = validOrUndefined(state.last_outgoing_batch_id);
  const earlier = Array.from(past?.batchNonces ?? []).filter(([, nonce]) => last === undefined || nonce <= last);
  const live = orEmpty(() =>
    Array.from(batchesByToken(input)).flatMap(([contract, batches]) =>
      batches.map(({ batch_nonce }) => [contract, required(batch_nonce)] as const),
    ),
  );
  // Of a token, the highest nonce is the last one.
  const ascending = new Map([...earlier, ...live].toSorted(([, a], [, b]) => compare(a, b)));
  return new Map(Array.from(ascending).slice(-MAX_REMEMBERED_TOKENS));
});

/* Tokens and amounts with what the configuration and the hub know about them. */

export interface TokenItem {
  /** The address in lower case. */
  readonly contract: string | null;
  readonly denom: string | null;
  /** The configured symbol. */
  readonly symbol: string | null;
}

export interface CoinItem extends TokenItem {
  /** The amount in the smallest unit of the token. */
  readonly amount: string | null;
  /** In whole tokens, when the decimals of the token are configured. */
  readonly wholeAmount: string | null;
}

export function tokenItem(input: BridgeInput, field: Field<string>): TokenItem {
  const contract = orNull(() => contractLabel(field));
  if (contract === null) return { contract, denom: null, symbol: null };
  const denom = truncatedOrNull(() => denomByContract(input).get(contract));
  return { contract, denom, symbol: readSymbol(configuredTokens(input).get(contract)) };
}

export function coinItem(input: BridgeInput, coin: Partial<Coin> | undefined): CoinItem {
  const { contract, denom } = tokenItem(input, coin?.contract);
  const token = contract === null ? undefined : configuredTokens(input).get(contract);
  const amount = decimalOrNull(() => coin?.amount);
  return { contract, denom, ...amountItem(token, amount) };
}

/** What is known about a token, from the configuration or built in. */
export type KnownToken = Partial<Pick<TokenConfig, 'symbol' | 'decimals'>>;

/** An amount with the symbol of its token; in whole tokens if the decimals are known. */
export function amountItem(token: KnownToken | undefined, amount: string | null) {
  const decimals = token?.decimals;
  const wholeAmount = decimals === undefined ? null : inWholeUnits(amount, decimals);
  return { symbol: readSymbol(token), amount, wholeAmount };
}

function readSymbol(token: KnownToken | undefined): string | null {
  return token?.symbol === undefined ? null : toLabelValue(token.symbol);
}

/** The coins of public chains, by denom. */
const KNOWN_HUB_COINS: ReadonlyMap<string, KnownToken> = new Map([['inj', { symbol: 'INJ', decimals: 18 }]]);

/** The coin that pays for transactions on the hub, by its denom if it has no symbol; `null` if unknown. */
export function hubCoin(input: BridgeInput): KnownToken | null {
  const denom = hubCoinDenom(input);
  if (denom === undefined) return null;
  const contract = Array.from(denomByContract(input)).find(([, candidate]) => candidate === denom)?.[0];
  const configured = contract === undefined ? undefined : configuredTokens(input).get(contract);
  const { symbol = denom, decimals } = { ...KNOWN_HUB_COINS.get(denom), ...configured };
  return { symbol: toLabelValue(symbol), ...(decimals !== undefined && { decimals }) };
}
