import type { Instant } from '../clock.js';
import { compare } from '../chain/decimal.js';
import type { Numeral } from '../chain/numeral.js';
import type { CrosschainDocument, LiveCctx } from './crosschain-document.js';

/** What is remembered of a rate limiter input to compare the next one with. */
export interface CrosschainBaseline {
  readonly at: Instant;
  /** Whether a later document could not be compared with it. */
  readonly isInterrupted: boolean;
  readonly height: Numeral;
  /** By index; the missed ones come first. */
  readonly live: ReadonlyMap<string, LiveCctx>;
  /** The number of missed ones. */
  readonly missed: number;
  /** The public keys of the signers; those of the last document with any. */
  readonly keys: readonly string[];
  /** The highest nonce of each chain so far, which finished transactions had. */
  readonly nonces: ReadonlyMap<string, Numeral>;
}

/** Bounds the memory of an endpoint. A node lists 500 pending transactions, and at most 1000 missed ones per chain. */
export const MAX_CCTXS = 50_000;
const MAX_CHAINS = 1_000;
/** One, two during a rotation. */
const MAX_KEYS = 10;

export function crosschainBaseline(
  { height, live, missed }: CrosschainDocument,
  at: Instant,
  before: CrosschainBaseline | undefined,
): CrosschainBaseline {
  const own = keysOf(live).slice(0, MAX_KEYS);
  const keys = own.length === 0 ? (before?.keys ?? []) : own;
  // With another key, nonces begin anew.
  const isSameKey = before?.keys.length === 0 || before?.keys.some((key) => keys.includes(key));
  const nonces = new Map(isSameKey === true ? before?.nonces : []);
  for (const { chainId, nonce } of live.values()) {
    const known = nonces.get(chainId);
    if (nonce === undefined || (known === undefined && nonces.size >= MAX_CHAINS)) continue;
    if (known === undefined || compare(nonce, known) > 0) nonces.set(chainId, nonce);
  }
  const remembered = live.size <= MAX_CCTXS ? live : new Map(Array.from(live).slice(0, MAX_CCTXS));
  return { at, isInterrupted: false, height, live: remembered, missed, keys, nonces };
}

/** The distinct keys of the signers. */
export function keysOf(live: CrosschainDocument['live']): readonly string[] {
  const keys = new Set<string>();
  for (const { key } of live.values()) if (key !== undefined) keys.add(key);
  return Array.from(keys);
}
