import type { Readable } from 'node:stream';
import { z } from 'zod';
import { RequestError, type FailureReason } from './failure-reasons.js';
import { isJsonRpc } from './port-hints.js';

const MAX_BYTES = 64 * 1024;

/** The maximum time for an error body, also as a share of the timeout of the poll, which can continue with another path. */
const MAX_MS = 2_000;
const MAX_SHARE = 1 / 4;

/** gRPC's ResourceExhausted. A gateway sends it with status 429, although it means that the document is too large to send. */
const RESOURCE_EXHAUSTED = 8;

/**
 * The error for a response with another status than 200. `body` is undefined if its content encoding is unsupported, `redirect` is
 * the target of a redirect.
 */
export async function readErrorResponse(
  statusCode: number,
  body: Readable | undefined,
  redirect: string | undefined,
  pollTimeoutMs: number,
  clean: (text: string) => string,
): Promise<RequestError> {
  const maxMs = Math.min(MAX_MS, pollTimeoutMs * MAX_SHARE);
  const start = body === undefined ? '' : await readStart(body, maxMs);
  const { code, message } = parseErrorBody(start);
  const isRedirect = statusCode >= 300 && statusCode < 400 && redirect !== undefined;
  const detail = message === undefined ? '' : `: ${clean(message)}`;
  const target = isRedirect ? `, a redirect to ${clean(redirect)}, which is not followed` : '';
  const protocol = isJsonRpc(start) ? 'json-rpc' : undefined;
  const text = `responded with status ${statusCode}${target}${detail}`;
  const isNotServed = saysNotServed(statusCode, code, message);
  return new RequestError(reasonForStatus(statusCode, code), text, statusCode, protocol, isNotServed);
}

/** gRPC's NotFound, for a path of the gateway and for an object. */
const NOT_FOUND = 5;
const UNIMPLEMENTED = 12;

/** Whether a response says that the path is not served. An object that is not found is one that the path serves. */
function saysNotServed(statusCode: number, code: number | undefined, message = ''): boolean {
  if (code === UNIMPLEMENTED || /not implemented|unimplemented/i.test(message)) return true;
  if (statusCode === 404) return code !== NOT_FOUND || message === 'Not Found';
  return statusCode === 405 || statusCode === 501;
}

/** Whether the node does not serve the path: gateways respond with 501 to an unknown path, proxies with 404. */
export function isUnknownPath(statusCode: number | undefined): boolean {
  return statusCode === 404 || statusCode === 501;
}

export function reasonForStatus(statusCode: number, code?: number): FailureReason {
  switch (statusCode) {
    case 400:
      return 'bad_request';
    case 401:
    case 403:
      return 'unauthorized';
    case 429:
      return code === RESOURCE_EXHAUSTED ? 'response_too_large_upstream' : 'rate_limited';
    default:
      return 'status';
  }
}

/** Reads the start of an error body. The status decides the reason even if the body stalls, is endless or is cut off. */
async function readStart(body: Readable, maxMs: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const timer = setTimeout(() => body.destroy(), maxMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= MAX_BYTES) break;
    }
  } catch {
    // The chunks before the failure are used.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).subarray(0, MAX_BYTES).toString();
}

/** The gateway's `{code, message, details}`. Proxies send something else, which is not quoted. */
const errorBody = z.object({
  code: z.number().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
});

function parseErrorBody(body: string): z.output<typeof errorBody> {
  try {
    return errorBody.safeParse(JSON.parse(body)).data ?? {};
  } catch {
    return {};
  }
}
