import { gauge } from '../family.js';
import type { CrosschainFamily, CrosschainInput } from './input.js';
import {
  add,
  compare,
  decimal,
  floorDivide,
  integer,
  multiply,
  ratio,
  subtract,
  toDouble,
  ZERO,
  type Decimal,
} from '../../chain/decimal.js';
import { required } from '../withdrawal.js';
import { trustedDigits } from '../../json/numeral.js';

/** The configured window, stretched back to the lowest pending transaction when that is older. */
function window({ document, settings }: CrosschainInput): Decimal | undefined {
  if (settings.window === undefined) return undefined;
  const chosen = decimal(trustedDigits(settings.window));
  const low = decimal(required(document.lowest_pending_cctx_height));
  const reach = add(subtract(decimal(required(document.height)), low), integer(1));
  return compare(low, ZERO) !== 0 && compare(reach, chosen) > 0 ? reach : chosen;
}

function value({ document }: CrosschainInput): Decimal {
  return add(decimal(required(document.past_cctxs_value)), decimal(required(document.pending_cctxs_value)));
}

/** What may move in the window; absent unless both window and rate are configured. */
function allowance(input: CrosschainInput): Decimal | undefined {
  const blocks = window(input);
  const { rate } = input.settings;
  return blocks === undefined || rate === undefined ? undefined : multiply(decimal(trustedDigits(rate)), blocks);
}

const WINDOW_FIELDS = ['height', 'lowest_pending_cctx_height', 'configuration window'] as const;
const VALUE_FIELDS = ['past_cctxs_value', 'pending_cctxs_value'] as const;
const RATE_FIELDS = [...VALUE_FIELDS, ...WINDOW_FIELDS, 'configuration rate'] as const;

/** How much of the configured rate is used; newer real nodes no longer enforce it, so there it is informational. */
export const rateLimitFamilies: readonly CrosschainFamily[] = [
  gauge({
    name: 'crosschain_rate_limit_window_blocks',
    help: 'Window in effect: the configured one, or back to the lowest pending height when that is longer. Far above the configured one, the lowest height is often that of another chain.',
    unit: 'hub blocks',
    reads: WINDOW_FIELDS,
    value: (input) => {
      const blocks = window(input);
      return blocks && toDouble(blocks);
    },
  }),
  gauge({
    name: 'crosschain_rate_limit_configured_window_blocks',
    help: 'Window as configured.',
    unit: 'hub blocks',
    reads: ['configuration window'],
    value: ({ settings }) =>
      settings.window === undefined ? undefined : toDouble(decimal(trustedDigits(settings.window))),
  }),
  gauge({
    name: 'crosschain_withdraw_rate',
    help: 'Value of past and pending transactions for each block of the window in effect, rounded down.',
    unit: 'smallest units of the native coin per block',
    reads: [...VALUE_FIELDS, ...WINDOW_FIELDS],
    value: (input) => {
      const blocks = window(input);
      const rate = blocks && floorDivide(value(input), blocks);
      return rate && toDouble(rate);
    },
  }),
  gauge({
    name: 'crosschain_rate_limit',
    help: 'Rate as configured.',
    unit: 'smallest units of the native coin per block',
    reads: ['configuration window, rate'],
    value: ({ settings: { window: blocks, rate } }) =>
      blocks === undefined || rate === undefined ? undefined : toDouble(decimal(trustedDigits(rate))),
  }),
  gauge({
    name: 'crosschain_rate_limit_utilization_ratio',
    help: 'Value of past and pending transactions over what the rate allows in the window in effect.',
    unit: 'ratio; above 1 over the limit',
    reads: RATE_FIELDS,
    value: (input) => {
      const allowed = allowance(input);
      return allowed && ratio(value(input), allowed);
    },
  }),
  gauge({
    name: 'crosschain_rate_limit_exceeded',
    help: 'Whether past and pending transactions are worth more than the rate allows in the window in effect.',
    unit: '1 for yes, 0 for no',
    reads: RATE_FIELDS,
    value: (input) => {
      const allowed = allowance(input);
      return allowed && (compare(value(input), allowed) > 0 ? 1 : 0);
    },
  }),
];
