import {
  add,
  compare,
  floorDivide,
  multiply,
  ratio,
  subtract,
  ZERO,
  type Decimal,
  type Exact,
} from '../../chain/decimal.js';
import { asDecimalString } from '../../chain/numeral.js';
import { families, gauge } from '../../metrics/family.js';
import { required } from '../required-fields.js';
import type { CrosschainInput } from './input.js';

/** The configured window, extended to the lowest pending height. */
function effectiveWindow({ document, settings }: CrosschainInput): Exact {
  const configured = asDecimalString(settings.window);
  const low = required(document.lowest_pending_cctx_height);
  const extended = add(subtract(required(document.height), low), 1);
  return compare(low, ZERO) !== 0 && compare(extended, configured) > 0 ? extended : configured;
}

/** Value of past and pending transactions. */
function totalValue({ document }: CrosschainInput): Decimal {
  return add(required(document.past_cctxs_value), required(document.pending_cctxs_value));
}

/** The value allowed in the window; `undefined` unless a rate is configured. */
function allowance(input: CrosschainInput): Decimal | undefined {
  const { rate } = input.settings;
  return rate === undefined ? undefined : multiply(asDecimalString(rate), effectiveWindow(input));
}

/** Utilization of the configured rate limit. Newer nodes do not enforce it; there it is only informational. */
export const rateLimitFamilies = families<CrosschainInput>({
  crosschain_rate_limit_window_blocks: gauge({
    help: 'Effective window in hub blocks: the configured window, extended to the lowest pending height.',
    value: effectiveWindow,
  }),
  crosschain_rate_limit_configured_window_blocks: gauge({
    help: 'Configured window in hub blocks.',
    value: ({ settings }) => asDecimalString(settings.window),
  }),
  crosschain_withdraw_rate: gauge({
    help: 'Value of past and pending transactions per block of the effective window, in smallest units of the native coin, rounded down.',
    value: (input) => floorDivide(totalValue(input), effectiveWindow(input)),
  }),
  crosschain_rate_limit: gauge({
    help: 'Configured rate limit, in smallest units of the native coin per block.',
    value: ({ settings: { rate } }) => (rate === undefined ? undefined : asDecimalString(rate)),
  }),
  crosschain_rate_limit_utilization_ratio: gauge({
    help: 'Value of past and pending transactions divided by the rate limit over the effective window.',
    value: (input) => {
      const allowed = allowance(input);
      return allowed && ratio(totalValue(input), allowed);
    },
  }),
  crosschain_rate_limit_exceeded: gauge({
    help: 'Whether the value of past and pending transactions exceeds the rate limit over the effective window (1) or not (0).',
    value: (input) => {
      const allowed = allowance(input);
      return allowed && (compare(totalValue(input), allowed) > 0 ? 1 : 0);
    },
  }),
});
