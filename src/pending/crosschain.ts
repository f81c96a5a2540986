import type { Cctx, Outbound } from '../chain/rate-limiter-input.js';
import { createdAt } from '../metrics/crosschain/breakdown.js';
import { chainIdLabel, chainName, currentOutbound, distinctCctxs } from '../metrics/crosschain/cctxs.js';
import type { CrosschainInput } from '../metrics/crosschain/input.js';
import { hiddenCctxs, listedCctxs } from '../metrics/crosschain/totals.js';
import { labelValue, lengthOf } from '../metrics/family.js';
import type { CctxItem, CrosschainItems } from './items.js';
import { exact, ifKnown, known, section, type Keys } from './section.js';
import { toDigits, double } from '../chain/decimal.js';
import type { Numeral } from '../json/numeral.js';
import { required } from '../metrics/withdrawal.js';

/** What waits between chains, from the same lists as the gauges. */
export function crosschainItems(input: CrosschainInput): CrosschainItems {
  const { document } = input;
  return {
    document: 'rate_limiter_input',
    height: known(() => exact(document.height)),
    totalPending: known(() => exact(document.total_pending)),
    listed: known(() => listedCctxs(input)),
    hidden: known(() => toDigits(hiddenCctxs(input))),
    missed: section(
      () => distinctCctxs.missed(input),
      byAge,
      (cctx) => cctxItem(input, cctx),
      () => lengthOf(document.cctxs_missed),
    ),
    pending: section(
      () => distinctCctxs.pending(input),
      byAge,
      (cctx) => cctxItem(input, cctx),
      () => lengthOf(document.cctxs_pending),
    ),
  };
}

const byAge: Keys<Cctx> = [ifKnown(createdAt), ifKnown((cctx) => required(required(currentOutbound(cctx)).tss_nonce))];

function cctxItem(input: CrosschainInput, cctx: Cctx): CctxItem {
  const outbound = (): Outbound => required(currentOutbound(cctx));
  const chainId = known(() => chainIdLabel(cctx)) ?? '';
  return {
    index: labelValue(required(cctx.index)),
    status: known(() => required(required(cctx.cctx_status).status)),
    chainId: chainId || null,
    chain: chainName(chainId, input) || null,
    coinType: known(() => required(outbound().coin_type)),
    amount: known(() => exact(required(outbound().amount))),
    createdAt: known(() => isoTime(createdAt(cctx))),
    hash: known(() => labelValue(required(outbound().hash).decode())),
    nonce: known(() => exact(outbound().tss_nonce)),
  };
}

/** The last instant that ISO 8601 writes with four digits of a year. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

function isoTime(seconds: Numeral | undefined): string | undefined {
  if (seconds === undefined) return undefined;
  const ms = double(seconds) * 1000;
  return ms <= LAST_MS ? new Date(ms).toISOString() : undefined;
}
