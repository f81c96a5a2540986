import { toDouble, toDecimalString } from '../chain/decimal.js';
import { coinOf } from '../chain/known-chains.js';
import type { Cctx, Outbound } from '../chain/rate-limiter-input.js';
import type { Field } from '../json/field.js';
import type { Numeral } from '../json/numeral.js';
import { chainIdLabel, chainName, createdAt, currentOutbound, distinctCctxs } from '../metrics/crosschain/cctxs.js';
import type { CrosschainInput } from '../metrics/crosschain/input.js';
import { hiddenCount, listedCount } from '../metrics/crosschain/totals.js';
import { lengthOf, toLabelValue } from '../metrics/family.js';
import { required } from '../metrics/required-fields.js';
import { decimalStringOf, inWholeUnits, itemList, optionalKey, orNull, type SortKeys } from './item-list.js';
import type { CctxItem, CrosschainItems, ItemList } from './items.js';

/** The pending cross-chain transactions, derived from the same lists as the metrics. */
export function crosschainItems(input: CrosschainInput): CrosschainItems {
  const { document } = input;
  const listItems = (list: keyof typeof distinctCctxs, rows: Field<readonly unknown[]>): ItemList<CctxItem> =>
    itemList(
      () => distinctCctxs[list](input),
      byAge,
      (cctx) => cctxItem(input, cctx),
      { countRows: () => lengthOf(rows) },
    );
  return {
    document: 'rate_limiter_input',
    height: orNull(() => decimalStringOf(document.height)),
    totalPending: orNull(() => decimalStringOf(document.total_pending)),
    listed: orNull(() => listedCount(input)),
    hidden: orNull(() => toDecimalString(hiddenCount(input))),
    missed: listItems('missed', document.cctxs_missed),
    pending: listItems('pending', document.cctxs_pending),
  };
}

const byAge: SortKeys<Cctx> = [
  optionalKey(createdAt),
  optionalKey((cctx) => required(required(currentOutbound(cctx)).tss_nonce)),
];

function cctxItem(input: CrosschainInput, cctx: Cctx): CctxItem {
  const outbound = (): Outbound => required(currentOutbound(cctx));
  const chainId = orNull(() => chainIdLabel(cctx)) ?? '';
  const coinType = orNull(() => required(outbound().coin_type));
  const amount = orNull(() => decimalStringOf(required(outbound().amount)));
  const coin = coinOf(coinType ?? '', chainId, input.settings.hubChainIds);
  return {
    index: toLabelValue(required(cctx.index)),
    status: orNull(() => required(required(cctx.cctx_status).status)),
    chainId: chainId || null,
    chain: chainName(chainId, input) || null,
    coinType,
    symbol: coin?.symbol ?? null,
    amount,
    wholeAmount: coin === undefined ? null : inWholeUnits(amount, coin.decimals),
    createdAt: orNull(() => isoTime(createdAt(cctx))),
    hash: orNull(() => toLabelValue(required(outbound().hash))),
    nonce: orNull(() => decimalStringOf(outbound().tss_nonce)),
  };
}

/** The latest time with a year of four digits. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

function isoTime(seconds: Numeral | undefined): string | undefined {
  if (seconds === undefined) return undefined;
  const ms = toDouble(seconds) * 1000;
  return ms <= LAST_MS ? new Date(ms).toISOString() : undefined;
}
