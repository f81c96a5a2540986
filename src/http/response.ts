import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { type Field, INVALID } from '../chain/fields.js';
import type { Numeral } from '../chain/numeral.js';
import { REDACTED_PATH } from '../config/urls.js';
import { readServerError } from '../text/error-text.js';
import { formatSize } from '../units.js';
import { type FailureReason, RequestError, remedies } from './failure-reasons.js';

/* The parts of a response: its body, its hub height, and the error that another status than 200 is. */

/** Reads a body. Throws above the limit; the remedy of the reason names its setting. */
export async function bufferBody(body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new RequestError('too_large', `body is larger than ${formatSize(maxBytes)}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** The decoded body; `undefined` for another encoding than gzip, the only one that is requested. */
export function decompressBody(body: Readable, contentEncoding: string): Readable | undefined {
  // Servers also send words that are no encoding, such as `utf-8`.
  const codings = contentEncoding.toLowerCase().match(/\b(?:gzip|br|dcb|dcz|deflate|zstd|compress)\b/g) ?? [];
  if (codings.length === 0) return body;
  return codings.length === 1 && codings[0] === 'gzip' ? pipeline(body, createGunzip(), () => undefined) : undefined;
}

/* The hub height of a response. */

/** The header of the Cosmos SDK's gateway, and that of newer nodes. */
const HEIGHT_HEADERS = ['grpc-metadata-x-cosmos-block-height', 'x-cosmos-block-height'];

/** The name of the field in messages and metrics. */
export const HEIGHT_FIELD = 'X-Cosmos-Block-Height';

/** The distinct values of these headers, separated by commas, because proxies repeat headers. */
export function heightText(headers: Dispatcher.ResponseData['headers']): string | undefined {
  const lines = HEIGHT_HEADERS.flatMap((name) => headers[name] ?? []);
  const values = new Set(lines.flatMap((line) => line.split(',')).map((value) => value.trim()));
  values.delete('');
  return values.size === 0 ? undefined : Array.from(values).join(', ');
}

/** Gateways send the height 0 when they do not know the height. No block has it. */
export function parseHeight(text: string | undefined): Field<Numeral> {
  if (text === undefined) return undefined;
  return /^[1-9]\d{0,18}$/.test(text) ? BigInt(text) : INVALID;
}

/* Responses with another status than 200. */

const MAX_ERROR_BYTES = 64 * 1024;

/** The maximum time for an error body, as a share of the timeout of the poll, which can continue with another path. */
const MAX_ERROR_SHARE = 1 / 4;

/**
 * gRPC's ResourceExhausted. A gateway sends it with status 429, although it means that the document is too large to
 * send.
 */
const RESOURCE_EXHAUSTED = 8;

/** Makes a line of untrusted text, without secrets. */
export type Clean = (text: string) => string;

interface ErrorContext {
  readonly url: URL;
  /** The path of the document, with which the URL ends. */
  readonly path: string;
  readonly clean: Clean;
}

/**
 * The error for a response with another status than 200. `body` is undefined if its content encoding is unsupported.
 */
export async function readErrorResponse(
  { statusCode, headers }: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>,
  body: Readable | undefined,
  pollTimeoutMs: number,
  { url, path, clean }: ErrorContext,
): Promise<RequestError> {
  const start = body === undefined ? '' : await readStart(body, Math.ceil(pollTimeoutMs * MAX_ERROR_SHARE));
  const { code, text } = readServerError(start);
  const reason = reasonForStatus(statusCode, code);
  const redirect = isRedirect(statusCode) ? redirectTarget([headers['location']].flat()[0], url, path) : undefined;
  const target = redirect === undefined ? '' : `, a redirect to ${clean(redirect)}, which is not followed`;
  const detail = text === '' ? '' : `: ${clean(text)}`;
  return new RequestError(reason, `responded with status ${statusCode}${target}${detail}`, {
    statusCode,
    retryAfterMs:
      statusCode === 429 || statusCode === 503 ? retryAfterMs([headers['retry-after']].flat()[0]) : undefined,
    remedy: statusCode === 407 ? remedies.proxyCredentials : isRedirect(statusCode) ? remedies.redirect : undefined,
    isPathNotServed: isPathNotServed(statusCode, code, text),
  });
}

/** The header has seconds or a date. */
function retryAfterMs(value = ''): number | undefined {
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return ms > 0 ? Math.ceil(ms / 1000) * 1000 : undefined;
}

const isRedirect = (statusCode: number): boolean => statusCode >= 300 && statusCode < 400;

/**
 * The target of a redirect, without parts that can be secrets: user, password, query, fragment, and a path before that
 * of the document.
 */
function redirectTarget(location: string | undefined, url: URL, documentPath: string): string | undefined {
  if (location === undefined || !URL.canParse(location, url.href)) return undefined;
  const { protocol, host, pathname } = new URL(location, url);
  const [ending = ''] = documentPath.split('?', 1);
  const hasPrefix = ending !== '' && pathname.endsWith(ending) && pathname.length > ending.length;
  return `${protocol}//${host}${hasPrefix ? REDACTED_PATH + ending : pathname}`;
}

/** gRPC's NotFound, for a path of the gateway and for an object. */
const NOT_FOUND = 5;
const UNIMPLEMENTED = 12;

/**
 * Whether a response says that the path is not served. A path that is served can respond that an object is not found.
 */
function isPathNotServed(statusCode: number, code: number | undefined, text: string): boolean {
  if (statusCode === 404) return code !== NOT_FOUND || text === 'Not Found';
  return code === UNIMPLEMENTED || statusCode === 405 || statusCode === 501;
}

/** Whether the node does not serve the path: gateways respond with 501 to an unknown path, proxies with 404. */
export function isUnknownPath(statusCode: number | undefined): boolean {
  return statusCode === 404 || statusCode === 501;
}

export function reasonForStatus(statusCode: number, code?: number): FailureReason {
  if (statusCode === 400) return 'bad_request';
  if (statusCode === 401 || statusCode === 403) return 'unauthorized';
  if (statusCode !== 429) return 'status';
  return code === RESOURCE_EXHAUSTED ? 'response_too_large_upstream' : 'rate_limited';
}

/**
 * Reads the start of an error body. The status decides the reason even if the body stalls, is endless or is cut off.
 */
async function readStart(body: Readable, maxMs: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  addAbortSignal(AbortSignal.timeout(maxMs), body);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= MAX_ERROR_BYTES) break;
    }
  } catch {
    // The chunks before the failure are used.
  }
  return Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES).toString();
}
