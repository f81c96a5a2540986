import { request, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { NodeConnection } from '../config/endpoint-config.js';
import type { HttpClientConfig } from '../config/http-client-config.js';
import { resolveHttpConfig, type ResolvedHttpConfig } from '../config/resolved-http-config.js';
import { requestUrl, sourceOf } from '../config/urls.js';
import { cleanText } from '../text/untrusted-text.js';
import { BodyMemory, bufferBody, decompressBody, type BufferedBody } from './body.js';
import { openConnection } from './connection.js';
import { readErrorResponse, type Clean } from './error-response.js';
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

/** What a request has besides its URL. By default, it is a GET request. */
interface RequestOptions {
  /** The JSON body of a POST request. */
  readonly json?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the limit of the body is not that of the setting. */
  readonly hasFixedLimit?: boolean;
}

export interface FetchedDocument {
  readonly ok: true;
  /** The caller releases it. */
  readonly body: BufferedBody;
  /** The hub height of the document, as the server has sent it (height-header.ts). */
  readonly height: string | undefined;
  /** Makes one line of text that the server has sent, without the secrets of the request. */
  readonly clean: (text: string) => string;
}

export interface Client {
  /**
   * Fetches one document. `path` is appended to the URL of the node, and may have a query. Every expected failure is a value, whose message
   * begins with host and path. Redirects are not followed, because credentials would be sent to the new address. Files with passwords, tokens
   * and certificates are read for each request.
   */
  readonly fetch: (
    node: NodeConnection,
    path: string,
    limits: FetchLimits,
    options?: RequestOptions,
  ) => Promise<FetchedDocument | FailedFetch>;
  /** Ends the fetches that are in progress. */
  readonly close: () => void;
}

export function createClient(userAgent: string): Client {
  const memory = new BodyMemory();
  const running = new Set<AbortController>();
  return {
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
        const socket = await openConnection(url, config, signal);
        const response = await sendRequest(socket, url, config, userAgent, options);
        const { 'content-encoding': encoding } = response.headers;
        const body = decompressBody(response, encoding);
        if (response.statusCode !== 200) {
          const isAuthenticated = node.url.path !== undefined || hasCredentials(node);
          throw await readErrorResponse(response, body, timeoutMs, { url, path, isAuthenticated, clean });
        }
        if (body === undefined) {
          throw new RequestError('not_json', `unsupported content encoding ${clean(String(encoding))}`);
        }
        const limitName = options.hasFixedLimit ? '' : ' (poll.max_body_size)';
        const buffered = await bufferBody(body, { maxBytes: maxBodyBytes, limitName, memory, signal });
        const height = heightText(response);
        return { ok: true, body: buffered, height: height === undefined ? undefined : clean(height), clean };
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

/** Whether the request has something that the server can reject. Any header but the name of the client can be a key. */
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

/** Sends a request on a connection of its own. Resolves with the response as soon as it has its headers. */
async function sendRequest(
  socket: Socket,
  url: URL,
  { headers: configured, proxy }: ResolvedHttpConfig,
  userAgent: string,
  { json, headers }: RequestOptions,
): Promise<IncomingMessage> {
  if (socket.destroyed) throw new Error('the connection was closed');
  // A proxy receives requests to http nodes with an absolute URL. Requests to https nodes use a CONNECT tunnel.
  const forwarding = url.protocol === 'http:' ? proxy : undefined;
  const sent = request({
    createConnection: () => socket,
    method: json === undefined ? 'GET' : 'POST',
    path: forwarding === undefined ? url.pathname + url.search : url.href,
    maxHeaderSize: MAX_HEADER_BYTES,
    headers: {
      host: url.host,
      connection: 'close',
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
  return new Promise((resolve, reject) => {
    sent.on('response', resolve);
    sent.on('error', reject);
    // After a response that switches protocols, there is no error.
    sent.on('close', () => reject(new Error('the connection was closed')));
    sent.end(json);
  });
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
    // Until then, the message names the addresses.
    const isConnected = reason !== 'dns' && reason !== 'connect';
    if (isConnected) return { reason: 'timeout', message: `${timedOut} while connecting` };
    const { remedy } = failureReasons[reason];
    return { reason: 'timeout', message: `${timedOut} while connecting: ${message}`, remedy };
  }
  if (isTimeout) return { reason: 'timeout', message: timedOut };
  if (!(error instanceof Error)) return { reason: 'internal', message: `request failed: ${clean(String(error))}` };
  const code = 'code' in error ? String(error.code) : '';
  const message = clean(error.message);
  if (code === 'HPE_HEADER_OVERFLOW') return { reason: 'too_large', message: 'headers are larger than 16 KiB' };
  if (code.startsWith('HPE_')) return { reason: 'aborted', message: `invalid HTTP response: ${message}` };
  if (code.startsWith('Z_')) return { reason: 'not_json', message: `invalid gzip encoding: ${message}` };
  // With TLS 1.3, a node rejects a client certificate after the client has completed the handshake.
  if (code.startsWith('ERR_SSL_')) return { reason: 'tls', message: `request failed: ${message}` };
  return { reason: 'aborted', message: `connection lost: ${message}` };
}

/** Node.js has the bytes that are not HTTP/1.1. */
function detailsOf(error: unknown): RequestError['details'] {
  if (error instanceof RequestError) return error.details;
  const isOther = error instanceof Error && 'rawPacket' in error && isHttp2(String(error.rawPacket));
  return isOther ? { protocol: 'http2' } : {};
}

/** Rejects when the signal is aborted. The promise continues: reading a file that hangs cannot be canceled. */
function rejectOnAbort<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });
  return Promise.race([promise, aborted]);
}
