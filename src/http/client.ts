import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { callbackify } from 'node:util';
import { Client as UndiciClient, errors, type Dispatcher } from 'undici';
import type { NodeConnection } from '../config/endpoint-config.js';
import type { HttpClientConfig } from '../config/http-client-config.js';
import { resolveHttpConfig, type ResolvedHttpConfig } from '../config/credentials.js';
import { requestUrl, sourceOf } from '../config/urls.js';
import { errorCode } from '../text/system-error.js';
import { cleanText } from '../text/untrusted-text.js';
import { BodyBudget, bufferBody, decompressBody } from './body.js';
import { openConnection } from './connection.js';
import { readErrorResponse, type Clean, type ErrorContext } from './error-response.js';
import { ConnectError, failureReasons, RequestError, type FailedFetch, type PollError } from './failure-reasons.js';
import { heightText } from './height-header.js';
import { isHttp2 } from './port-hints.js';
import { createPathRedactor, createRedactor } from './redaction.js';

/*
 * The HTTP client towards nodes. Each request has its own connection, which is closed when the request ends: at the default poll
 * interval, the node would close an idle connection before the next poll.
 */

const MAX_HEADER_BYTES = 16 * 1024;

export interface FetchLimits {
  /** The time for all requests of a poll together: connecting, headers and body. */
  readonly timeoutMs: number;
  /** The part of the timeout that earlier requests of the same poll have used. */
  readonly elapsedMs?: number;
  /** Applies to the decoded body too, because a small gzip body can expand to gigabytes. */
  readonly maxBodyBytes: number;
}

/** The limits of each request of an exchange that begins now. */
export function remainingLimits(limits: FetchLimits): () => FetchLimits {
  const started = performance.now();
  return () => ({ ...limits, elapsedMs: (limits.elapsedMs ?? 0) + performance.now() - started });
}

/** By default, a request is a GET request. */
interface RequestOptions {
  /** The JSON body of a POST request. */
  readonly json?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the limit of the body is not `poll.max_body_size`. */
  readonly hasFixedLimit?: boolean;
}

/** A response with status 200. */
export interface HttpResponse {
  readonly ok: true;
  /** The decoded body. */
  readonly bytes: Buffer;
  /** Ends the use of the body, which until then counts against the memory of all bodies. */
  readonly release: () => void;
  /** The hub height of the document, as the server has sent it (height-header.ts). */
  readonly height: string | undefined;
  /** Makes a line of untrusted text, without the secrets of the request. */
  readonly clean: (text: string) => string;
}

export interface Client {
  /**
   * Resolves when a body of this size can be fetched: at once, unless the bodies in memory exceed a limit. The caller ends the
   * reservation with the returned function when the fetch has ended.
   */
  readonly reserveMemory: (maxBodyBytes: number) => Promise<() => void>;
  /**
   * Sends one request. `path` is appended to the URL of the node, and may have a query. Every expected failure is a value, whose message
   * begins with host and path. Redirects are not followed, because credentials would be sent to the new address. Files with passwords, tokens
   * and certificates are read for each request.
   */
  readonly fetch: (
    node: NodeConnection,
    path: string,
    limits: FetchLimits,
    options?: RequestOptions,
  ) => Promise<HttpResponse | FailedFetch>;
  /** Ends the fetches that are in progress. */
  readonly close: () => void;
}

export function createClient(userAgent: string): Client {
  const memory = new BodyBudget();
  const running = new Set<AbortController>();
  return {
    reserveMemory: async (maxBodyBytes) => memory.reserve(maxBodyBytes),
    fetch: async (node, path, limits, options = {}) => {
      const { timeoutMs, elapsedMs = 0, maxBodyBytes } = limits;
      const controller = new AbortController();
      running.add(controller);
      const { signal } = controller;
      const timer = setTimeout(() => controller.abort(), Math.max(0, timeoutMs - elapsedMs));
      const redactPath = createPathRedactor(node.url, path);
      let clean: Clean = (text, maxCharacters) => cleanText(redactPath(text), maxCharacters);
      try {
        const config = await rejectOnAbort(signal, resolveConfig(node));
        const redact = createRedactor(config.secrets);
        // Truncated text could end in a part of a secret, so secrets are redacted first.
        clean = (text, maxCharacters) => cleanText(redactPath(redact(text)), maxCharacters);
        const url = requestUrl(node.url, path);
        const dispatcher = createDispatcher(url, config, signal);
        try {
          const response = await sendRequest(dispatcher, url, config, userAgent, maxBodyBytes, options);
          const isAuthenticated = node.url.path !== undefined || hasCredentials(node);
          return await readBody(response, limits, memory, { url, path, isAuthenticated, clean }, options);
        } finally {
          await dispatcher.destroy();
        }
      } catch (error) {
        const failed = failureOf(error, signal.aborted, timeoutMs, clean);
        return {
          ok: false,
          error: { ...failed, message: `${sourceOf(node.url, path)}: ${failed.message}` },
          ...detailsOf(error),
        };
      } finally {
        clearTimeout(timer);
        running.delete(controller);
        // Closes every socket that was opened with this signal, whether or not the request has succeeded.
        controller.abort();
      }
    },
    close: () => {
      for (const controller of running) controller.abort();
    },
  };
}

/** Whether the request has credentials that the server can reject. Any header but `User-Agent` can be a key. */
function hasCredentials({ basic_auth, authorization, http_headers = {}, tls_config: tls }: HttpClientConfig): boolean {
  const hasHeader = Object.keys(http_headers).some((name) => name.toLowerCase() !== 'user-agent');
  return basic_auth !== undefined || authorization !== undefined || hasHeader || tls?.cert_file !== undefined;
}

async function resolveConfig(config: HttpClientConfig): Promise<ResolvedHttpConfig> {
  const result = await resolveHttpConfig(config);
  if (result.ok) return result.resolved;
  const problems = result.problems.map(({ message }) => cleanText(message)).join('; ');
  throw new RequestError('bad_request', `invalid configuration: ${problems}`);
}

/** An undici client that opens one connection. */
function createDispatcher(url: URL, config: ResolvedHttpConfig, signal: AbortSignal): UndiciClient {
  let isConnected = false;
  const connect = callbackify(async (): Promise<Socket> => {
    // undici opens another connection when the first is closed before the request is sent.
    if (isConnected) throw new Error('the connection was closed');
    isConnected = true;
    return openConnection(url, config, signal);
  });
  return new UndiciClient(url.origin, {
    connect: (_options, callback) =>
      connect((error: Error | null, socket) => (error === null ? callback(null, socket) : callback(error, null))),
    maxHeaderSize: MAX_HEADER_BYTES,
    // The signal has the deadline of the poll.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** Sends a request. Resolves with the response as soon as it has its headers. */
async function sendRequest(
  dispatcher: UndiciClient,
  url: URL,
  { headers: configured, proxy }: ResolvedHttpConfig,
  userAgent: string,
  maxBodyBytes: number,
  { json, headers }: RequestOptions,
): Promise<Dispatcher.ResponseData> {
  // A proxy receives requests to http nodes with an absolute URL. Requests to https nodes use a CONNECT tunnel.
  const forwarding = url.protocol === 'http:' ? proxy : undefined;
  const response = await dispatcher.request({
    method: json === undefined ? 'GET' : 'POST',
    ...(json !== undefined && { body: json }),
    // Sends `Connection: close`.
    reset: true,
    // Without backpressure. undici 7 throws an uncaught error when a connection ends while its parser is paused
    // (nodejs/undici#5360), which a gzip body of 64 KiB can cause. A larger body is rejected anyway.
    highWaterMark: maxBodyBytes,
    path: forwarding === undefined ? url.pathname + url.search : url.href,
    headers: {
      accept: '*/*',
      'accept-encoding': 'gzip',
      // Gateways send the height in a trailer only to a client that accepts trailers.
      te: 'trailers',
      // A cached response would be an old document.
      'cache-control': 'no-cache',
      'user-agent': userAgent,
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...headers,
      ...configured,
      ...forwarding?.headers,
    },
  });
  // Without a listener, the error of a body that is not read completely would end the process.
  response.body.on('error', () => undefined);
  return response;
}

async function readBody(
  response: Dispatcher.ResponseData,
  { timeoutMs, maxBodyBytes }: FetchLimits,
  memory: BodyBudget,
  context: ErrorContext,
  { hasFixedLimit = false }: RequestOptions,
): Promise<HttpResponse> {
  const { 'content-encoding': encoding } = response.headers;
  const body = decompressBody(response.body, encoding);
  if (response.statusCode !== 200) throw await readErrorResponse(response, body, timeoutMs, context);
  const { clean } = context;
  if (body === undefined) {
    throw new RequestError('not_json', `unsupported content encoding ${clean(String(encoding))}`);
  }
  const buffered = await bufferBody(body, maxBodyBytes, memory, hasFixedLimit ? undefined : 'poll.max_body_size');
  const height = heightText(response.headers, response.trailers);
  return { ok: true, ...buffered, height: height === undefined ? undefined : clean(height), clean };
}

/** A host has up to ten addresses, each with its error. */
const MAX_ADDRESS_CHARACTERS = 1000;

function failureOf(error: unknown, isTimeout: boolean, timeoutMs: number, clean: Clean): PollError {
  if (error instanceof RequestError) return { reason: error.reason, message: error.message, remedy: error.remedy };
  const timedOut = `timed out after ${timeoutMs} ms (poll.timeout)`;
  if (error instanceof ConnectError) {
    const { reason } = error;
    const message = clean(error.message, MAX_ADDRESS_CHARACTERS);
    if (!isTimeout) return { reason, message: `request failed: ${message}` };
    // Without a connection, the message names the addresses.
    const isConnected = reason !== 'dns' && reason !== 'connect';
    if (isConnected) return { reason: 'timeout', message: `${timedOut} while connecting` };
    const { remedy } = failureReasons[reason];
    return { reason: 'timeout', message: `${timedOut} while connecting: ${message}`, remedy };
  }
  if (isTimeout) return { reason: 'timeout', message: timedOut };
  if (!(error instanceof Error)) return { reason: 'internal', message: `request failed: ${clean(String(error))}` };
  const code = String(errorCode(error));
  const message = clean(error.message);
  if (error instanceof errors.HeadersOverflowError) {
    return { reason: 'too_large', message: 'headers are larger than 16 KiB' };
  }
  if (error instanceof errors.HTTPParserError)
    return { reason: 'aborted', message: `invalid HTTP response: ${message}` };
  if (code.startsWith('Z_')) return { reason: 'not_json', message: `invalid gzip encoding: ${message}` };
  // With TLS 1.3, a node rejects a client certificate after the client has completed the handshake.
  if (code.startsWith('ERR_SSL_')) return { reason: 'tls', message: `request failed: ${message}` };
  return { reason: 'aborted', message: `connection lost: ${message}` };
}

/** An undici parser error has the bytes that are not HTTP/1.1. */
function detailsOf(error: unknown): RequestError['details'] {
  if (error instanceof RequestError) return error.details;
  const isParserError = error instanceof errors.HTTPParserError && 'data' in error;
  return isParserError && isHttp2(String(error.data)) ? { protocol: 'http2' } : {};
}

/** Rejects when the signal is aborted. The promise continues: reading a file that hangs cannot be canceled. */
function rejectOnAbort<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });
  return Promise.race([promise, aborted]);
}
