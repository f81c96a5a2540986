import { add, highest, lowest, subtract, type Numeral } from '../../chain/numeral.js';
import { knownChains, LOOKAHEAD } from '../../chain/known-chains.js';
import { isValid, validOrUndefined } from '../../chain/fields.js';
import type { Cctx, RateLimiterInput } from '../../chain/rate-limiter-input.js';
import { DEFAULT_AGE_LIMIT, type CrosschainSettings } from '../../config/endpoint-config.js';
import type { Instant } from '../../clock.js';
import { DAY_SECONDS, MINUTE_MS } from '../../units.js';
import { toLabelValue } from '../plain-values.js';
import { heightSamples } from '../hub-blocks.js';
import { memoize } from '../memoize.js';
import { orEmpty, orUndefined, required } from '../required-fields.js';
import type { CrosschainInput, CrosschainPast, LowestNonce } from './crosschain-input.js';
import {
  cctxsByIndex,
  consideredCctxs,
  currentOutbound,
  distinctCctxs,
  groupByChain,
  isTruncated,
  MAX_KEYS,
  oldestCreation,
  signerKey,
} from './cctxs.js';

/*
 * The chains on which transactions are pending, with their limits and the nonces of outbounds. A chain executes nonces
 * in order, so an unfinished transaction holds up all later ones, also when it is ignored.
 */

/** Label `chain`: the configured or built-in name of the chain; empty without a name. */
export function chainName(chainId: string, { chains }: Pick<CrosschainInput, 'chains'>): string {
  return toLabelValue(Object.hasOwn(chains, chainId) ? (chains[chainId] ?? '') : '');
}

// The number of chain ids is not bounded.
export const PER_CHAIN = { labels: ['chain_id', 'chain'] } as const;

type ChainLabel = (typeof PER_CHAIN.labels)[number];

export function chainLabels(
  chainId: string,
  input: Pick<CrosschainInput, 'chains'>,
): Readonly<Record<ChainLabel, string>> {
  return { chain_id: chainId, chain: chainName(chainId, input) };
}

export type CctxList = (input: CrosschainInput) => readonly Cctx[];

/** The transactions of a list that are pending on a chain. */
export function cctxsOfChain(input: CrosschainInput, list: CctxList, chainId: string): readonly Cctx[] {
  return groupByChain(list(input)).get(chainId) ?? [];
}

const AGE_LIMIT_MS = 30 * MINUTE_MS;

/** How long a transaction may be pending on a chain. */
export function ageLimitMs(chainId: string, { age_limits: ageLimitsMs }: CrosschainSettings): number {
  // Chain ids are untrusted, and `constructor` is a property of every object.
  const configured = Object.hasOwn(ageLimitsMs, chainId) ? ageLimitsMs[chainId] : undefined;
  return configured ?? knownChains.get(chainId)?.ageLimitMs ?? ageLimitsMs[DEFAULT_AGE_LIMIT] ?? AGE_LIMIT_MS;
}

/**
 * How far above the lowest missed nonce clients schedule: the answer of the node, else the built-in value of the chain.
 */
export function scheduleLookahead(chainId: string, { lookaheads = {} }: CrosschainInput): number {
  const answered = Object.hasOwn(lookaheads, chainId) ? lookaheads[chainId] : undefined;
  return answered ?? knownChains.get(chainId)?.lookahead ?? LOOKAHEAD;
}

/** When the oldest pending transaction reaches the age limit. */
export function limitReachedAt(input: CrosschainInput, chainId: string): Numeral | undefined {
  const created = oldestCreation(cctxsOfChain(input, consideredCctxs.pending, chainId));
  return created === undefined ? undefined : add(created, ageLimitMs(chainId, input.settings) / 1000);
}

/** The nonce of the current outbound on its chain. */
export function outboundNonce(cctx: Cctx): Numeral | undefined {
  const outbound = currentOutbound(cctx);
  return outbound && required(outbound.tss_nonce);
}

export const lowestNonce = (cctxs: readonly Cctx[]): Numeral | undefined => lowest(cctxs.map(outboundNonce));
export const highestNonce = (cctxs: readonly Cctx[]): Numeral | undefined => highest(cctxs.map(outboundNonce));

/**
 * A missed transaction further below the lowest pending nonce is listed only while it is in the rate limiter window.
 */
const MAX_NONCES_BELOW = 1000;

/** A transaction in both lists counts as pending. */
export const missedOnly = memoize((input: CrosschainInput): readonly Cctx[] => {
  const pending = cctxsByIndex.pending(input);
  return distinctCctxs.missed(input).filter(({ index }) => !pending.has(required(index)));
});

/** The lowest missed nonce that still affects a chain; `undefined` without one. */
export function lowestMissedNonce(input: CrosschainInput, chainId: string): Numeral | undefined {
  const nonces = cctxsOfChain(input, missedOnly, chainId).flatMap((cctx) => outboundNonce(cctx) ?? []);
  const pending = lowestNonce(cctxsOfChain(input, distinctCctxs.pending, chainId));
  return lowest(nonces.filter((nonce) => pending === undefined || subtract(pending, nonce) <= MAX_NONCES_BELOW));
}

/** The lowest pending nonces. A truncated list may omit lower nonces, so the remembered ones stay valid. */
export const lowestNonces = memoize((input: CrosschainInput): readonly LowestNonce[] => {
  const past = input.past?.lowestNonces ?? [];
  if (isTruncated(input)) return past.filter(({ isMissing }) => isMissing !== true);
  const earlier = new Map(past.map((entry) => [entry.chainId, entry]));
  return Array.from(groupByChain(distinctCctxs.pending(input))).flatMap(([chainId, cctxs]): LowestNonce[] => {
    const nonce = lowestNonce(cctxs);
    return nonce === undefined ? [] : [{ chainId, ...unmovedNonce(input, nonce, earlier.get(chainId)) }];
  });
});

/** A node that is behind lists old nonces, which neither confirm a new nonce nor bring back the previous one. */
function unmovedNonce(
  { at, isNodeBehind = false }: CrosschainInput,
  nonce: Numeral,
  last: LowestNonce | undefined,
): Omit<LowestNonce, 'chainId'> {
  const candidates = isNodeBehind ? [last] : [last, last?.before];
  const since = candidates.find((each) => each?.nonce === nonce)?.since;
  const confirmed = last?.before ?? (last && { nonce: last.nonce, since: last.since });
  const isConfirmed = confirmed === undefined || (since !== undefined && !(isNodeBehind && last?.before));
  return { nonce, since: since ?? at, ...(!isConfirmed && { before: confirmed }) };
}

/** Bounds the memory of what is kept by chain. */
export const MAX_CHAINS = 1000;

/**
 * The nonces to remember for the next document. A list that cannot be read or is truncated changes nothing. A chain
 * that is missing in one list is kept until the next: one list can be odd. A node that is behind removes no chain. A
 * finished nonce comes back with a node that is behind: its time must not be the one from before it was finished.
 */
function rememberedNonces(input: CrosschainInput): readonly LowestNonce[] {
  const past = input.past?.lowestNonces ?? [];
  const listed = orUndefined(() => (isTruncated(input) ? undefined : lowestNonces(input)));
  if (listed === undefined) return past;
  const chains = new Set(listed.map(({ chainId }) => chainId));
  const others = past.filter(({ chainId }) => !chains.has(chainId));
  const kept =
    input.isNodeBehind === true
      ? others
      : others.flatMap((each) => (each.isMissing === true ? [] : [{ ...each, isMissing: true as const }]));
  return [...listed, ...kept].slice(0, MAX_CHAINS);
}

/** The chains with a pending transaction within the last day, each with the time when it was last listed. */
export const chainsOfDay = memoize((input: CrosschainInput): ReadonlyMap<string, Instant> => {
  const listed = orEmpty(() => Array.from(groupByChain(consideredCctxs.pending(input)).keys()));
  const recent = Array.from(input.past?.chains ?? []).filter(([, at]) => input.at - at < DAY_SECONDS);
  const chains = Array.from(new Map([...recent, ...listed.map((chainId) => [chainId, input.at] as const)]));
  return new Map(chains.toSorted(([, a], [, b]) => b - a).slice(0, MAX_CHAINS));
});

/** The past of the next document. */
export function crosschainPast(input: CrosschainInput): CrosschainPast {
  return {
    at: input.at,
    heights: heightSamples(input),
    lowestNonces: rememberedNonces(input),
    chains: chainsOfDay(input),
  };
}

/** The hub of a document: its chain id, if a transaction comes from there, and the public keys of the signers. */
export function crosschainIdentity(
  { cctxs_missed, cctxs_pending }: RateLimiterInput,
  { hub_chain_ids: hubChainIds }: CrosschainSettings,
): readonly string[] {
  const readable = (list: typeof cctxs_missed) => (isValid(list) ? list.filter(isValid) : []);
  const cctxs = [...readable(cctxs_missed), ...readable(cctxs_pending)];
  const senders = new Set(cctxs.map(({ inbound_params: inbound }) => validOrUndefined(inbound)?.sender_chain_id));
  const keys = new Set(cctxs.map(signerKey).filter((key) => key !== undefined));
  return [...hubChainIds.filter((id) => senders.has(id)), ...Array.from(keys).slice(0, MAX_KEYS)];
}
