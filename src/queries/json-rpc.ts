import { performance } from 'node:perf_hooks';
import { unreadable, type UnreadableDocument } from '../chain/document.js';
import type { NodeConnection } from '../config/endpoint-config.js';
import { requestUrl, sourceOf } from '../config/urls.js';
import type { Client, FetchLimits } from '../http/client.js';
import { failure, type Failure } from '../http/failure-reasons.js';
import { errorText, jsonText, RATE_LIMIT } from '../text/error-text.js';
import { HOUR_MS, MEBIBYTE } from '../units.js';

/*
 * JSON-RPC 2.0 in batches that the server accepts. Providers limit a batch to 3, 5 or 10 requests, or support none, and their errors differ. So a
 * batch without an answer is halved, whatever the error; the error of a single request is the reason of the failure.
 */

/** The answers to the calls of a poll, and a block with the hashes of its transactions, are smaller. */
export const MAX_RPC_BODY_BYTES = MEBIBYTE;

export interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

interface RpcError {
  readonly code: number | undefined;
  /** The text as the server has sent it: it may contain the API key of the URL. */
  readonly text: string | undefined;
}

type RpcAnswer = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: RpcError };

/** The answers by the id of their request. Servers may reorder them. */
export type RpcAnswers = ReadonlyMap<number, RpcAnswer>;

/** Answers that cannot be used. */
export interface RpcFailure extends UnreadableDocument {
  /** The error text as the server has sent it. */
  readonly text?: string | undefined;
  readonly code?: number | undefined;
  /** Whether the server may answer a smaller batch. */
  readonly isRejected?: boolean;
  /** Whether the server never answers a batch of this size. Errors of overload or of a proxy say nothing about later polls. */
  readonly isTooLarge?: boolean;
  readonly isUnknownBlock?: boolean;
}

/** A single request is sent without a list, because some servers support no batches. */
export function formatRequests(requests: readonly RpcRequest[]): string {
  const bodies = requests.map((request) => ({ jsonrpc: '2.0', ...request }));
  return JSON.stringify(bodies.length === 1 ? bodies[0] : bodies);
}

/** Reads the first answer of each id. The body is small, so `JSON.parse` is safe. */
export function parseAnswers(body: Buffer): { readonly ok: true; readonly answers: RpcAnswers } | RpcFailure {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return { ...unreadable('not_json', 'the response is not JSON'), text: errorText(body.toString()) };
  }
  const answers = new Map<number, RpcAnswer>();
  let rejection: RpcError | undefined;
  for (const entry of Array.isArray(json) ? (json as readonly unknown[]) : [json]) {
    const id = idOf(entry);
    const error = errorOf(entry);
    // The server rejects the batch as a whole.
    if (id === undefined) rejection ??= error;
    else if (!answers.has(id))
      answers.set(id, error ? { ok: false, error } : { ok: true, result: property(entry, 'result') });
  }
  if (answers.size > 0 || (Array.isArray(json) && rejection === undefined)) return { ok: true, answers };
  if (rejection !== undefined) return rpcFailure('the request', rejection);
  return { ...unreadable('schema', 'the response is not JSON-RPC'), text: errorText(body.toString()) };
}

/** Some servers quote the number. */
function idOf(entry: unknown): number | undefined {
  const id = property(entry, 'id');
  if (typeof id === 'string' && /^\d{1,9}$/.test(id)) return Number(id);
  return typeof id === 'number' ? id : undefined;
}

/** Servers use objects and strings. */
function errorOf(entry: unknown): RpcError | undefined {
  const error = property(entry, 'error');
  if (error === undefined || error === null) return undefined;
  const code = property(error, 'code');
  return {
    code: typeof code === 'number' && Number.isSafeInteger(code) ? code : undefined,
    text: jsonText({ error }),
  };
}

/** Longer texts are cut before they are matched: `.*` in a pattern takes quadratic time. */
const MAX_MATCHED = 500;

function says(pattern: RegExp, { text = '' }: Pick<Partial<RpcError>, 'text'>): boolean {
  return pattern.test(text.slice(0, MAX_MATCHED));
}

/** `limit exceeded` of EIP-1474, and the HTTP status that some providers use as the code. */
const RATE_LIMIT_CODES: ReadonlySet<number | undefined> = new Set([-32_005, 429]);

function isRateLimit(error: RpcError): boolean {
  return RATE_LIMIT_CODES.has(error.code) || says(RATE_LIMIT, error);
}

/** Whether an error is about the size of a batch, or about batches. `-32600` is an invalid request; a single request is valid. */
function isAboutBatch(error: Partial<RpcError>): boolean {
  return error.code === -32_600 || says(/\bbatch|too large/i, error);
}

/** Whether the contract rejects a call: it has no such function. Nodes use different codes. */
function isRevert(error: RpcError): boolean {
  return error.code === 3 || says(/revert|VM execution|out of gas|invalid opcode/i, error);
}

/** Whether a node does not have the block of a call, or its state. Nodes use different codes. */
function isUnknownBlock(error: Partial<RpcError>): boolean {
  return says(
    /(?:header|block|state|resource) (?:not found|is not available|not available)|unknown block|missing trie node|(?:cannot|could not) find|future block|block .*(?:out of range|too (?:high|new)|not.*(?:found|available|yet))/i,
    error,
  );
}

/** Whether a server does not offer a method, or not to this client. */
function isUnknownMethod(error: RpcError): boolean {
  const isCode = error.code === -32_601 || error.code === -32_004;
  return isCode || says(/method.*(?:not|disabled|forbidden|unavailable)|unsupported/i, error);
}

/** The failure of a poll by a JSON-RPC error. */
export function rpcFailure(what: string, error: RpcError): RpcFailure {
  const code = error.code === undefined ? 'an error' : `JSON-RPC error ${error.code}`;
  return {
    ...unreadable(isRateLimit(error) ? 'rate_limited' : 'schema', `responded to ${what} with ${code}`),
    ...error,
  };
}

/** A property of untrusted JSON; `undefined` for anything but an object. */
export function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

/** Sends requests until each has an answer. The error of a call that the contract rejects, or of a method that the server need not have, is an answer. */
export type SendRequests = (
  node: NodeConnection,
  requests: readonly RpcRequest[],
  limits: () => FetchLimits,
) => Promise<Answered | FailedRequests>;

interface Answered {
  readonly ok: true;
  readonly answers: RpcAnswers;
  /** The answers as the server has sent them; the answers of several batches as one list. */
  readonly body: Buffer;
}

type FailedRequests = Failure & Pick<RpcFailure, 'isRejected' | 'isTooLarge' | 'isUnknownBlock'>;

/** The limit of a server may change. */
const REMEMBER_MS = HOUR_MS;

export function createRpcClient(client: Client): SendRequests {
  /** The accepted size of batches by the URL of the server. */
  const accepted = new Map<string, { readonly size: number; readonly untilMs: number }>();
  return async (node, requests, limits) => {
    const { href } = requestUrl(node.url);
    for (const [url, { untilMs }] of accepted) if (performance.now() >= untilMs) accepted.delete(url);
    let size = accepted.get(href)?.size ?? requests.length;
    let isLimited = false;
    let maxBytes = MAX_RPC_BODY_BYTES;
    const answers = new Map<number, RpcAnswer>();
    for (let next = 0; next < requests.length;) {
      const batch = requests.slice(next, next + size);
      const { maxBodyBytes, ...timeLimits } = limits();
      const batchLimits = { ...timeLimits, maxBodyBytes: Math.min(maxBodyBytes, maxBytes) };
      // oxlint-disable-next-line no-await-in-loop -- the answer says whether the batch was too large
      const sent = await sendBatch(client, node, batch, batchLimits);
      if (sent.ok && batch.length === requests.length) return sent;
      if (sent.ok) {
        for (const [id, answer] of sent.answers) answers.set(id, answer);
        maxBytes -= sent.body.length;
        next += batch.length;
      } else if (sent.isRejected === true && batch.length > 1) {
        size = Math.floor(batch.length / 2);
        isLimited ||= sent.isTooLarge === true;
      } else return sent;
    }
    if (isLimited) accepted.set(href, { size, untilMs: performance.now() + REMEMBER_MS });
    const list = Array.from(answers, ([id, { ok: _ok, ...answer }]) => ({ jsonrpc: '2.0', id, ...answer }));
    try {
      return { ok: true, answers, body: Buffer.from(JSON.stringify(list)) };
    } catch {
      // `JSON.stringify` is recursive, and `JSON.parse` is not.
      return failure('schema', `${sourceOf(node.url, '')}: the response is nested too deeply`);
    }
  };
}

async function sendBatch(
  client: Client,
  node: NodeConnection,
  batch: readonly RpcRequest[],
  limits: FetchLimits,
): Promise<Answered | FailedRequests> {
  const fetched = await client.fetch(node, '', limits, { json: formatRequests(batch), hasFixedLimit: true });
  if (!fetched.ok) {
    const { error, statusCode, errorBody = '' } = fetched;
    // Servers also send JSON-RPC errors with an error status.
    const read = readAnswers(Buffer.from(errorBody), batch);
    return {
      ok: false,
      error: !read.ok && read.reason === 'rate_limited' ? { ...error, reason: 'rate_limited' } : error,
      isRejected: statusCode !== undefined || error.reason === 'too_large',
      isTooLarge:
        error.reason === 'too_large' ||
        statusCode === 400 ||
        statusCode === 413 ||
        (!read.ok && read.isTooLarge === true),
      isUnknownBlock: !read.ok && read.isUnknownBlock === true,
    };
  }
  const { bytes } = fetched;
  fetched.release();
  const read = readAnswers(bytes, batch);
  if (read.ok) return { ...read, body: bytes };
  const { reason, message, text, ...flags } = read;
  const detail = text === undefined ? '' : `: ${fetched.clean(text)}`;
  return { ...flags, ...failure(reason, `${sourceOf(node.url, '')}: ${message}${detail}`) };
}

/** The answers to a batch, or why they cannot be used. */
function readAnswers(body: Buffer, batch: readonly RpcRequest[]): ReturnType<typeof parseAnswers> {
  const parsed = parseAnswers(body);
  if (!parsed.ok) {
    return { ...parsed, isRejected: true, isTooLarge: isAboutBatch(parsed), isUnknownBlock: isUnknownBlock(parsed) };
  }
  const problems = batch.flatMap((request) => problemOfAnswer(request, parsed.answers.get(request.id)) ?? []);
  const worst =
    problems.find((problem) => problem.isUnknownBlock) ?? problems.find((problem) => problem.isRejected) ?? problems[0];
  // A server that answers any of the requests accepts batches of this size.
  const isAnswered = batch.some(({ id }) => parsed.answers.get(id)?.ok === true);
  const isPart = isAnswered && batch.some(({ id }) => !parsed.answers.has(id));
  if (worst === undefined) return parsed;
  return {
    ...worst,
    isRejected: worst.isRejected === true || !isAnswered,
    isTooLarge: isPart || isAboutBatch(worst),
  };
}

/** Why an answer fails the poll; `undefined` for an error of the contract, or of a method that the server need not have. */
function problemOfAnswer({ method, params }: RpcRequest, answer: RpcAnswer | undefined): RpcFailure | undefined {
  if (answer === undefined) return { ...unreadable('schema', `did not answer ${method}`), isRejected: true };
  if (answer.ok) {
    const hasBlock = answer.result !== null || method !== 'eth_getBlockByNumber' || params[0] === 'latest';
    const message = 'does not have the block that it, or another node behind it, has named';
    return hasBlock ? undefined : { ...unreadable('schema', message), isUnknownBlock: true };
  }
  const { error } = answer;
  const problem = rpcFailure(method, error);
  if (isRevert(error)) return undefined;
  if (isRateLimit(error)) return { ...problem, isRejected: true };
  if (isUnknownBlock(error)) return { ...problem, isUnknownBlock: true };
  const isOptional = method === 'eth_syncing' || (method === 'eth_getStorageAt' && isUnknownMethod(error));
  return isOptional ? undefined : problem;
}
