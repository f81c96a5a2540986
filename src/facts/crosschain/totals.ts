import { compare, subtract, ZERO, type Decimal } from '../../chain/decimal.js';
import { families, gauge, lengthOf } from '../../metrics/family.js';
import { required } from '../required-fields.js';
import type { CrosschainInput } from './input.js';

/** Number of rows in both lists. */
export function listedCount({ document }: CrosschainInput): number {
  return lengthOf(document.cctxs_missed) + lengthOf(document.cctxs_pending);
}

/** Number of pending transactions that are in neither list. */
export function hiddenCount(input: CrosschainInput): Decimal {
  const hidden = subtract(required(input.document.total_pending), listedCount(input));
  return compare(hidden, ZERO) > 0 ? hidden : ZERO;
}

/** Heights, totals and list lengths of the rate limiter input. */
export const totalFamilies = families<CrosschainInput>({
  crosschain_height: gauge({
    help: 'Hub height at which the rate limiter input was computed.',
    value: ({ document }) => required(document.height),
  }),
  crosschain_total_pending: gauge({
    help: 'Number of missed and pending transactions, including those that are not listed; one that the node finds under two chains counts twice.',
    value: ({ document }) => required(document.total_pending),
  }),
  crosschain_past_cctxs_value: gauge({
    help: 'Value of past outgoing transactions in the window, of any status, in smallest units of the native coin; assets without a conversion rate count 0.',
    value: ({ document }) => required(document.past_cctxs_value),
  }),
  crosschain_pending_cctxs_value: gauge({
    help: 'Value of pending transactions with hidden ones and reverts, without missed ones, in smallest units of the native coin; assets without a conversion rate count 0.',
    value: ({ document }) => required(document.pending_cctxs_value),
  }),
  crosschain_lowest_pending_cctx_height: gauge({
    help: 'Lowest inbound height of the transactions at the low nonce of each chain, which need not be pending and mix heights of different chains.',
    value: ({ document }) => required(document.lowest_pending_cctx_height),
  }),
  crosschain_cctxs_missed: gauge({
    help: 'Number of listed missed transactions, whose nonce is below the low nonce of their chain; normally 0.',
    value: ({ document }) => lengthOf(document.cctxs_missed),
  }),
  crosschain_cctxs_pending: gauge({
    help: 'Number of listed pending transactions.',
    value: ({ document }) => lengthOf(document.cctxs_pending),
  }),
  crosschain_cctxs_hidden: gauge({
    help: 'Number of pending transactions that are not listed; above 0, the metrics of the listed ones are lower bounds.',
    value: hiddenCount,
  }),
});
