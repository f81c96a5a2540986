import { once } from 'node:events';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import errors from 'undici/lib/core/errors.js';
import UndiciClient from 'undici/lib/dispatcher/client.js';
import {
  type Environment,
  type NodeConnection,
  type ResolvedHttpConfig,
  resolveHttpConfig,
} from '../config/http-client-config.js';
import { requestUrl, formatSource } from '../config/urls.js';
import { errorCode } from '../text/error-text.js';
import { cleanText } from '../text/format.js';
import { isOutOfFiles, MAX_HEADER_BYTES, openConnection, OUT_OF_FILES } from './connection.js';
import { ConnectError, failureReasons, RequestError, type HttpFailure, type PollError } from './failure-reasons.js';
import { createRedactor } from './redaction.js';
import { bufferBody, type Clean, decompressBody, heightText, readErrorResponse } from './response.js';

/*
 * The HTTP client towards nodes. Each request has its own connection, which is closed when the request ends: at the
 * default poll interval, the node would close an idle connection before the next poll.
 */

/** The share of the time that a request has for each address of a host but the last. */
const ATTEMPT_SHARE = 1 / 4;

export interface RequestLimits {
  /** The time for all requests of a poll together: connecting, headers and body. */
  readonly timeoutMs: number;
  /** The part of the timeout that earlier requests of the same poll have used. */
  readonly elapsedMs?: number;
  /** Applies to the decoded body too, because a small gzip body can expand to gigabytes. */
  readonly maxBodyBytes: number;
}

/** The limits of each request of an exchange that begins now. */
export function remainingLimits(limits: RequestLimits): () => RequestLimits {
  const started = performance.now();
  return () => ({ ...limits, elapsedMs: (limits.elapsedMs ?? 0) + performance.now() - started });
}

/** By default, a request is a GET request. */
interface RequestOptions {
  /** The JSON body of a POST request. */
  readonly json?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response with status 200. */
export interface HttpResponse {
  readonly ok: true;
  /** The decoded body. */
  readonly bytes: Buffer;
  /** The hub height of the document, as the server has sent it (response.ts). */
  readonly height: string | undefined;
  /** Makes a line of untrusted text, without the secrets of the request. */
  readonly clean: (text: string) => string;
}

export interface Client {
  /**
   * Sends one request. `path` is appended to the URL of the node, and may have a query. Every expected failure is a
   * value, whose message begins with host and path. Redirects are not followed, because credentials would be sent to
   * the new address. Files with passwords, tokens and certificates are read for each request.
   */
  readonly send: (
    node: NodeConnection,
    path: string,
    limits: RequestLimits,
    options?: RequestOptions,
  ) => Promise<HttpResponse | HttpFailure>;
  /** Ends the requests that are in progress. */
  readonly close: () => void;
}

/** `env` has the proxies of `proxy_from_environment`. */
export function createClient(userAgent: string, env: Environment = {}): Client {
  const running = new Set<AbortController>();
  return {
    send: async (node, path, limits, { json, headers } = {}) => {
      const { timeoutMs, elapsedMs = 0, maxBodyBytes } = limits;
      const controller = new AbortController();
      running.add(controller);
      const { signal } = controller;
      const remainingMs = Math.max(0, timeoutMs - elapsedMs);
      const timer = setTimeout(() => controller.abort(), remainingMs);
      let redact = createRedactor([], node.url, path);
      // Truncated text could end in a part of a secret, so secrets are redacted first.
      const clean: Clean = (text) => cleanText(redact(text));
      try {
        // Reading a file that hangs cannot be canceled.
        const config = await Promise.race([resolveConfig(node, env), once(signal, 'abort').then(() => undefined)]);
        if (config === undefined) throw new Error('aborted');
        redact = createRedactor(config.secrets, node.url, path);
        const url = requestUrl(node.url, path);
        const attemptMs = remainingMs * ATTEMPT_SHARE;
        const socket = await openConnection(url, config.proxy, { tls: config.tls, signal, attemptMs });
        const sent = { 'user-agent': userAgent, ...headers };
        const response = await sendRequest(socket, url, config, sent, json, maxBodyBytes);
        // A header that is sent several times is a list.
        const encoding = [response.headers['content-encoding'] ?? ''].flat().join();
        const body = decompressBody(response.body, encoding);
        if (response.statusCode !== 200) {
          throw await readErrorResponse(response, body, timeoutMs, { url, path, clean });
        }
        if (body === undefined) throw new RequestError('not_json', `unsupported content encoding ${clean(encoding)}`);
        const bytes = await bufferBody(body, maxBodyBytes);
        const height = heightText(response.headers);
        return { ok: true, bytes, height: height === undefined ? undefined : clean(height), clean };
      } catch (error) {
        const failed = describeFailure(error, signal.aborted ? timeoutMs : undefined, clean);
        const { reason, message, remedy, retryAfterMs, ...details } = failed;
        const source = formatSource(node.url, path);
        const pollError = { reason, message: `${source}: ${message}`, remedy, retryAfterMs };
        return { ok: false, error: pollError, ...details };
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

async function resolveConfig(node: NodeConnection, env: Environment): Promise<ResolvedHttpConfig> {
  const result = await resolveHttpConfig(node, env);
  if (result.ok) return result.resolved;
  const problems = result.problems.map(({ message }) => cleanText(message)).join('; ');
  throw new RequestError('bad_request', `invalid configuration: ${problems}`);
}

/** Sends a request on a connection. Resolves with the response as soon as it has its headers. */
async function sendRequest(
  socket: Socket,
  url: URL,
  { headers: configured, proxy }: ResolvedHttpConfig,
  headers: Readonly<Record<string, string>>,
  json: string | undefined,
  maxBodyBytes: number,
): Promise<Dispatcher.ResponseData> {
  // A proxy receives requests to http nodes with an absolute URL. Requests to https nodes use a CONNECT tunnel.
  const forwarding = url.protocol === 'http:' ? proxy : undefined;
  let isConnected = false;
  const client = new UndiciClient(url.origin, {
    connect: (_options, callback) => {
      // undici connects again when the first connection is closed before the request is sent. This must fail.
      const isClosed = isConnected;
      isConnected = true;
      // undici does not continue when it is called back at once.
      setImmediate(() => (isClosed ? callback(new Error('the connection was closed'), null) : callback(null, socket)));
    },
    maxHeaderSize: MAX_HEADER_BYTES,
    // The signal of the connection has the deadline of the poll.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const response = await request.call(client, {
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
      // A cached response would be an old document.
      'cache-control': 'no-cache',
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

/** `timedOutMs`: the timeout of the poll, if it has ended. */
function describeFailure(
  error: unknown,
  timedOutMs: number | undefined,
  clean: Clean,
): PollError & RequestError['details'] {
  if (error instanceof RequestError && isOutOfFiles(error)) return OUT_OF_FILES;
  const timedOut = timedOutMs === undefined ? undefined : `timed out after ${timedOutMs} ms (poll.timeout)`;
  if (error instanceof ConnectError) {
    const { reason } = error;
    const message = clean(error.message);
    if (timedOut === undefined) return { reason, message: `request failed: ${message}` };
    const isConnected = reason !== 'dns' && reason !== 'connect';
    if (isConnected) return { reason: 'timeout', message: `${timedOut} while connecting` };
    const { remedy } = failureReasons[reason];
    return { reason: 'timeout', message: `${timedOut} while connecting: ${message}`, remedy };
  }
  if (error instanceof RequestError) return { reason: error.reason, message: error.message, ...error.details };
  if (timedOut !== undefined) return { reason: 'timeout', message: timedOut };
  if (!(error instanceof Error)) return { reason: 'internal', message: `request failed: ${clean(String(error))}` };
  if (error instanceof RangeError && error.message.startsWith('WebAssembly.')) return OUT_OF_ADDRESSES;
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

/** WebAssembly has guard regions of 10 GiB, which Node.js before 24 also reserves under `ulimit -v`. */
const OUT_OF_ADDRESSES: PollError = {
  reason: 'internal',
  message:
    'the HTTP parser of Node.js cannot reserve 10 GiB of addresses: the address space of this process is limited',
  remedy:
    'Start Node.js with --disable-wasm-trap-handler, for example in NODE_OPTIONS, or raise the limit of the address space: LimitAS in the systemd unit, or ulimit -v.',
};
