import type { UnreadableDocument } from '../json/shapes.js';

/* JSON-RPC 2.0: a batch of requests in one body. Nothing that the server says is quoted, because it may repeat the API key of the URL. */

/** More than the answers to the calls of a poll, and than a block with the hashes of its transactions. */
export const MAX_RPC_BODY_BYTES = 2 ** 20;

export interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The answer to one request of a batch. */
export type RpcAnswer =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly code: number | undefined };

/** The answers by the id of their request. Servers may reorder them; one that is not there was not answered. */
export type RpcAnswers = ReadonlyMap<number, RpcAnswer>;

export function formatBatch(requests: readonly RpcRequest[]): string {
  return JSON.stringify(requests.map((request) => ({ jsonrpc: '2.0', ...request })));
}

/** Reads the answers to a batch; the first one of each id. The body is small, so `JSON.parse` is safe. */
export function parseBatch(body: Buffer): { readonly ok: true; readonly answers: RpcAnswers } | UnreadableDocument {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return unreadable('not_json', 'the response is not JSON');
  }
  if (!Array.isArray(json)) {
    const error = errorOf(json);
    return error === undefined
      ? unreadable('schema', 'the response is not that to a JSON-RPC batch')
      : rpcFailure('the batch', error.code);
  }
  const answers = new Map<number, RpcAnswer>();
  for (const entry of json as readonly unknown[]) {
    const id = property(entry, 'id');
    if (typeof id !== 'number' || answers.has(id)) continue;
    const error = errorOf(entry);
    answers.set(id, error === undefined ? { ok: true, result: property(entry, 'result') } : { ok: false, ...error });
  }
  return { ok: true, answers };
}

/** `limit exceeded` of EIP-1474, and the HTTP status that some providers use as the code. */
const RATE_LIMIT_CODES: ReadonlySet<number | undefined> = new Set([-32_005, 429]);

/** The failure of a poll by a JSON-RPC error. */
export function rpcFailure(what: string, code: number | undefined): UnreadableDocument {
  const reason = RATE_LIMIT_CODES.has(code) ? 'rate_limited' : 'schema';
  return unreadable(reason, `responded to ${what} with JSON-RPC error ${code ?? 'without a code'}`);
}

export function unreadable(reason: UnreadableDocument['reason'], message: string): UnreadableDocument {
  return { ok: false, reason, message };
}

function errorOf(entry: unknown): { readonly code: number | undefined } | undefined {
  const error = property(entry, 'error');
  if (error === undefined || error === null) return undefined;
  const code = property(error, 'code');
  return { code: typeof code === 'number' && Number.isSafeInteger(code) ? code : undefined };
}

/** A property of an object of untrusted JSON; `undefined` if it is none. */
export function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
