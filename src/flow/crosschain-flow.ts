import { ageSeconds, type Instant } from '../clock.js';
import { compare, subtract, toDouble } from '../chain/decimal.js';
import type { Numeral } from '../json/numeral.js';
import { chainName } from '../metrics/crosschain/cctxs.js';
import type { CrosschainInput } from '../metrics/crosschain/input.js';
import { addChains, addFinished, NO_CHAINS, type FinishedCctx, type FlowChains, type Outcome } from './chain-counts.js';
import { crosschainBaseline, keysOf, type CrosschainBaseline, type Signers } from './crosschain-baseline.js';
import { readCrosschainDocument, type CrosschainDocument } from './crosschain-document.js';
import { addCounted, countedKeys, NONE_COUNTED } from './counted-cctxs.js';
import { addGap, noGaps, type FlowOptions, type Gaps } from './gaps.js';
import { unpack } from './packed.js';

/*
 * The cross-chain transactions that left the lists between two documents. The documents do not say why: the node is asked for each of
 * them, and they count with the document after its answer.
 */

const gapReasons = ['regression', 'list', 'stale', 'truncated', 'key', 'unseen'] as const;
type GapReason = (typeof gapReasons)[number];

/** What the node answers: that a transaction is finished, or that it is still pending and only no longer listed. */
export type CctxAnswer = Outcome | 'pending';

/** A transaction that has left the lists and whose outcome is not known. */
export interface DepartedCctx {
  readonly index: string;
  readonly chainId: string;
  /** From its creation to the first document without it; absent when the hub has not recorded its creation. */
  readonly seconds?: number | undefined;
  /** When it was gone. */
  readonly at: Instant;
  /** Whether the node has answered that it is pending: it may be behind the one that sent the document. */
  readonly isPending?: boolean;
}

/** What the polls of an endpoint have counted since the start of the process, and what the next document is compared with. */
export interface CrosschainFlow {
  readonly chains: FlowChains;
  readonly gaps: Gaps;
  /** `undefined` before the first document, and after one that cannot be compared. */
  readonly baseline: CrosschainBaseline | undefined;
  /** Those for which the node is asked, in this order. */
  readonly departed: readonly DepartedCctx[];
  /** Its answers since the last document. */
  readonly answers: ReadonlyMap<string, CctxAnswer>;
  readonly counted: string;
}

export const EMPTY_CROSSCHAIN_FLOW: CrosschainFlow = {
  chains: NO_CHAINS,
  gaps: noGaps(gapReasons),
  baseline: undefined,
  departed: [],
  answers: new Map(),
  counted: NONE_COUNTED,
};

/** After each poll, the node is asked for so many. */
export const MAX_CCTX_QUERIES = 10;
/** Those of ten polls. The outcome of others is unknown. */
const MAX_DEPARTED = 100;

/** Compares a document with what is remembered of the last one, and returns what to remember from now on. */
export function trackCrosschain(
  flow: CrosschainFlow,
  input: CrosschainInput,
  { staleAfterMs, maxSeries }: FlowOptions,
): CrosschainFlow {
  const document = readCrosschainDocument(input);
  const settled = settle(flow, input, document, staleAfterMs);
  if (document === undefined) return interrupted(settled, 'list');
  if (document.isTruncated) return interrupted(settled, 'truncated');
  const { at } = input;
  const before = flow.baseline;
  const chains = addChains(settled.chains, document.chainIds, (id) => chainName(id, input), maxSeries);
  const reason = before && gapBetween(before, document, at, staleAfterMs);
  const comparable = reason === undefined ? before : undefined;
  const baseline = crosschainBaseline(document, at, comparable);
  const next = { ...settled, chains, baseline };
  if (reason !== undefined) return withGap(next, reason);
  if (comparable === undefined || isQuiet(comparable, baseline)) return next;
  const { departed, hasOtherKey, hasUnseen } = changesBetween(comparable, document, at);
  const counted = withDeparted(next, departed, input);
  if (hasOtherKey) return withGap(counted, 'key');
  return hasUnseen ? withGap(counted, 'unseen') : counted;
}

/** Counts those that are finished. One that is listed again is not, and without an answer in time the outcome is unknown. */
function settle(
  flow: CrosschainFlow,
  { at }: CrosschainInput,
  document: CrosschainDocument | undefined,
  staleAfterMs: number,
): CrosschainFlow {
  const absent = inOrderOfQueries(flow.departed).filter(({ index }) => document?.live.has(index) !== true);
  const settled = absent.map((departed) => {
    const answer = flow.answers.get(departed.index);
    const isPending = answer === 'pending' || (answer === undefined && departed.isPending === true);
    if (answer !== undefined && answer !== 'pending') return { departed, outcome: answer };
    if (ageSeconds(departed.at, at) * 1000 <= staleAfterMs) return { departed: { ...departed, isPending } };
    return { departed, outcome: isPending ? ('pending' as const) : ('unknown' as const) };
  });
  return count(
    {
      ...flow,
      answers: new Map(),
      departed: settled.flatMap(({ departed, outcome }) => (outcome === undefined ? [departed] : [])),
    },
    settled.flatMap(({ departed, outcome }) =>
      outcome === undefined || outcome === 'pending' ? [] : [{ ...departed, outcome }],
    ),
  );
}

/** Those for which the node was asked come last, so that they do not keep others from being asked. */
function inOrderOfQueries(departed: readonly DepartedCctx[]): readonly DepartedCctx[] {
  return [...departed.slice(MAX_CCTX_QUERIES), ...departed.slice(0, MAX_CCTX_QUERIES)];
}

/** Asks the node for some of them. The outcome of the others is unknown. */
function withDeparted(
  flow: CrosschainFlow,
  departed: readonly DepartedCctx[],
  { settings: { cctxQueries } }: CrosschainInput,
): CrosschainFlow {
  if (departed.length === 0) return flow;
  const counted = countedKeys(flow.counted, departed.length);
  const all = [...flow.departed, ...departed.filter(({ index }) => !counted.has(index))];
  const asked = cctxQueries === 'off' ? 0 : MAX_DEPARTED;
  return count(
    { ...flow, departed: all.slice(0, asked) },
    all.slice(asked).map((one) => ({ ...one, outcome: 'unknown' })),
  );
}

function count(flow: CrosschainFlow, finished: readonly (FinishedCctx & { readonly index: string })[]): CrosschainFlow {
  if (finished.length === 0) return flow;
  const indexes = finished.map(({ index }) => index);
  return { ...flow, chains: addFinished(flow.chains, finished), counted: addCounted(flow.counted, indexes) };
}

function interrupted(flow: CrosschainFlow, reason: GapReason): CrosschainFlow {
  return flow.baseline === undefined ? flow : withGap({ ...flow, baseline: undefined }, reason);
}

function withGap(flow: CrosschainFlow, reason: GapReason): CrosschainFlow {
  return { ...flow, gaps: addGap(flow.gaps, reason) };
}

/** Why the documents cannot be compared; `undefined` when they can. */
function gapBetween(
  before: CrosschainBaseline,
  { height }: CrosschainDocument,
  at: Instant,
  staleAfterMs: number,
): GapReason | undefined {
  if (compare(height, before.height) < 0) return 'regression';
  return ageSeconds(before.at, at) * 1000 > staleAfterMs ? 'stale' : undefined;
}

interface CrosschainChanges {
  readonly departed: readonly DepartedCctx[];
  /** Whether some left because the signers have another key. */
  readonly hasOtherKey: boolean;
  /** Whether transactions were created and finished in between. */
  readonly hasUnseen: boolean;
}

/** Whether both documents list the same transactions, and no chain has a higher nonce than before. */
function isQuiet(before: CrosschainBaseline, after: CrosschainBaseline): boolean {
  return before.live === after.live && before.signers === after.signers;
}

function changesBetween(before: CrosschainBaseline, { live }: CrosschainDocument, at: Instant): CrosschainChanges {
  const keys = new Set(keysOf(live));
  const { keys: keysBefore, nonces } = unpack(before.signers);
  const departed: DepartedCctx[] = [];
  let hasOtherKey = false;
  const { indexes, chainIds, created, keyPositions } = unpack(before.live);
  for (const [row, index] of indexes.entries()) {
    if (live.has(index)) continue;
    const key = keysBefore[keyPositions[row] ?? -1];
    if (key !== undefined && keys.size > 0 && !keys.has(key)) hasOtherKey = true;
    else departed.push({ index, chainId: chainIds[row] ?? '', seconds: secondsSince(created[row] ?? null, at), at });
  }
  return {
    departed,
    hasOtherKey,
    hasUnseen: !hasOtherKey && hasHiddenNonces(nonces, live),
  };
}

/** `undefined` when the clock of the hub is ahead, too. */
function secondsSince(created: number | null, { epochSeconds }: Instant): number | undefined {
  return created === null || created > epochSeconds ? undefined : epochSeconds - created;
}

/** Whether a nonce between two listed ones was never listed. */
function hasHiddenNonces(nonces: Signers['nonces'], live: CrosschainDocument['live']): boolean {
  const known = new Map(nonces);
  const added = new Map<string, Set<Numeral>>();
  for (const { chainId, nonce } of live.values()) {
    const highest = known.get(chainId);
    if (nonce === undefined || highest === undefined || compare(nonce, highest) <= 0) continue;
    added.set(chainId, (added.get(chainId) ?? new Set()).add(nonce));
  }
  return Array.from(added).some(([chainId, own]) => {
    const highest = Array.from(own).reduce((a, b) => (compare(a, b) < 0 ? b : a));
    return toDouble(subtract(highest, known.get(chainId) ?? highest)) > own.size;
  });
}
