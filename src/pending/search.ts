import { listNames, type ListName } from '../metrics/crosschain/cctxs.js';
import type { CctxItem, CrosschainItems } from './items.js';

/* The search over the cross-chain transactions of the items. */

/** A transaction with the list it is in. */
export interface FoundCctx extends CctxItem {
  readonly list: ListName;
}

export interface SearchResult {
  readonly query: string;
  /** Number of transactions that were searched, and of those that the lists contain. */
  readonly searched: number;
  readonly listed: number;
  /** Missed, then pending, each oldest first. */
  readonly rows: readonly FoundCctx[];
}

/** Longer queries match nothing. */
const MAX_QUERY_CHARACTERS = 200;

/** The transactions with a nonce, or with an index, hash or address that contains the query. */
export function searchCctxs(items: CrosschainItems, text: string): SearchResult {
  const query = text.trim().slice(0, MAX_QUERY_CHARACTERS);
  const lists = listNames.flatMap((name) => {
    const list = items[name];
    return list.readable ? [{ name, list }] : [];
  });
  const rows = lists.flatMap(({ name, list }) => list.rows.map((row) => ({ list: name, ...row })));
  return {
    query,
    searched: rows.length,
    listed: lists.reduce((sum, { list }) => sum + list.total, 0),
    rows: rows.filter(matcher(query)),
  };
}

function matcher(query: string): (cctx: CctxItem) => boolean {
  // Digits alone are in many hashes.
  if (/^\d+$/.test(query)) return ({ nonce }) => nonce === query;
  const lower = query.toLowerCase();
  return ({ index, hash, inboundHash, sender, origin, receiver }) =>
    [index, hash, inboundHash, sender, origin, receiver].some((id) => id?.toLowerCase().includes(lower) === true);
}
