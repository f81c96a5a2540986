import type { Numeral } from '../chain/numeral.js';
import type { BridgeInput } from '../facts/bridge/bridge-input.js';
import { learnedFees } from '../facts/bridge/executions.js';
import * as tokens from '../facts/bridge/tokens.js';
import { toLabelValue } from '../facts/plain-values.js';
import { compareLabels, labeledGauge, type Sample } from './family.js';

/* The families of the module state about tokens, in the order of the exposition. */

// Anyone can bridge a token, so the number of contracts is not bounded by the chain. Above the limit, the smallest
// counts are aggregated; amounts of different tokens have no common unit, so the smallest are dropped.
const COUNTED = { ...tokens.PER_TOKEN, overLimit: 'aggregate' } as const;
const SUMMED = { ...tokens.PER_TOKEN, overLimit: 'keep-largest' } as const;

type TokenValues = Iterable<readonly [contract: string, value: Numeral | undefined]>;
type TokenSamples = readonly Sample<tokens.TokenLabel>[];

/** Gauges as a table, with a series for each token of the bridge, also without transfers. */
function transferGauges(
  table: readonly (readonly [
    name: string,
    limit: typeof COUNTED | typeof SUMMED,
    transfersByContract: tokens.TransfersByContract,
    value: tokens.ValueOfTransfers<Numeral>,
    help: string,
  ])[],
) {
  return Object.fromEntries(
    table.map(([name, limit, transfersByContract, value, help]) => {
      const derive = (input: BridgeInput): TokenSamples => {
        const transfers = transfersByContract(input);
        const contracts = Array.from(tokens.tokenContracts(input));
        return withDenoms(
          input,
          contracts.map((contract) => [contract, value(transfers.get(contract) ?? [])]),
        );
      };
      return [name, labeledGauge({ help, ...limit, derive })];
    }),
  );
}

function withDenoms(input: BridgeInput, values: TokenValues): TokenSamples {
  const denoms = tokens.denomByContract(input);
  return Array.from(values, ([contract, value]) => ({
    labels: { token_contract: contract, denom: denoms.get(contract) ?? '' },
    value,
  }));
}

/** A sample for each token with a queue, in the order of labels. */
function queuedTokens(input: BridgeInput, values: TokenValues): TokenSamples {
  return withDenoms(input, values).toSorted((a, b) => compareLabels(tokens.PER_TOKEN.labels, a.labels, b.labels));
}

/** Samples by contract alone, one for each configured token or each with executed batches. */
function byContract(values: TokenValues): readonly Sample<'token_contract'>[] {
  return Array.from(values, ([contract, value]) => ({ labels: { token_contract: contract }, value }));
}

export const tokenFamilies = {
  // prettier-ignore
  ...transferGauges([
    ['bridge_token_unbatched_transfers', COUNTED, tokens.unbatchedByToken, ({ length }) => length, 'Number of unbatched transfers of the token.'],
    ['bridge_token_unbatched_amount', SUMMED, tokens.unbatchedByToken, tokens.totalAmount, 'Amount of unbatched transfers, in smallest units of the token.'],
    ['bridge_token_unbatched_fees_amount', SUMMED, tokens.unbatchedByFeeToken, tokens.totalFee, 'Fees of unbatched transfers, in smallest units of the token.'],
    ['bridge_token_batched_transfers', COUNTED, tokens.batchedByToken, ({ length }) => length, 'Number of transfers of the token in live batches.'],
    ['bridge_token_batched_amount', SUMMED, tokens.batchedByToken, tokens.totalAmount, 'Amount of transfers in live batches, in smallest units of the token.'],
    ['bridge_token_batched_fees_amount', SUMMED, tokens.batchedByFeeToken, tokens.totalFee, 'Fees of transfers in live batches, in smallest units of the token.'],
  ]),
  bridge_token_oldest_unbatched_transfer_id: labeledGauge({
    help: 'Lowest id of an unbatched transfer of the token.',
    ...tokens.PER_TOKEN,
    derive: (input: BridgeInput) =>
      queuedTokens(
        input,
        Array.from(tokens.unbatchedByToken(input), ([contract, transfers]) => [contract, tokens.lowestId(transfers)]),
      ),
  }),
  bridge_token_top_batch_fees_amount: labeledGauge({
    help: 'Sum of the 100 highest fees of unbatched transfers, in smallest units of the token; absent without unbatched transfers.',
    ...SUMMED,
    derive: (input: BridgeInput) => queuedTokens(input, tokens.topBatchFeesByToken(input)),
  }),
  bridge_token_info: labeledGauge({
    help: 'Configured symbol of a token contract as a label.',
    // One series per configured token.
    labels: ['token_contract', 'symbol'],
    derive: (input: BridgeInput) =>
      input.tokens.flatMap(({ contract, symbol }) =>
        symbol === undefined ? [] : [{ labels: { token_contract: contract, symbol: toLabelValue(symbol) }, value: 1 }],
      ),
  }),
  bridge_token_decimals: labeledGauge({
    help: 'Configured number of decimals of a token: amounts divided by 10 to this power are in whole tokens.',
    labels: ['token_contract'],
    derive: (input: BridgeInput) => byContract(input.tokens.map(({ contract, decimals }) => [contract, decimals])),
  }),
  bridge_token_min_batch_fees_amount: labeledGauge({
    help: 'Configured sum of fees below which no batch of the token is built or relayed, in smallest units of the token.',
    labels: ['token_contract'],
    derive: (input: BridgeInput) => byContract(tokens.minBatchFees(input.tokens)),
  }),
  bridge_token_learned_min_batch_fees_amount: labeledGauge({
    help: 'Estimated sum of fees below which no batch of the token is relayed, in smallest units of the token; absent with fewer than ten executed batches in 14 days or without one in the last day.',
    stability: 'experimental',
    labels: ['token_contract'],
    overLimit: 'keep-largest',
    derive: (input: BridgeInput) =>
      byContract(Array.from(learnedFees(input), ([contract, { minimum }]) => [contract, minimum])),
  }),
} as const;
