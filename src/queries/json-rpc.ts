import type { UnreadableDocument } from '../chain/document.js';
import { errorText, RATE_LIMIT } from '../text/error-text.js';

/* JSON-RPC 2.0: a request or a batch of requests, and what the answers say. */

/** More than the answers to the calls of a poll, and than a block with the hashes of its transactions. */
export const MAX_RPC_BODY_BYTES = 2 ** 20;

export interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Why a server did not answer a request. */
export interface RpcError {
  readonly code: number | undefined;
  /** As the server has sent it: it may contain the API key of the URL. */
  readonly text: string | undefined;
}

export type RpcAnswer =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: RpcError };

/** The answers by the id of their request. Servers may reorder them; one that is not there was not answered. */
export type RpcAnswers = ReadonlyMap<number, RpcAnswer>;

/** Answers that cannot be used. `text` is what the server says, as it has sent it. */
export interface RpcFailure extends UnreadableDocument {
  readonly text?: string | undefined;
}

/** One request is no batch: some servers know no batches. */
export function formatRequests(requests: readonly RpcRequest[]): string {
  const bodies = requests.map((request) => ({ jsonrpc: '2.0', ...request }));
  return JSON.stringify(bodies.length === 1 ? bodies[0] : bodies);
}

/** Reads the answers to requests; the first one of each id. The body is small, so `JSON.parse` is safe. */
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
    text: errorText(JSON.stringify({ error })),
  };
}

/** `limit exceeded` of EIP-1474, and the HTTP status that some providers use as the code. */
const RATE_LIMIT_CODES: ReadonlySet<number | undefined> = new Set([-32_005, 429]);

export function isRateLimit({ code, text = '' }: RpcError): boolean {
  return RATE_LIMIT_CODES.has(code) || RATE_LIMIT.test(text);
}

/** Whether the contract itself rejects a call: there is no such function, or it is another contract. Nodes use different codes. */
export function isRevert({ code, text = '' }: RpcError): boolean {
  return code === 3 || /revert|VM execution|out of gas|invalid opcode/i.test(text);
}

/** Whether a node does not have the block of a call, or its state. Nodes use different codes. */
export function isUnknownBlock({ text = '' }: RpcError): boolean {
  return /(?:header|block|state|resource) (?:not found|is not available|not available)|unknown block|missing trie node|(?:cannot|could not) find|future block|block .*(?:out of range|too (?:high|new)|not.*(?:found|available|yet))/i.test(
    text,
  );
}

/** Whether a server does not offer a method, or not to this client. */
export function isUnknownMethod({ code, text = '' }: RpcError): boolean {
  return (
    code === -32_601 || code === -32_004 || /method.*(?:not|disabled|forbidden|unavailable)|unsupported/i.test(text)
  );
}

/** The failure of a poll by a JSON-RPC error. */
export function rpcFailure(what: string, error: RpcError): RpcFailure {
  const code = error.code === undefined ? 'an error' : `JSON-RPC error ${error.code}`;
  return {
    ...unreadable(isRateLimit(error) ? 'rate_limited' : 'schema', `responded to ${what} with ${code}`),
    text: error.text,
  };
}

export function unreadable(reason: UnreadableDocument['reason'], message: string): UnreadableDocument {
  return { ok: false, reason, message };
}

/** A property of an object of untrusted JSON; `undefined` if it is none. */
export function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
