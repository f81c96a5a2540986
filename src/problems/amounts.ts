import { sum, toDecimalString } from '../chain/decimal.js';
import type { Batch } from '../chain/module-state.js';
import type { BridgeInput } from '../facts/bridge/input.js';
import { configuredTokens, contractLabel, totalAmount } from '../facts/bridge/tokens.js';
import { groupBy } from '../facts/grouping.js';
import { orEmpty, orUndefined, rows } from '../facts/required-fields.js';
import { coinItem } from '../facts/items/tokens.js';
import { list } from '../text/format.js';
import { shortAddress, shortName, sumText } from './sentence.js';

/* Amounts and tokens in sentences. */

/** "3.09M usdt, 30 weth in them": what is in some batches, by token; empty when no decimals are configured. */
export function amountsText(input: BridgeInput, batches: readonly Batch[]): string {
  const amounts = orEmpty(() => {
    const byToken = groupBy(batches, ({ token_contract }) => contractLabel(token_contract));
    return Array.from(byToken).flatMap(([contract, own]) =>
      sumText([
        coinItem(input, {
          contract,
          amount: orUndefined(() =>
            toDecimalString(sum(own.map(({ transactions }) => totalAmount(rows(transactions))))),
          ),
        }),
      ]),
    );
  });
  return amounts.length === 0 ? '' : `${list(amounts)} in them`;
}

/** A token by its configured symbol, else by its contract. */
export function tokenName(input: BridgeInput, contract: string): string {
  return shortName(configuredTokens(input).get(contract)?.symbol ?? '') || shortAddress(contract);
}
