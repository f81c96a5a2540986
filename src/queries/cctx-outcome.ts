import { cctxStatus } from '../chain/rate-limiter-input.js';
import type { CctxAnswer, CrosschainInput, SeenAnswers } from '../facts/crosschain/input.js';
import { nextQuestions } from '../flow/crosschain-flow.js';
import { object, string } from '../chain/fields.js';
import { required } from '../facts/required-fields.js';
import { nodeQuery, type QueryContext, type QueryRequest } from './query.js';
import type { QueryStates } from './query-state.js';

/* The outcome of cctxs that have left the lists of the rate limiter input. */

/** A transaction has 2 kB, and 50 kB with the longest messages. */
const MAX_BODY_BYTES = 256 * 1024;

/** Goes into a path, so nothing of another form is requested. */
const INDEX = /^\w{1,128}$/;

function requestsOf(context: QueryContext, path: string): readonly QueryRequest[] {
  if (context.document !== 'rate_limiter_input') return [];
  return nextQuestions(context.flow)
    .filter((index) => INDEX.test(index))
    .map((index) => ({ key: index, path: path.replace('{index}', index) }));
}

const answers: ReadonlyMap<string, CctxAnswer> = new Map([
  ['PendingInbound', 'pending'],
  ['PendingOutbound', 'pending'],
  ['PendingRevert', 'pending'],
  ['OutboundMined', 'mined'],
  ['Reverted', 'reverted'],
  ['Aborted', 'aborted'],
]);

export const cctxOutcome = nodeQuery({
  name: 'cctx',
  // The query is sent after every poll.
  intervalMs: 0,
  maxBodyBytes: MAX_BODY_BYTES,
  isEnabled: ({ document, settings }) => document === 'rate_limiter_input' && settings.cctx_queries === 'auto',
  path: { zeta: '/zeta-chain/crosschain/cctx/{index}', neutral: '/chain/crosschain/cctx/{index}' },
  requests: requestsOf,
  schema: object({ CrossChainTx: object({ index: string, cctx_status: cctxStatus }) }),
  value: (page) => {
    const { index, cctx_status: status } = required(page.CrossChainTx);
    return { index: required(index), answer: required(answers.get(required(required(status).status))) };
  },
  isAbout: ({ key }, { index }) => index === key,
});

/**
 * The new answers since the last document, by the index of the transaction. Answers are compared by identity and not by time: an answer that arrives
 * while a document is requested is for the next document.
 */
export function cctxAnswers(
  all: QueryStates,
  seenBefore: SeenAnswers = new Map(),
): {
  readonly cctxAnswers: NonNullable<CrosschainInput['cctxAnswers']>;
  readonly cctxsAskedAt: CrosschainInput['cctxsAskedAt'];
  readonly seenAnswers: SeenAnswers;
} {
  const state = all.get(cctxOutcome.name);
  const seenAnswers = state?.answers ?? new Map<string, unknown>();
  const isNew = (index: string): boolean => seenAnswers.get(index) !== seenBefore.get(index);
  const newAnswers = Array.from(cctxOutcome.valuesOf(all).values()).filter(({ index }) => isNew(index));
  const byIndex = new Map(newAnswers.map(({ index, answer }) => [index, answer]));
  return { cctxAnswers: byIndex, seenAnswers, cctxsAskedAt: state?.roundStartedAt };
}
