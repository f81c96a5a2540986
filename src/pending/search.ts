import { gunzipSync, gzipSync } from 'node:zlib';
import { distinctCctxs, listNames, type ListName } from '../metrics/crosschain/cctxs.js';
import type { CrosschainInput } from '../metrics/crosschain/input.js';
import { byAge, cctxItem } from './crosschain.js';
import { orNull, sortedByKeys } from './item-list.js';
import { MAX_ROWS, type CctxItem, type CrosschainItems } from './items.js';

/*
 * The search over all listed cross-chain transactions, of which the items contain the oldest. The worker thread sends the others compressed,
 * because they are rarely read: 10,000 transactions are 5 MB of JSON, and 2 MB compressed.
 */

/** A transaction with the list it is in. */
export interface FoundCctx extends CctxItem {
  readonly list: ListName;
}

/** The transactions of both lists, compressed; sent between threads. */
export interface SearchIndex {
  /** A line of JSON for each transaction, those of a list oldest first: the values of the keys in the first line. */
  readonly gzip: Uint8Array;
  /** Number of transactions in the index, and in the lists that can be read. */
  readonly rows: number;
  readonly total: number;
}

/** Bounds the memory that a hostile document takes: what an index is compressed from. The newest transactions are left out. */
const MAX_INDEX_CHARACTERS = 16 * 2 ** 20;

/** `undefined` if the items contain all transactions. */
export function searchIndex(input: CrosschainInput, { missed, pending }: CrosschainItems): SearchIndex | undefined {
  const isComplete = [missed, pending].every((list) => !list.readable || list.total === list.rows.length);
  if (isComplete) return undefined;
  const lines: string[] = [];
  let keys: readonly string[] = [];
  let characters = 0;
  let total = 0;
  for (const list of listNames) {
    const sorted = orNull(() => sortedByKeys(distinctCctxs[list](input), byAge)) ?? [];
    total += sorted.length;
    for (const cctx of sorted) {
      if (characters > MAX_INDEX_CHARACTERS) break;
      const found: FoundCctx = { list, ...cctxItem(input, cctx) };
      keys = Object.keys(found);
      const line = JSON.stringify(Object.values(found));
      lines.push(line);
      characters += line.length;
    }
  }
  // Copied, because a small result is a part of a larger buffer, which would be sent as a whole.
  const gzip = new Uint8Array(gzipSync([JSON.stringify(keys), ...lines].join('\n'), { level: 1 }));
  return { gzip, rows: lines.length, total };
}

export interface SearchResult {
  readonly query: string;
  /** Number of transactions that match. */
  readonly total: number;
  /** Number of transactions that were searched, and of those that the lists contain. */
  readonly searched: number;
  readonly listed: number;
  /** The first ones: missed, then pending, each oldest first. */
  readonly rows: readonly FoundCctx[];
}

/** Longer queries match nothing. */
const MAX_QUERY_CHARACTERS = 200;

/** The transactions with a nonce, or with an index, hash or address that contains the query. */
export function searchCctxs(items: CrosschainItems, index: SearchIndex | undefined, text: string): SearchResult {
  const query = text.trim().slice(0, MAX_QUERY_CHARACTERS);
  const found: readonly FoundCctx[] = index === undefined ? rowsOf(items) : candidatesIn(index, query);
  const matching = found.filter(matcher(query));
  return {
    query,
    total: matching.length,
    searched: index?.rows ?? found.length,
    listed: index?.total ?? found.length,
    rows: matching.slice(0, MAX_ROWS),
  };
}

function rowsOf(items: CrosschainItems): readonly FoundCctx[] {
  return listNames.flatMap((list) => {
    const own = items[list];
    return own.readable ? own.rows.map((row) => ({ list, ...row })) : [];
  });
}

/** Parses only the lines that can match. */
function candidatesIn({ gzip }: SearchIndex, query: string): readonly FoundCctx[] {
  const escaped = JSON.stringify(query).slice(1, -1).toLowerCase();
  const [header = '[]', ...lines] = gunzipSync(gzip).toString().split('\n');
  const keys: readonly string[] = JSON.parse(header);
  const parse = (line: string): FoundCctx => {
    const values: readonly unknown[] = JSON.parse(line);
    // The worker thread wrote the line from a transaction.
    return Object.fromEntries(keys.map((key, index) => [key, values[index]])) as unknown as FoundCctx;
  };
  return lines.filter((line) => line.toLowerCase().includes(escaped)).map(parse);
}

function matcher(query: string): (cctx: CctxItem) => boolean {
  // Digits alone are in many hashes.
  if (/^\d+$/.test(query)) return ({ nonce }) => nonce === query;
  const lower = query.toLowerCase();
  return ({ index, hash, inboundHash, sender, origin, receiver }) =>
    [index, hash, inboundHash, sender, origin, receiver].some((id) => id?.toLowerCase().includes(lower) === true);
}
