import { compare, decimal } from '../../chain/decimal.js';
import type { Cctx } from '../../chain/rate-limiter-input.js';
import { need, rows } from '../../chain/reading.js';
import { labelledGauge } from '../family.js';
import { singly } from '../singly.js';
import { currentOutbound } from './cctxs.js';
import type { CrosschainFamily, CrosschainInput } from './input.js';

function allRows({ document }: CrosschainInput): readonly Cctx[] {
  return [...rows(document.cctxs_missed), ...rows(document.cctxs_pending)];
}

/** What should not be there, or makes other numbers lower bounds. */
export const anomalyFamilies: readonly CrosschainFamily[] = [
  labelledGauge({
    name: 'crosschain_anomalies',
    help: 'Oddities of the lists, by kind: rows whose index occurred before, a lowest height above the height, rows without an outbound.',
    unit: 'rows; 0 or 1 for lowest_above_height',
    reads: [
      'cctxs_missed',
      'cctxs_missed[].index',
      'cctxs_missed[].outbound_params',
      'cctxs_pending',
      'cctxs_pending[].index',
      'cctxs_pending[].outbound_params',
      'height',
      'lowest_pending_cctx_height',
    ],
    // The three kinds.
    labels: ['kind'],
    keep: 'fold',
    derive: singly<CrosschainInput>({
      duplicate_cctxs: (input) => {
        const indexes = allRows(input).map(({ index }) => need(index));
        return indexes.length - new Set(indexes).size;
      },
      lowest_above_height: ({ document }) =>
        compare(decimal(need(document.lowest_pending_cctx_height)), decimal(need(document.height))) > 0 ? 1 : 0,
      cctxs_without_outbound: (input) => allRows(input).filter((cctx) => currentOutbound(cctx) === undefined).length,
    }),
  }),
];
