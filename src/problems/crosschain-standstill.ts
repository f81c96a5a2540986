import { z } from 'zod';
import { subtract, toDecimalString, toDouble } from '../chain/decimal.js';
import { decimalString } from '../chain/numeral.js';
import { rememberedNonces } from '../facts/crosschain/chains.js';
import { required } from '../facts/required-fields.js';
import { crosschainFlags } from '../queries/chain-switches.js';
import { isNodeBehind } from '../queries/node-status.js';
import { entryOf, type Evidence } from './problem.js';

/* Since when the lowest nonce of a chain has not moved, and for how long it could not: the hub halted, or its outbounds were switched off. */

export type CrosschainEvidence = Evidence<'rate_limiter_input'>;

/** Whether transactions to other chains are switched on; `undefined` while the node has not said it. */
export function isOutboundEnabled(answers: CrosschainEvidence['answers']): boolean | undefined {
  return crosschainFlags.valuesOf(answers).get('')?.isOutboundEnabled;
}

/** A hub that makes no block for longer than this has halted. */
const HALT_SECONDS = 300;
/** No hub takes longer for a block on average. */
const MAX_BLOCK_SECONDS = 10;

const span = z.strictObject({ from: z.number(), until: z.number() });
type Span = z.infer<typeof span>;

/** More are not remembered; the last ones are kept. */
const MAX_SPANS = 20;

/** The hub height, the times of the first and the last document that had it, and the spans before in which nothing could move. */
const haltMark = span.extend({
  height: decimalString,
  halts: z.array(span),
  /** When outbounds were off. */
  offs: z.array(span),
  /** While they are off. */
  off: span.optional(),
});
export type HaltMark = z.infer<typeof haltMark>;

function haltAfter(evidence: CrosschainEvidence, before: HaltMark | undefined): HaltMark {
  const { document, at } = evidence.input;
  const height = toDecimalString(required(document.height));
  const until = at.epochSeconds;
  const switched = offAfter(evidence, before);
  if (before === undefined) return { height, from: until, until, halts: [], ...switched };
  const { from, halts } = before;
  if (before.height === height) return { height, from, until, halts, ...switched };
  // Nodes often do not answer during an upgrade. Then the blocks that are missing show how long the halt was.
  const blocks = toDouble(subtract(height, before.height));
  const halt = { from, until: Math.max(before.until, blocks < 0 ? from : until - blocks * MAX_BLOCK_SECONDS) };
  return { height, from: until, until, halts: isHalt(halt) ? withSpan(halts, halt) : halts, ...switched };
}

function offAfter(
  { input: { at }, answers }: CrosschainEvidence,
  { off, offs }: Pick<HaltMark, 'off' | 'offs'> = { offs: [] },
): Pick<HaltMark, 'off' | 'offs'> {
  const now = at.epochSeconds;
  const isEnabled = isOutboundEnabled(answers);
  if (isEnabled === false) return { offs, off: { from: off?.from ?? now, until: now } };
  if (off === undefined) return { offs };
  return isEnabled === true ? { offs: withSpan(offs, off) } : { offs, off };
}

const withSpan = (spans: readonly Span[], last: Span): Span[] => [...spans, last].slice(-MAX_SPANS);

const isHalt = ({ from, until }: Span): boolean => until - from > HALT_SECONDS;

/** How much of the time since then the spans cover. What several cover counts once. */
function coveredSeconds(spans: readonly Span[], since: number): number {
  let covered = 0;
  let end = since;
  for (const { from, until } of spans.toSorted((a, b) => a.from - b.from)) {
    covered += Math.max(0, until - Math.max(from, end));
    end = Math.max(end, until);
  }
  return covered;
}

/** For how long nothing could move since then: the hub made no blocks, or outbounds were off. */
export function standstillSeconds(mark: HaltMark | undefined, since: number): number {
  if (mark === undefined) return 0;
  return coveredSeconds([...mark.halts, ...(isHalt(mark) ? [mark] : []), ...mark.offs], since);
}

/** For how long outbounds were off since then, once they are on again. Until then, CrosschainOutboundDisabled hides what follows. */
export function offSeconds(mark: HaltMark | undefined, since: number): number {
  return mark === undefined || mark.off !== undefined ? 0 : coveredSeconds(mark.offs, since);
}

export const haltTracking = { schema: haltMark, next: haltAfter } as const;

/** The mark of halts with the lowest pending nonce of each chain, and since when the chain has it. */
export const unmovedMark = haltMark.extend({
  nonces: z.record(z.string(), z.strictObject({ nonce: decimalString, since: z.number() })),
});
export type UnmovedMark = z.infer<typeof unmovedMark>;

/** A node that is behind has the nonces of an earlier time: the chain did not move back to them, nor moves when the node is current again. Until then, they have an age of their own. */
export function unmovedAfter(evidence: CrosschainEvidence, before: UnmovedMark | undefined): UnmovedMark {
  const { input, answers } = evidence;
  const known = before?.nonces ?? {};
  if (isNodeBehind(answers)) return { ...haltAfter(evidence, before), nonces: known };
  const nonces = rememberedNonces(input).map(({ chainId, nonce, sinceSeconds }) => {
    const last = entryOf(known, chainId);
    return [chainId, last?.nonce === nonce ? last : { nonce, since: sinceSeconds }] as const;
  });
  return { ...haltAfter(evidence, before), nonces: Object.fromEntries(nonces) };
}
