import { z } from 'zod';
import { toDecimalString } from '../chain/decimal.js';
import { decimalString } from '../chain/numeral.js';
import { rememberedNonces } from '../facts/crosschain/chains.js';
import { required } from '../facts/required-fields.js';
import { crosschainFlags } from '../queries/chain-switches.js';
import { isNodeBehind } from '../queries/node-status.js';
import { entryOf } from './marks.js';
import type { Evidence } from './problem.js';

/* Since when the lowest nonce of a chain has not moved, and for how long it could not: the hub halted, or its outbounds were switched off. */

export type CrosschainEvidence = Evidence<'rate_limiter_input'>;

/** Whether transactions to other chains are switched on; `undefined` while the node has not said it. */
export function isOutboundEnabled(answers: CrosschainEvidence['answers']): boolean | undefined {
  return crosschainFlags.valuesOf(answers).get('')?.isOutboundEnabled;
}

/** A hub that makes no block for longer than this has halted. */
const HALT_SECONDS = 300;

const span = z.strictObject({ from: z.number(), until: z.number() });
type Span = z.infer<typeof span>;

/** The hub height with the times of the first and the last document that had it, the last halt, and when outbounds were off last. */
const haltMark = span.extend({
  height: z.string(),
  last: span.optional(),
  off: span.extend({ isOver: z.boolean() }).optional(),
});
export type HaltMark = z.infer<typeof haltMark>;

function haltAfter(evidence: CrosschainEvidence, before: HaltMark | undefined): HaltMark {
  const { document, at } = evidence.input;
  const height = toDecimalString(required(document.height));
  const now = at.epochSeconds;
  const off = offAfter(evidence, before?.off);
  if (before?.height === height) return { ...before, until: now, ...(off && { off }) };
  const last = before !== undefined && isHalt(before) ? { from: before.from, until: before.until } : before?.last;
  return { height, from: now, until: now, ...(last && { last }), ...(off && { off }) };
}

function offAfter({ input: { at }, answers }: CrosschainEvidence, before: HaltMark['off']): HaltMark['off'] {
  const now = at.epochSeconds;
  const isEnabled = isOutboundEnabled(answers);
  if (isEnabled === true) return before && { ...before, isOver: true };
  if (isEnabled === undefined) return before;
  return { from: before?.isOver === false ? before.from : now, until: now, isOver: false };
}

const isHalt = ({ from, until }: Span): boolean => until - from > HALT_SECONDS;

const secondsSince = (since: number, { from, until }: Span): number => Math.max(0, until - Math.max(from, since));

/** For how long the hub has halted since then. Nothing can move while it makes no blocks. */
export function haltedSeconds(mark: HaltMark | undefined, since: number): number {
  return [mark, mark?.last].reduce((sum, halt) => sum + (halt && isHalt(halt) ? secondsSince(since, halt) : 0), 0);
}

/** For how long outbounds were off since then, once they are on again. Until then, CrosschainOutboundDisabled hides what follows. */
export function offSeconds(mark: HaltMark | undefined, since: number): number {
  return mark?.off?.isOver === true ? secondsSince(since, mark.off) : 0;
}

export const haltedSince = { schema: haltMark, next: haltAfter } as const;

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
