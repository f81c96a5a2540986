import type { Instant } from '../clock.js';
import type { Numeral } from '../chain/numeral.js';
import type { Cctx } from '../chain/rate-limiter-input.js';
import { validOrUndefined } from '../chain/field.js';
import {
  currentOutbound,
  distinctCctxs,
  groupByChain,
  isTruncated,
  MAX_ID_CHARACTERS,
  MAX_KEYS,
  signerKey,
  type OutboundContent,
} from '../facts/crosschain/cctxs.js';
import { MAX_CHAINS } from '../facts/crosschain/chains.js';
import type { CrosschainInput } from '../facts/crosschain/input.js';
import { orUndefined, required } from '../facts/required-fields.js';

/* The rate limiter input as far as the flow reads it. */

export interface CrosschainDocument {
  readonly height: Numeral;
  /** Whether the node has omitted transactions, so that an unlisted transaction can still be pending. */
  readonly isTruncated: boolean;
  /** The transactions of both lists by index, missed ones first. */
  readonly live: ReadonlyMap<string, LiveCctx>;
  /** The number of missed transactions. */
  readonly missed: number;
  /** The chains on which transactions are pending. */
  readonly chainIds: ReadonlySet<string>;
}

export interface LiveCctx extends OutboundContent {
  /** Label `chain_id`. */
  readonly chainId: string;
  /** When the transaction was created, in Unix seconds; absent when the hub has not recorded it. */
  readonly created?: number | undefined;
  /** The public key of the signers. */
  readonly key?: string | undefined;
}

/** `undefined` when a list, an index, a chain id, the height or the number of all transactions is missing or invalid. */
export function readCrosschainDocument(input: CrosschainInput): CrosschainDocument | undefined {
  return orUndefined(() => read(input));
}

function read(input: CrosschainInput): CrosschainDocument {
  const live = new Map<string, LiveCctx>();
  const chainIds = new Set<string>();
  let missed = 0;
  for (const list of [distinctCctxs.missed, distinctCctxs.pending]) {
    missed = live.size;
    for (const [chainId, cctxs] of groupByChain(list(input))) {
      for (const cctx of cctxs) {
        const index = required(cctx.index);
        if (index.length > MAX_ID_CHARACTERS) continue;
        live.set(index, liveCctx(cctx, chainId));
        chainIds.add(chainId);
      }
    }
  }
  return {
    height: required(input.document.height),
    isTruncated: isTruncated(input),
    live,
    missed,
    chainIds,
  };
}

function liveCctx(cctx: Cctx, chainId: string): LiveCctx {
  const outbound = orUndefined(() => currentOutbound(cctx));
  const asset = validOrUndefined(validOrUndefined(cctx.inbound_params)?.asset);
  return {
    chainId,
    created: createdSeconds(cctx),
    nonce: validOrUndefined(outbound?.tss_nonce),
    coinType: validOrUndefined(outbound?.coin_type),
    amount: validOrUndefined(outbound?.amount),
    asset: asset === undefined || asset.length > MAX_ID_CHARACTERS ? undefined : asset,
    key: signerKey(cctx),
  };
}

function createdSeconds({ cctx_status }: Cctx): number | undefined {
  const created = validOrUndefined(validOrUndefined(cctx_status)?.created_timestamp);
  return created !== undefined && created > 0 ? Number(created) : undefined;
}

/** The memory of a rate limiter input, to compare the next document with. */
export interface CrosschainBaseline {
  readonly at: Instant;
  readonly height: Numeral;
  /** The transactions by index, missed ones first. */
  readonly live: ReadonlyMap<string, LiveCctx>;
  /** The number of missed transactions. */
  readonly missed: number;
  /** The public keys of the signers in the last document with keys. */
  readonly keys: readonly string[];
  /** The highest nonce of each chain so far, also of finished transactions. */
  readonly nonces: ReadonlyMap<string, Numeral>;
}

/** Bounds the memory of an endpoint. A node lists 500 pending transactions, and at most 1000 missed ones per chain. */
export const MAX_CCTXS = 50_000;

export function crosschainBaseline(
  { height, live, missed }: CrosschainDocument,
  at: Instant,
  before: CrosschainBaseline | undefined,
): CrosschainBaseline {
  const current = keysOf(live).slice(0, MAX_KEYS);
  const keys = current.length === 0 ? (before?.keys ?? []) : current;
  // A chain with another key begins its nonces anew.
  const isSameKey = before?.keys.length === 0 || before?.keys.some((key) => keys.includes(key));
  const nonces = new Map(isSameKey === true ? before?.nonces : []);
  for (const { chainId, nonce } of live.values()) {
    const highest = nonces.get(chainId);
    if (nonce === undefined || (highest === undefined && nonces.size >= MAX_CHAINS)) continue;
    if (highest === undefined || nonce > highest) nonces.set(chainId, nonce);
  }
  const bounded = live.size <= MAX_CCTXS ? live : new Map(Array.from(live).slice(0, MAX_CCTXS));
  return { at, height, live: bounded, missed, keys, nonces };
}

/** The distinct keys of the signers. */
export function keysOf(live: CrosschainDocument['live']): readonly string[] {
  return Array.from(new Set(Array.from(live.values(), ({ key }) => key).filter((key) => key !== undefined)));
}
