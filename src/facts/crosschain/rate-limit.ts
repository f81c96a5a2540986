import { add, asNumeral, multiply, ratio, subtract, type Numeral } from '../../chain/numeral.js';
import { required } from '../required-fields.js';
import type { CrosschainInput } from './crosschain-input.js';

/** The configured window, extended to the lowest pending height. */
export function effectiveWindow({ document, settings }: CrosschainInput): Numeral {
  const configured = asNumeral(settings.window);
  const low = required(document.lowest_pending_cctx_height);
  const extended = add(subtract(required(document.height), low), 1);
  return low !== 0n && extended > configured ? extended : configured;
}

export function totalValue({ document }: CrosschainInput): Numeral {
  return add(required(document.past_cctxs_value), required(document.pending_cctxs_value));
}

/** The value in the window, compared with the value that is allowed; `undefined` without a configured rate. */
export function rateLimitUse(input: CrosschainInput) {
  const { rate } = input.settings;
  if (rate === undefined) return undefined;
  const [value, allowed] = [totalValue(input), multiply(asNumeral(rate), effectiveWindow(input))];
  return { exceeded: value > allowed ? 1 : 0, utilizationRatio: ratio(value, allowed) };
}
