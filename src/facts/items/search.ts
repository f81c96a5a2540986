import { listNames, type ListName } from '../crosschain/cctxs.js';
import type { CrosschainInput } from '../crosschain/input.js';
import { cctxItems, type CctxItem } from './crosschain.js';
import { MAX_ROWS } from './item-list.js';

/* The search over all cross-chain transactions of a document. */

/** A transaction with the list it is in. */
export interface FoundCctx extends CctxItem {
  readonly list: ListName;
}

export interface SearchResult {
  readonly query: string;
  /** Number of transactions in the lists that can be read. */
  readonly searched: number;
  /** Number of those that match. */
  readonly found: number;
  /** Those that match, at most `MAX_ROWS`: missed, then pending, each oldest first. */
  readonly rows: readonly FoundCctx[];
}

/** Longer queries match nothing. */
const MAX_QUERY_CHARACTERS = 200;

/** The transactions with a nonce, or with an index, hash or address that contains the query. */
export function searchCctxs(input: CrosschainInput, text: string): SearchResult {
  const query = text.trim().slice(0, MAX_QUERY_CHARACTERS);
  const all = listNames.flatMap((name) => {
    const list = cctxItems(input, name, Infinity);
    return list.readable ? list.rows.map((row): FoundCctx => ({ list: name, ...row })) : [];
  });
  const found = all.filter(matcher(query));
  return { query, searched: all.length, found: found.length, rows: found.slice(0, MAX_ROWS) };
}

function matcher(query: string): (cctx: CctxItem) => boolean {
  // Digits alone are in many hashes.
  if (/^\d+$/.test(query)) return ({ nonce }) => nonce === query;
  const lower = query.toLowerCase();
  return ({ index, hash, inboundHash, sender, origin, receiver }) =>
    [index, hash, inboundHash, sender, origin, receiver].some((id) => id?.toLowerCase().includes(lower) === true);
}
