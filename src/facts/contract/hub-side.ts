import { add, highest, subtract, sum, type Numeral } from '../../chain/numeral.js';
import type { Batch, Transfer } from '../../chain/module-state.js';
import type { Instant } from '../../clock.js';
import { isValid, validOrUndefined } from '../../chain/field.js';
import { externalBlockTime, hubBlockTime } from '../bridge/block-times.js';
import type { BridgeInput } from '../bridge/bridge-input.js';
import { denomByContract, feeCoin, transferredCoin, unbatchedTransfers } from '../bridge/tokens.js';
import { orEmpty, orUndefined, required, rows, withdrawWithout } from '../required-fields.js';

/*
 * The module state as far as a poll of the contract needs it: the address of the contract, and the values of the hub to
 * compare with.
 */

export interface HubSide {
  /** When the module state was received. */
  readonly at: Instant;
  /** Hub height of the module state. */
  readonly height: Numeral | undefined;
  readonly contract: string;
  /** The chain id of the external chain. */
  readonly chainId: string;
  readonly lastObservedNonce: Numeral | undefined;
  /** The highest nonce of the stored validator sets and of the last observed set. */
  readonly newestValsetNonce: Numeral | undefined;
  /** The highest nonce of a batch that the hub has made, of any token. */
  readonly lastBatchNonce: Numeral | undefined;
  /** Seconds between two blocks of the hub. */
  readonly blockSeconds: number | undefined;
  /** Milliseconds between two blocks of the external chain. */
  readonly externalBlockMs: number | undefined;
  readonly powerThreshold: string;
  /** The tokens with a live batch, tokens with `backing` first. */
  readonly batchTokens: readonly BatchToken[];
  readonly backing: readonly BackingFacts[];
}

interface BatchToken {
  readonly contract: string;
  readonly denom: string;
}

interface BackingFacts {
  readonly contract: string;
  /** Amounts and fees of unbatched transfers; `undefined` if they cannot be read. */
  readonly unbatched: Numeral | undefined;
  readonly batches: readonly BatchDebt[] | undefined;
}

interface BatchDebt {
  /** `undefined` for a batch of another token, which has its own sequence of nonces. */
  readonly nonce: Numeral | undefined;
  readonly amount: Numeral;
}

/** A block of the hub. */
export interface HubBlock {
  readonly height: Numeral;
  readonly epochSeconds: number;
}

/**
 * The call of a poll has at most 48 parts: this many nonces, 20 balances, and 8 values of the block and the contract.
 */
export const MAX_BATCH_TOKENS = 20;

/** `undefined` when the address of the contract or the id of its chain is unknown. */
export function hubSide(input: BridgeInput): HubSide | undefined {
  const { state, at, height, settings } = input;
  const { bridge_external_address: contract, bridge_chain_id: chainId } = validOrUndefined(state.params) ?? {};
  if (!isValid(contract) || !/^0x[\da-f]{40}$/.test(contract) || !isValid(chainId)) return undefined;
  const backing = orEmpty(() => backingFacts(input));
  return {
    at,
    height,
    contract,
    chainId,
    lastObservedNonce: validOrUndefined(state.last_observed_nonce),
    newestValsetNonce: orUndefined(() => newestValsetNonce(input)),
    lastBatchNonce: lastBatchNonce(input),
    blockSeconds: orUndefined(() => hubBlockTime(input) / 1000),
    externalBlockMs: orUndefined(() => externalBlockTime(input)),
    powerThreshold: settings.power_threshold,
    batchTokens: orEmpty(() => batchTokens(input, new Set(backing.map((token) => token.contract)))),
    backing,
  };
}

/**
 * Unix seconds of the block of the module state, counted from a block that the node has named at about the same time.
 */
export function hubSeconds({ height, blockSeconds }: HubSide, named: HubBlock | undefined): number | undefined {
  if (height === undefined || blockSeconds === undefined || named === undefined) return undefined;
  return named.epochSeconds + Number(subtract(height, named.height)) * blockSeconds;
}

function lastBatchNonce({ state }: BridgeInput): Numeral | undefined {
  const live = orEmpty(() => rows(state.batches).map(({ batch_nonce }) => required(batch_nonce)));
  return highest([validOrUndefined(state.last_outgoing_batch_id), ...live]);
}

function newestValsetNonce({ state }: BridgeInput): Numeral | undefined {
  return highest([
    ...rows(state.valsets).map(({ nonce }) => required(nonce)),
    required(required(state.last_observed_valset).nonce),
  ]);
}

function batchTokens(input: BridgeInput, first: ReadonlySet<string>): readonly BatchToken[] {
  const denoms = denomByContract(input);
  const contracts = new Set(rows(input.state.batches).map(({ token_contract }) => required(token_contract)));
  return Array.from(contracts)
    .filter((contract) => /^0x[\da-f]{40}$/.test(contract))
    .toSorted((a, b) => Number(first.has(b)) - Number(first.has(a)) || (a < b ? -1 : 1))
    .slice(0, MAX_BATCH_TOKENS)
    .map((contract) => ({ contract, denom: denoms.get(contract) ?? '' }));
}

/** Tokens of the hub are locked on the hub and not in the contract, so they are not judged. */
function backingFacts(input: BridgeInput): readonly BackingFacts[] {
  withdrawWithout(input.state.erc20_to_denoms);
  const hubDenoms = denomByContract(input);
  return input.tokens
    .filter(({ contract, backing }) => backing === true && !hubDenoms.has(contract))
    .map(({ contract }) => ({
      contract,
      unbatched: orUndefined(() => owed(unbatchedTransfers(input), contract)),
      batches: orUndefined(() => rows(input.state.batches).flatMap((batch) => owedInBatch(batch, contract))),
    }));
}

/** Amounts and fees in a token, which the hub has burned. */
function owed(transfers: readonly Transfer[], contract: string): Numeral {
  const coins = transfers.flatMap((transfer) => [transferredCoin(transfer), feeCoin(transfer)]);
  const contractCoins = coins.filter((coin) => coin !== undefined && required(coin.contract) === contract);
  return sum(contractCoins.map((coin) => required(coin?.amount)));
}

function owedInBatch({ batch_nonce, token_contract, transactions }: Batch, contract: string): readonly BatchDebt[] {
  const amount = owed(rows(transactions), contract);
  if (amount === 0n) return [];
  return [{ nonce: required(token_contract) === contract ? required(batch_nonce) : undefined, amount }];
}

/** The debt of the hub in a token, without the batches that the contract has executed or superseded. */
export function outstanding(
  { unbatched, batches }: BackingFacts,
  isDone: (nonce: Numeral) => boolean,
): Numeral | undefined {
  if (unbatched === undefined || batches === undefined) return undefined;
  const live = batches.filter(({ nonce }) => nonce === undefined || !isDone(nonce));
  return live.reduce((total, { amount }) => add(total, amount), unbatched);
}
