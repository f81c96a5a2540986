import { compare } from '../../chain/numeral.js';
import type { Batch } from '../../chain/module-state.js';
import { orEmpty, orNull, orUndefined, required, rows } from '../required-fields.js';
import { waitOfBatch } from '../bridge/batches.js';
import type { BridgeInput } from '../bridge/input.js';
import { idOf, unbatchedTransfers } from '../bridge/tokens.js';
import { listNames, type ListName } from '../crosschain/cctxs.js';
import type { CrosschainInput } from '../crosschain/input.js';
import { transferItem, type TransferItem } from './bridge.js';
import { cctxItems, type CctxItem } from './crosschain.js';
import { decimalOrNull, MAX_ROWS } from './item-list.js';

/* The search over all transfers of a bridge, and over all cross-chain transactions. */

export interface FoundTransfer extends TransferItem {
  /** `null` for an unbatched transfer. */
  readonly batch: Readonly<ReturnType<typeof batchOfTransfer>> | null;
}

export interface FoundCctx extends CctxItem {
  readonly list: ListName;
}

export interface SearchHits<Row> {
  /** Number of items that can be read. */
  readonly searched: number;
  /** Number of matches. */
  readonly found: number;
  /** The first matches, at most `MAX_ROWS`. */
  readonly rows: readonly Row[];
}

export interface SearchResult {
  readonly query: string;
  /** `null` for a target without a readable module state. */
  readonly transfers: SearchHits<FoundTransfer> | null;
  /** `null` for a target without a readable rate limiter input. */
  readonly cctxs: SearchHits<FoundCctx> | null;
}

/** Longer queries match nothing. */
const MAX_QUERY_CHARACTERS = 200;

export function searchText(query: string): string {
  return query.trim().slice(0, MAX_QUERY_CHARACTERS);
}

/** The transfers whose id is the text, or whose sender or destination contains it: unbatched, then batched, each oldest first. */
export function searchTransfers(input: BridgeInput, text: string): SearchHits<FoundTransfer> {
  const listed = [
    ...orEmpty(() => unbatchedTransfers(input)).map((transfer) => ({ transfer, batch: null })),
    ...orEmpty(() => rows(input.state.batches)).flatMap((batch) =>
      orEmpty(() => rows(batch.transactions)).map((transfer) => ({ transfer, batch })),
    ),
  ];
  const readable = listed.flatMap(({ transfer, batch }) => {
    const id = orUndefined(() => idOf(transfer));
    return id === undefined ? [] : [{ transfer, batch, id }];
  });
  const matches = matcher(text);
  const matching = readable
    .filter(({ id, transfer: { sender, dest_address } }) =>
      matches(String(id), [orNull(() => required(sender)), orNull(() => required(dest_address))]),
    )
    .toSorted((a, b) => Number(a.batch !== null) - Number(b.batch !== null) || compare(a.id, b.id));
  const shown = matching.slice(0, MAX_ROWS).map(({ transfer, batch }): FoundTransfer => ({
    ...transferItem(input, transfer),
    batch: batch && batchOfTransfer(input, batch),
  }));
  return { searched: readable.length, found: matching.length, rows: shown };
}

function batchOfTransfer(input: BridgeInput, batch: Batch) {
  return {
    nonce: decimalOrNull(() => batch.batch_nonce),
    waitsFor: orNull(() => waitOfBatch(input, batch)),
  };
}

/** The transactions with a nonce, or with an index, hash or address that contains the text: missed, then pending, each oldest first. */
export function searchCctxs(input: CrosschainInput, text: string): SearchHits<FoundCctx> {
  const cctxs = listNames.flatMap((name) => {
    const list = cctxItems(input, name, Infinity);
    return list.readable ? list.rows.map((row): FoundCctx => ({ list: name, ...row })) : [];
  });
  const matches = matcher(text);
  const matching = cctxs.filter(({ nonce, index, hash, inboundHash, sender, origin, receiver }) =>
    matches(nonce, [index, hash, inboundHash, sender, origin, receiver]),
  );
  return { searched: cctxs.length, found: matching.length, rows: matching.slice(0, MAX_ROWS) };
}

/** Matches digits only with an id or nonce, because many hashes contain them; else with a hash or an address that contains the text. */
function matcher(text: string) {
  const lower = text.toLowerCase();
  return /^\d+$/.test(text)
    ? (number: string | null) => number === text
    : (_number: string | null, identifiers: readonly (string | null | undefined)[]) =>
        identifiers.some((id) => id?.toLowerCase().includes(lower) === true);
}
