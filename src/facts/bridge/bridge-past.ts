import { highest, sum, type Numeral } from '../../chain/numeral.js';
import type { Batch, Transfer } from '../../chain/module-state.js';
import { isValid, validOrUndefined } from '../../chain/fields.js';
import {
  MAX_BATCH_TOKENS,
  type BackingFacts,
  type BatchDebt,
  type BatchToken,
  type HubSide,
} from '../contract/reading.js';
import { heightSamples } from '../hub-blocks.js';
import { orEmpty, orUndefined, required, rows, withdrawWithout } from '../required-fields.js';
import { relayableSince } from './batches.js';
import { externalBlockTime, hubBlockTime, lastEventSeen } from './block-times.js';
import type { BridgeInput, BridgePast } from './bridge-input.js';
import { executedBatches, rememberedBatches } from './executions.js';
import { watchedOrchestrators } from './registrations.js';
import {
  denomByContract,
  feeCoin,
  hubCoinDenom,
  rememberedBatchNonces,
  transferredCoin,
  unbatchedTransfers,
} from './tokens.js';

/** The past of the next document. */
export function bridgePast(input: BridgeInput): BridgePast {
  return {
    at: input.at,
    heights: heightSamples(input),
    lastEvent: lastEventSeen(input),
    watched: watchedOrchestrators(input),
    hubCoinDenom: hubCoinDenom(input),
    batchNonces: rememberedBatchNonces(input),
    hubSide: hubSide(input),
    live: rememberedBatches(input),
    executed: executedBatches(input),
    relayableSince: relayableSince(input),
  };
}

/* What a poll of the contract on the external chain needs of a module state. */

/** `undefined` when the address of the contract or the id of its chain is unknown. */
function hubSide(input: BridgeInput): HubSide | undefined {
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
