import type { Instant } from '../clock.js';
import { compare } from '../chain/decimal.js';
import type { Numeral } from '../json/numeral.js';
import type { CrosschainDocument } from './crosschain-document.js';
import { pack, unpack, type Packed } from './packed.js';

/** What is remembered of a rate limiter input to compare the next one with. */
export interface CrosschainBaseline {
  readonly at: Instant;
  /** Whether a later document could not be compared with it. */
  readonly isInterrupted: boolean;
  readonly height: Numeral;
  readonly live: Packed<RememberedCctxs>;
  readonly signers: Packed<Signers>;
}

export interface Signers {
  /** Their public keys; those of the last document with any. */
  readonly keys: readonly string[];
  /** The highest nonce of each chain so far, which finished transactions had. */
  readonly nonces: readonly (readonly [chainId: string, highest: Numeral])[];
}

/** Each list has a value for each transaction. */
interface RememberedCctxs {
  readonly indexes: readonly string[];
  /** The number of missed ones, which come first. */
  readonly missed: number;
  readonly chainIds: readonly string[];
  /** In Unix seconds. */
  readonly created: readonly (number | null)[];
  /** In the keys of the signers; -1 without a key. */
  readonly keyPositions: readonly number[];
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
  const earlier = before && unpack(before.signers);
  const own = keysOf(live).slice(0, MAX_KEYS);
  const keys = own.length === 0 ? (earlier?.keys ?? []) : own;
  const positions = new Map(keys.map((key, position) => [key, position]));
  // With another key, nonces begin anew.
  const isSameKey = earlier?.keys.length === 0 || earlier?.keys.some((key) => positions.has(key));
  const nonces = new Map(isSameKey === true ? earlier?.nonces : []);
  for (const { chainId, nonce } of live.values()) {
    const known = nonces.get(chainId);
    if (nonce !== undefined && (known === undefined || compare(nonce, known) > 0)) nonces.set(chainId, nonce);
  }
  return {
    at,
    isInterrupted: false,
    height,
    live: pack({ ...rememberedCctxs(live, positions), missed }),
    signers: pack({ keys, nonces: Array.from(nonces).slice(0, MAX_CHAINS) }),
  };
}

function rememberedCctxs(
  live: CrosschainDocument['live'],
  positions: ReadonlyMap<string, number>,
): Omit<RememberedCctxs, 'missed'> {
  const indexes: string[] = [];
  const chainIds: string[] = [];
  const created: (number | null)[] = [];
  const keyPositions: number[] = [];
  for (const [index, cctx] of live) {
    if (indexes.length >= MAX_CCTXS) break;
    indexes.push(index);
    chainIds.push(cctx.chainId);
    created.push(cctx.created ?? null);
    keyPositions.push(positions.get(cctx.key ?? '') ?? -1);
  }
  return { indexes, chainIds, created, keyPositions };
}

/** The distinct keys of the signers. */
export function keysOf(live: CrosschainDocument['live']): readonly string[] {
  const keys = new Set<string>();
  for (const { key } of live.values()) if (key !== undefined) keys.add(key);
  return Array.from(keys);
}
