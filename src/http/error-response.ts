import type { Readable } from 'node:stream';
import { RequestError, type FailureReason } from './errors.js';
import type { Sanitize } from './redact.js';

const MAX_BYTES = 64 * 1024;
const TIMEOUT_MS = 2_000;

/** gRPC's ResourceExhausted. A gateway sends it with status 429, although it means that the document is too large to send. */
const RESOURCE_EXHAUSTED = 8;

/** The error for a response with another status than 200. `body` is undefined if its content encoding is unsupported. */
export async function readErrorResponse(
  statusCode: number,
  body: Readable | undefined,
  sanitize: Sanitize,
): Promise<RequestError> {
  const { code, message } = body === undefined ? {} : parseErrorBody(await readStart(body));
  const detail = message === undefined ? '' : `: ${sanitize(message)}`;
  return new RequestError(reasonForStatus(statusCode, code), `responded with status ${statusCode}${detail}`);
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
async function readStart(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const timer = setTimeout(() => body.destroy(), TIMEOUT_MS);
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

interface ErrorBody {
  readonly code?: number | undefined;
  readonly message?: string | undefined;
}

/** Parses the gateway's `{code, message, details}`. Proxies send something else, which is not quoted. */
function parseErrorBody(body: string): ErrorBody {
  try {
    const json: unknown = JSON.parse(body);
    if (typeof json !== 'object' || json === null) return {};
    const { code, message }: { code?: unknown; message?: unknown } = json;
    return {
      code: typeof code === 'number' ? code : undefined,
      message: typeof message === 'string' ? message : undefined,
    };
  } catch {
    return {};
  }
}
