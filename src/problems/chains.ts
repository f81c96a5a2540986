import { subtract, type Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import type { Cctx } from '../chain/rate-limiter-input.js';
import { groupByChain } from '../facts/crosschain/cctxs.js';
import { chainsOfDay } from '../facts/crosschain/chains.js';
import type { CrosschainInput } from '../facts/crosschain/crosschain-input.js';
import { MAX_BLOCK_MS } from '../facts/hub-blocks.js';
import { required } from '../facts/required-fields.js';
import { crosschainFlags } from '../queries/crosschain-queries.js';
import { list } from '../text/format.js';
import type { Evidence, Found } from './problem.js';
import { cctxAmountsText, chainText } from './sentence.js';

/*
 * For the problems of chains: when the same problem of many chains is joined into one, and for how long no transaction
 * could move, because the hub had halted or outbounds were switched off.
 */

export type CrosschainEvidence = Evidence<'rate_limiter_input'>;

/** A problem of so many chains, and of half of the chains of a day, has a common cause. */
const MIN_CHAINS = 3;

export const CHECK_SIGNERS =
  'So many chains at once have a common cause: check the signers (peers, blames, versions) and whether isOutboundEnabled of crosschain_flags is true, before you look at one chain.';

/**
 * The problem of each chain, or one joint problem if enough chains have it: it begins when there were enough. Other
 * problems of the same chains are joined in the same way, so that the joint problem can inhibit them.
 */
export function joinChains(
  input: CrosschainInput,
  each: readonly (Found | undefined)[],
  cctxs: readonly Cctx[],
  texts: { readonly summary: (chains: string) => string; readonly action?: string },
): readonly Found[] {
  const found = each.filter((one) => one !== undefined);
  const chainIds = found.map(({ subject = {} }) => subject.chain_id ?? '');
  // By the chains of now, the problem would split and join again whenever a quiet chain has a transaction.
  const total = new Set([...chainIds, ...chainsOfDay(input).keys()]).size;
  const needed = Math.max(MIN_CHAINS, Math.ceil(total / 2));
  if (found.length < needed) return found;
  const readStart = ({ start, chainStart }: Found): number => start ?? (chainStart ?? Infinity) - input.clockOffset;
  const { start, chainStart } = found.toSorted((a, b) => readStart(a) - readStart(b))[needed - 1] ?? {};
  const byChain = groupByChain(cctxs);
  const theirs = chainIds.flatMap((chainId) => byChain.get(chainId) ?? []);
  const names = list(chainIds.map((chainId) => chainText(input, chainId)));
  const details = [`on ${found.length} of ${total} chains: ${names}`, cctxAmountsText(input, theirs)];
  // Without the number of chains, which changes while the problem lasts.
  const summary = texts.summary('half of the chains or more');
  return [{ start, chainStart, chains: chainIds, summary, details, action: texts.action ?? CHECK_SIGNERS }];
}

/** Whether transactions to other chains are switched on; `undefined` without an answer of the node. */
export function isOutboundEnabled(answers: CrosschainEvidence['answers']): boolean | undefined {
  return crosschainFlags.getAnswer(answers)?.isOutboundEnabled;
}

/** A hub without a block for longer has halted. */
const HALT_SECONDS = 300;

interface Span {
  readonly from: Instant;
  readonly until: Instant;
}

/** The last spans are kept. */
const MAX_SPANS = 20;

/**
 * The hub height, the times of the first and the last document with it, and earlier spans in which nothing could move.
 */
export interface HaltMark extends Span {
  readonly height: Numeral;
  readonly halts: readonly Span[];
  readonly offs: readonly Span[];
  /** The present span without outbounds. */
  readonly off?: Span | undefined;
}

function haltAfter(evidence: CrosschainEvidence, before: HaltMark | undefined): HaltMark {
  const { document, at: until } = evidence.input;
  const height = required(document.height);
  const switched = offAfter(evidence, before);
  if (before === undefined) return { height, from: until, until, halts: [], ...switched };
  const { from, halts } = before;
  if (before.height === height) return { height, from, until, halts, ...switched };
  // Nodes often do not answer during an upgrade. Then the number of blocks shows how long the halt was.
  const blocks = Number(subtract(height, before.height));
  const halt = { from, until: Math.max(before.until, blocks < 0 ? from : until - (blocks * MAX_BLOCK_MS) / 1000) };
  return { height, from: until, until, halts: isHalt(halt) ? withSpan(halts, halt) : halts, ...switched };
}

function offAfter(
  { input: { at }, answers }: CrosschainEvidence,
  { off, offs }: Pick<HaltMark, 'off' | 'offs'> = { offs: [] },
): Pick<HaltMark, 'off' | 'offs'> {
  const isEnabled = isOutboundEnabled(answers);
  if (isEnabled === false) return { offs, off: { from: off?.from ?? at, until: at } };
  if (off === undefined) return { offs };
  return isEnabled === true ? { offs: withSpan(offs, off) } : { offs, off };
}

const withSpan = (spans: readonly Span[], last: Span): Span[] => [...spans, last].slice(-MAX_SPANS);

const isHalt = ({ from, until }: Span): boolean => until - from > HALT_SECONDS;

/** The time since `since` that spans cover; where spans overlap, it counts once. */
function coveredSeconds(spans: readonly Span[], since: number): number {
  let covered = 0;
  let end = since;
  for (const { from, until } of spans.toSorted((a, b) => a.from - b.from)) {
    covered += Math.max(0, until - Math.max(from, end));
    end = Math.max(end, until);
  }
  return covered;
}

/** For how long since `since` no transaction could move. */
export function standstillSeconds(mark: HaltMark | undefined, since: number): number {
  if (mark === undefined) return 0;
  return coveredSeconds([...mark.halts, ...(isHalt(mark) ? [mark] : []), ...mark.offs], since);
}

/** For how long since `since` outbounds were off. */
export function offSeconds(mark: HaltMark | undefined, since: number): number {
  return mark === undefined ? 0 : coveredSeconds(mark.offs, since);
}

export const haltTracking = { next: haltAfter } as const;
