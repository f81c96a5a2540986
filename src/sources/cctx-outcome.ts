import { cctxStatus } from '../chain/rate-limiter-input.js';
import { MAX_CCTX_QUERIES, type CctxAnswer } from '../flow/crosschain-flow.js';
import { object } from '../json/shapes.js';
import { required } from '../metrics/required-fields.js';
import { nodeQuery, type QueryContext, type QueryAnswers, type QueryRequest } from './node-query.js';

/* How cross-chain transactions have ended that have left the lists of the rate limiter input. */

/** A transaction has 2 kB, and 50 kB with the longest messages. */
const MAX_BODY_BYTES = 256 * 1024;

/** Goes into a path: whatever is not of this form is not requested. */
const INDEX = /^\w{1,128}$/;

function requestsOf(context: QueryContext, path: string): readonly QueryRequest[] {
  if (context.document !== 'rate_limiter_input') return [];
  return context.flow.departed
    .slice(0, MAX_CCTX_QUERIES)
    .map(({ index }) => index)
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
  // With every poll.
  intervalMs: 0,
  maxBodyBytes: MAX_BODY_BYTES,
  isEnabled: ({ document, settings }) => document === 'rate_limiter_input' && settings.cctxQueries === 'auto',
  path: { zeta: '/zeta-chain/crosschain/cctx/{index}', neutral: '/chain/crosschain/cctx/{index}' },
  requests: requestsOf,
  shape: object({ CrossChainTx: object({ cctx_status: cctxStatus }, 'any') }, 'any'),
  value: ({ CrossChainTx: cctx }) => required(answers.get(required(required(required(cctx).cctx_status).status))),
});

/** The answers by the index of the transaction. */
export function cctxAnswers(all: QueryAnswers): ReadonlyMap<string, CctxAnswer> {
  return new Map(
    Array.from(cctxOutcome.valuesOf(all), ([index, [answer]]): [string, CctxAnswer][] =>
      answer === undefined ? [] : [[index, answer]],
    ).flat(),
  );
}
