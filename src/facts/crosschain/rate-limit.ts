import { add, compare, multiply, subtract, ZERO, type Decimal, type AnyNumber } from '../../chain/decimal.js';
import { asDecimalString } from '../../chain/numeral.js';
import { required } from '../required-fields.js';
import type { CrosschainInput } from './input.js';

/** The configured window, extended to the lowest pending height. */
export function effectiveWindow({ document, settings }: CrosschainInput): AnyNumber {
  const configured = asDecimalString(settings.window);
  const low = required(document.lowest_pending_cctx_height);
  const extended = add(subtract(required(document.height), low), 1);
  return compare(low, ZERO) !== 0 && compare(extended, configured) > 0 ? extended : configured;
}

export function totalValue({ document }: CrosschainInput): Decimal {
  return add(required(document.past_cctxs_value), required(document.pending_cctxs_value));
}

/** The value allowed in the window; `undefined` without a configured rate. */
export function allowance(input: CrosschainInput): Decimal | undefined {
  const { rate } = input.settings;
  return rate === undefined ? undefined : multiply(asDecimalString(rate), effectiveWindow(input));
}
