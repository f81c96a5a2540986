import type { Instant } from '../clock.js';
import { compare } from '../chain/decimal.js';
import type { Numeral } from '../json/numeral.js';
import type { CrosschainDocument } from './crosschain-document.js';

/** What is remembered of a rate limiter input to compare the next one with. */
export interface CrosschainBaseline {
  readonly at: Instant;
  readonly height: Numeral;
  /** Of the signers; those of the last document with any. */
  readonly keys: readonly string[];
  readonly live: readonly RememberedCctx[];
  /** The highest nonce of each chain so far, which finished ones had. */
  readonly nonces: readonly (readonly [chainId: string, highest: Numeral])[];
}

export type RememberedCctx = readonly [
  index: string,
  chainId: string,
  createdSeconds: number | null,
  /** The position of its key; -1 without one. */
  key: number,
];

/** A baseline as JSON, because it is sent between threads with every poll. */
export type PackedCrosschainBaseline = string & { readonly __brand: 'crosschain-baseline' };

export function packCrosschain(baseline: CrosschainBaseline): PackedCrosschainBaseline {
  return JSON.stringify(baseline) as PackedCrosschainBaseline;
}

export function unpackCrosschain(packed: PackedCrosschainBaseline): CrosschainBaseline {
  return JSON.parse(packed);
}

/** Bounds the memory of an endpoint. A node lists 500 pending transactions, and at most 1000 missed ones per chain. */
export const MAX_CCTXS = 50_000;
const MAX_CHAINS = 1_000;
/** One, two during a rotation. */
const MAX_KEYS = 10;

export function crosschainBaseline(
  { height, live }: CrosschainDocument,
  at: Instant,
  before: CrosschainBaseline | undefined,
): CrosschainBaseline {
  const own = keysOf(live).slice(0, MAX_KEYS);
  const keys = own.length === 0 ? (before?.keys ?? []) : own;
  const positions = new Map(keys.map((key, position) => [key, position]));
  // With another key, nonces begin anew.
  const isSameKey = before?.keys.length === 0 || before?.keys.some((key) => positions.has(key));
  const nonces = new Map(isSameKey === true ? before?.nonces : []);
  for (const { chainId, nonce } of live.values()) {
    const known = nonces.get(chainId);
    if (nonce !== undefined && (known === undefined || compare(nonce, known) > 0)) nonces.set(chainId, nonce);
  }
  return {
    at,
    height,
    keys,
    live: Array.from(live)
      .slice(0, MAX_CCTXS)
      .map(([index, { chainId, created, key = '' }]) => [index, chainId, created ?? null, positions.get(key) ?? -1]),
    nonces: Array.from(nonces).slice(0, MAX_CHAINS),
  };
}

/** The distinct keys of the signers. */
export function keysOf(live: CrosschainDocument['live']): readonly string[] {
  const keys = new Set<string>();
  for (const { key } of live.values()) if (key !== undefined) keys.add(key);
  return Array.from(keys);
}
