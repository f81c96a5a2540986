import { compare } from '../../chain/decimal.js';
import { labeledGauge, perKind } from '../family.js';
import { required } from '../required-fields.js';
import { cctxsByIndex, currentOutbound, listNames, rowsOf } from './cctxs.js';
import type { CrosschainFamily, CrosschainInput } from './input.js';
import { listedCount } from './totals.js';

/** Number of rows whose index occurred before, in the same list or in the other one. */
function duplicates(input: CrosschainInput): number {
  const missed = cctxsByIndex.missed(input);
  const pending = cctxsByIndex.pending(input);
  const [fewer, more] = missed.size < pending.size ? [missed, pending] : [pending, missed];
  const inBoth = Array.from(fewer.keys()).filter((index) => more.has(index)).length;
  return listedCount(input) - (missed.size + pending.size - inBoth);
}

/** Inconsistencies of the rate limiter input. */
export const anomalyFamilies: readonly CrosschainFamily[] = [
  labeledGauge({
    name: 'crosschain_anomalies',
    help: 'Number of inconsistencies of the rate limiter input by kind.',
    unit: 'rows; 0 or 1 for lowest_above_height',
    // Three series per target.
    labels: ['kind'],
    overLimit: 'aggregate',
    derive: perKind<CrosschainInput>({
      duplicate_cctxs: duplicates,
      lowest_above_height: ({ document }) =>
        compare(required(document.lowest_pending_cctx_height), required(document.height)) > 0 ? 1 : 0,
      cctxs_without_outbound: (input) =>
        listNames.flatMap((list) => rowsOf(input, list).filter((cctx) => currentOutbound(cctx) === undefined)).length,
    }),
  }),
];
