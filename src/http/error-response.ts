import { addAbortSignal, type Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { type EndpointUrl, REDACTED_PATH, requestUrl } from '../config/urls.js';
import { readServerError } from '../text/error-text.js';
import { type Failure, type FailureReason, type PollError, RequestError, statusRemedies } from './failure-reasons.js';

const MAX_BYTES = 64 * 1024;

/** The maximum time for an error body, as a share of the timeout of the poll, which can continue with another path. */
const MAX_SHARE = 1 / 4;

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
  /** Whether credentials are configured, which the node may have rejected. */
  readonly isAuthenticated: boolean;
  readonly clean: Clean;
}

/**
 * The error for a response with another status than 200. `body` is undefined if its content encoding is unsupported.
 */
export async function readErrorResponse(
  { statusCode, headers }: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>,
  body: Readable | undefined,
  pollTimeoutMs: number,
  { url, path, isAuthenticated, clean }: ErrorContext,
): Promise<RequestError> {
  const start = body === undefined ? '' : await readStart(body, Math.ceil(pollTimeoutMs * MAX_SHARE));
  const { code, text } = readServerError(start);
  const reason = reasonForStatus(statusCode, code);
  const redirect = isRedirect(statusCode) ? redirectTarget([headers['location']].flat()[0], url, path) : undefined;
  const target = redirect === undefined ? '' : `, a redirect to ${clean(redirect)}, which is not followed`;
  const detail = text === '' ? '' : `: ${clean(text)}`;
  const asksForCredentials = statusCode === 401 || headers['www-authenticate'] !== undefined;
  return new RequestError(reason, `responded with status ${statusCode}${target}${detail}`, {
    statusCode,
    retryAfterMs:
      statusCode === 429 || statusCode === 503 ? retryAfterMs([headers['retry-after']].flat()[0]) : undefined,
    remedy: statusRemedy(statusCode, code, asksForCredentials, isAuthenticated),
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

/** The remedy for a status, if the response or the configuration is evidence of the cause. */
function statusRemedy(
  statusCode: number,
  code: number | undefined,
  asksForCredentials: boolean,
  isAuthenticated: boolean,
): string | undefined {
  // A gateway says what is wrong with the request, and sends a code with it.
  if (statusCode === 400) return code === undefined ? statusRemedies.invalidRequest : undefined;
  if (statusCode === 401 || statusCode === 403) {
    if (!asksForCredentials) return undefined;
    return isAuthenticated ? statusRemedies.credentials : statusRemedies.noCredentials;
  }
  // Status 500 can have many causes.
  if (statusCode === 429 || statusCode === 500) return undefined;
  if (statusCode === 407) return statusRemedies.proxyCredentials;
  if (isRedirect(statusCode)) return statusRemedies.redirect;
  return isUnknownPath(statusCode) ? statusRemedies.unknownPath : statusRemedies.failing;
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
      if (length >= MAX_BYTES) break;
    }
  } catch {
    // The chunks before the failure are used.
  }
  return Buffer.concat(chunks).subarray(0, MAX_BYTES).toString();
}

/** The reverse of a hint for a server that does not use TLS, which OpenSSL reports. */
export const TLS_HINT = 'the server closed the connection without a response: is this port https?';

/** A hint for a base URL that ends with the first part of the path that is appended: `https://node/peggy/v1`. */
export function repeatedPathHint(url: EndpointUrl, paths: readonly string[]): string | undefined {
  const { pathname } = requestUrl(url);
  for (const path of paths) {
    const segments = path.split('/').slice(1, -1);
    for (let count = segments.length; count > 0; count -= 1) {
      const repeated = `/${segments.slice(0, count).join('/')}`;
      if (!pathname.toLowerCase().endsWith(repeated.toLowerCase())) continue;
      const base = url.origin + (pathname.length > repeated.length ? REDACTED_PATH : '');
      return `the URL ends with ${repeated}, and ${path} is appended; did you mean ${base}?`;
    }
  }
  return undefined;
}

export function withHint(error: PollError, hint: string | undefined): Failure {
  return { ok: false, error: hint === undefined ? error : { ...error, message: `${error.message} — ${hint}` } };
}
