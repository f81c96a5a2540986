import { performance } from 'node:perf_hooks';
import type { NodeConnection } from '../config/endpoint-config.js';
import { requestUrl, sourceOf } from '../config/urls.js';
import {
  formatRequests,
  isRateLimit,
  isRevert,
  isUnknownBlock,
  isUnknownMethod,
  MAX_RPC_BODY_BYTES,
  parseAnswers,
  rpcFailure,
  unreadable,
  type RpcAnswer,
  type RpcAnswers,
  type RpcFailure,
  type RpcRequest,
} from './json-rpc.js';
import type { Client, FetchLimits } from '../http/client.js';
import { failure, type Failure } from '../http/failure-reasons.js';

/*
 * Sends JSON-RPC requests in batches that the server accepts. Providers limit a batch to 3, 5 or 10 requests, or know none, and say so in many
 * ways. So a batch that was not answered is halved, whatever the server said; what it says to a single request is the reason of the failure.
 */

export interface RpcClient {
  /** Sends requests until each has an answer, which can be the error of a call that the contract or the server does not know. */
  readonly send: (
    node: NodeConnection,
    requests: readonly RpcRequest[],
    limits: () => FetchLimits,
  ) => Promise<Answered | FailedRequests>;
}

interface Answered {
  readonly ok: true;
  readonly answers: RpcAnswers;
  /** The list of the answers: as the server has sent it, or in one if it has sent several. */
  readonly body: Buffer;
}

interface FailedRequests extends Failure {
  /** Whether the server does not have the block of a request. */
  readonly isUnknownBlock: boolean;
}

/** A failed batch; `isRejected` if the server may answer a smaller one. */
interface FailedBatch extends FailedRequests {
  readonly isRejected: boolean;
}

/** A server that was overloaded may accept larger batches later. */
const REMEMBER_MS = 60 * 60_000;

export function createRpcClient(client: Client): RpcClient {
  /** The size of batches that a server has accepted, by its URL. */
  const accepted = new Map<string, { readonly size: number; readonly untilMs: number }>();
  return {
    send: async (node, requests, limits) => {
      const { href } = requestUrl(node.url);
      const known = accepted.get(href);
      let size = known !== undefined && performance.now() < known.untilMs ? known.size : requests.length;
      let maxBytes = MAX_RPC_BODY_BYTES;
      const answers = new Map<number, RpcAnswer>();
      for (let next = 0; next < requests.length;) {
        const batch = requests.slice(next, next + size);
        const { maxBodyBytes, ...others } = limits();
        const batchLimits = { ...others, maxBodyBytes: Math.min(maxBodyBytes, maxBytes) };
        // oxlint-disable-next-line no-await-in-loop -- the answer says whether the batch was too large
        const sent = await sendBatch(client, node, batch, batchLimits);
        if (sent.ok && batch.length === requests.length) return sent;
        if (sent.ok) {
          for (const [id, answer] of sent.answers) answers.set(id, answer);
          maxBytes -= sent.body.length;
          next += batch.length;
        } else if (sent.isRejected && batch.length > 1) {
          size = Math.floor(batch.length / 2);
        } else return sent;
      }
      if (size !== known?.size) accepted.set(href, { size, untilMs: performance.now() + REMEMBER_MS });
      const list = Array.from(answers, ([id, { ok: _ok, ...answer }]) => ({ jsonrpc: '2.0', id, ...answer }));
      return { ok: true, answers, body: Buffer.from(JSON.stringify(list)) };
    },
  };
}

async function sendBatch(
  client: Client,
  node: NodeConnection,
  batch: readonly RpcRequest[],
  limits: FetchLimits,
): Promise<Answered | FailedBatch> {
  const fetched = await client.fetch(node, '', limits, { json: formatRequests(batch), hasFixedLimit: true });
  if (!fetched.ok) {
    const { error, statusCode, errorBody = '' } = fetched;
    // Servers also send JSON-RPC errors with an error status.
    const read = readAnswers(Buffer.from(errorBody), batch);
    return {
      ok: false,
      error: !read.ok && read.reason === 'rate_limited' ? { ...error, reason: 'rate_limited' } : error,
      isRejected: statusCode !== undefined || error.reason === 'too_large',
      isUnknownBlock: !read.ok && read.isUnknownBlock === true,
    };
  }
  const { bytes, release } = fetched.body;
  release();
  const read = readAnswers(bytes, batch);
  if (read.ok) return { ok: true, answers: read.answers, body: bytes };
  const { reason, message, text, isRejected = false, isUnknownBlock: lacksBlock = false } = read;
  const detail = text === undefined ? '' : `: ${fetched.clean(text)}`;
  return {
    ...failure(reason, `${sourceOf(node.url, '')}: ${message}${detail}`),
    isRejected,
    isUnknownBlock: lacksBlock,
  };
}

type Problem = RpcFailure & Partial<Pick<FailedBatch, 'isRejected' | 'isUnknownBlock'>>;

/** The answers to a batch, or why they cannot be used. */
function readAnswers(
  body: Buffer,
  batch: readonly RpcRequest[],
): { readonly ok: true; readonly answers: RpcAnswers } | Problem {
  const parsed = parseAnswers(body);
  if (!parsed.ok) {
    return { ...parsed, isRejected: true, isUnknownBlock: isUnknownBlock({ code: undefined, text: parsed.text }) };
  }
  const problems = batch.flatMap((request) => problemOfAnswer(request, parsed.answers.get(request.id)) ?? []);
  const worst =
    problems.find(({ isUnknownBlock: lacksBlock }) => lacksBlock) ??
    problems.find(({ isRejected }) => isRejected) ??
    problems[0];
  // A server that answers one of the requests accepts batches of this size.
  const isAnswered = batch.some(({ id }) => parsed.answers.get(id)?.ok === true);
  return worst ? { ...worst, isRejected: worst.isRejected === true || !isAnswered } : parsed;
}

/** Why an answer fails the poll. An error of the contract, or of a method that servers need not have, concerns nothing but its request. */
function problemOfAnswer({ method, params }: RpcRequest, answer: RpcAnswer | undefined): Problem | undefined {
  if (answer === undefined) return { ...unreadable('schema', `did not answer ${method}`), isRejected: true };
  if (answer.ok) {
    const lacksBlock = answer.result === null && method === 'eth_getBlockByNumber' && params[0] !== 'latest';
    return lacksBlock
      ? {
          ...unreadable('schema', 'does not have the block that it, or another node behind it, has named'),
          isUnknownBlock: true,
        }
      : undefined;
  }
  const { error } = answer;
  const problem = rpcFailure(method, error);
  if (isRevert(error)) return undefined;
  if (isRateLimit(error)) return { ...problem, isRejected: true };
  if (isUnknownBlock(error)) return { ...problem, isUnknownBlock: true };
  const isOptional = method === 'eth_syncing' || (method === 'eth_getStorageAt' && isUnknownMethod(error));
  return isOptional ? undefined : problem;
}
