import { gauge, lengthOf, doubleOf } from '../family.js';
import type { CrosschainFamily, CrosschainInput } from './input.js';
import { compare, decimal, integer, subtract, toDouble, ZERO, type Decimal } from '../../chain/decimal.js';
import { required } from '../withdrawal.js';

/** Rows of both lists. */
export function listedCount({ document }: CrosschainInput): number {
  return lengthOf(document.cctxs_missed) + lengthOf(document.cctxs_pending);
}

/** Pending transactions that are in neither list. */
export function hiddenCount(input: CrosschainInput): Decimal {
  const hidden = subtract(decimal(required(input.document.total_pending)), integer(listedCount(input)));
  return compare(hidden, ZERO) > 0 ? hidden : ZERO;
}

/** The plain numbers of the rate limiter's input and how long its lists are. */
export const totalFamilies: readonly CrosschainFamily[] = [
  gauge({
    name: 'crosschain_height',
    help: 'Hub height the input was computed at.',
    unit: 'hub height',
    reads: ['height'],
    value: ({ document }) => doubleOf(document.height),
  }),
  gauge({
    name: 'crosschain_total_pending',
    help: 'Missed and pending cross-chain transactions, also those the service left out of its lists.',
    unit: 'cross-chain transactions',
    reads: ['total_pending'],
    value: ({ document }) => doubleOf(document.total_pending),
  }),
  gauge({
    name: 'crosschain_past_cctxs_value',
    help: 'Value of outgoing transactions inside the window; what has no configured rate counts 0 there.',
    unit: 'smallest units of the native coin',
    reads: ['past_cctxs_value'],
    value: ({ document }) => doubleOf(document.past_cctxs_value),
  }),
  gauge({
    name: 'crosschain_pending_cctxs_value',
    help: 'Value of all pending transactions, also of hidden ones; what has no configured rate counts 0 there.',
    unit: 'smallest units of the native coin',
    reads: ['pending_cctxs_value'],
    value: ({ document }) => doubleOf(document.pending_cctxs_value),
  }),
  gauge({
    name: 'crosschain_lowest_pending_cctx_height',
    help: 'Lowest height at which a lowest pending transaction of a chain was observed; 0 when nothing is pending. Heights of different chains meet here.',
    unit: 'height',
    reads: ['lowest_pending_cctx_height'],
    value: ({ document }) => doubleOf(document.lowest_pending_cctx_height),
  }),
  gauge({
    name: 'crosschain_cctxs_missed',
    help: 'Transactions that a later nonce of their chain has overtaken; should be 0.',
    unit: 'cross-chain transactions',
    reads: ['cctxs_missed'],
    value: ({ document }) => lengthOf(document.cctxs_missed),
  }),
  gauge({
    name: 'crosschain_cctxs_pending',
    help: 'Pending transactions the service listed.',
    unit: 'cross-chain transactions',
    reads: ['cctxs_pending'],
    value: ({ document }) => lengthOf(document.cctxs_pending),
  }),
  gauge({
    name: 'crosschain_cctxs_hidden',
    help: 'Pending transactions the service left out of its list; above 0 every breakdown of the list is a lower bound.',
    unit: 'cross-chain transactions',
    reads: ['total_pending', 'cctxs_missed', 'cctxs_pending'],
    value: (input) => toDouble(hiddenCount(input)),
  }),
];
