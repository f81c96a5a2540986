import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type Dispatcher, errors } from 'undici';
import { type ResolvedHttpConfig, resolveHttpConfig } from '../config/resolved-http-config.js';
import type { HttpClientConfig } from '../config/http-client-config.js';
import { announcedLength, BodyMemory, wholeBody, type Body } from './body.js';
import { headersOf, proxyHeaders, secretsOf } from './credentials.js';
import { createAgents, type Agents } from './agents.js';
import { sanitize, type PollError, type Sanitize, type FailureReason } from './errors.js';
import { ConnectFailure, RequestFailure } from './failure.js';
import { createRedactor } from './redact.js';
import { errorResponse } from './error-response.js';
import { INVALID } from '../json/field.js';
import { type Numeral, parseDecimal } from '../json/numeral.js';

export interface FetchLimits {
  /** For the whole exchange: connecting, headers and body. */
  readonly timeoutMs: number;
  /** Of the body as it is on the wire and decoded, since a small gzip can hold gigabytes. */
  readonly maxBodyBytes: number;
}

export interface FetchedDocument {
  readonly ok: true;
  /** To be released once it is read. */
  readonly body: Body;
  /** Hub height the node says the answer is of; absent without the header. */
  readonly height: Numeral | undefined;
}

export type FetchResult = FetchedDocument | { readonly ok: false; readonly error: PollError };

/** The header of the SDK's gateway, and the plain one that newer nodes add. */
const HEIGHT_HEADERS = ['grpc-metadata-x-cosmos-block-height', 'x-cosmos-block-height'];

const ERROR_BODY = { maxBytes: 64 * 1024, waitMs: 2_000 };

export interface Client {
  /**
   * Fetches one document. Every expected failure is a value; redirects are refused, as credentials would travel along. The
   * files of the reach are read anew each time.
   */
  readonly fetch: (url: URL, limits: FetchLimits, reach?: HttpClientConfig) => Promise<FetchResult>;
  readonly close: () => Promise<void>;
}

export function createClient(userAgent: string): Client {
  const dispatchers = createAgents();
  const memory = new BodyMemory();
  return {
    fetch: (url, limits, reach) => fetchDocument({ url, limits, reach, memory }, userAgent, dispatchers),
    close: () => dispatchers.close(),
  };
}

interface FetchContext {
  readonly url: URL;
  readonly limits: FetchLimits;
  readonly reach: HttpClientConfig | undefined;
  readonly memory: BodyMemory;
}

async function fetchDocument(asked: FetchContext, userAgent: string, dispatchers: Agents): Promise<FetchResult> {
  const deadline = new AbortController();
  const { signal } = deadline;
  // The timer of AbortSignal.timeout cannot be stopped: all of a poll would stay in memory until it would have timed out.
  const timer = setTimeout(() => deadline.abort(new DOMException('over', 'TimeoutError')), asked.limits.timeoutMs);
  let quote: Sanitize = sanitize;
  try {
    const access = await beforeAbort(signal, accessOf(asked.reach));
    const mask = createRedactor(secretsOf(access));
    // Before it is cut to size, or half a secret could be left at the end.
    quote = (text) => sanitize(mask(text));
    const question = requestFor(asked.url, access, userAgent, signal);
    return await dispatchers.use(access, (dispatcher) => exchange(dispatcher, question, asked, quote));
  } catch (thrown) {
    return { ok: false, error: describe(thrown, asked, quote) };
  } finally {
    clearTimeout(timer);
  }
}

const DIRECT: ResolvedHttpConfig = {
  basicAuth: undefined,
  authorization: undefined,
  headers: [],
  tls: undefined,
  proxy: undefined,
};

async function accessOf(reach: HttpClientConfig | undefined): Promise<ResolvedHttpConfig> {
  if (reach === undefined) return DIRECT;
  const read = await resolveHttpConfig(reach);
  if (read.ok) return read.resolved;
  const problems = read.problems.map(({ message }) => sanitize(message)).join('; ');
  throw new RequestFailure('bad_request', `was not asked: ${problems}`);
}

type HttpRequest = Dispatcher.RequestOptions & { readonly signal: AbortSignal };

function requestFor(url: URL, access: ResolvedHttpConfig, userAgent: string, signal: AbortSignal): HttpRequest {
  // A cache between us and the node would hand out an old document as a new one.
  const asked = { accept: '*/*', 'accept-encoding': 'gzip', 'cache-control': 'no-cache', 'user-agent': userAgent };
  const headers = { ...asked, ...headersOf(access) };
  const isProxied = access.proxy !== undefined && url.protocol === 'http:';
  if (!isProxied) return { origin: url.origin, path: url.pathname + url.search, method: 'GET', headers, signal };
  // A proxy is told the whole address, and with the question who asks; of https addresses it is told by CONNECT.
  return {
    origin: url.origin,
    path: url.href,
    method: 'GET',
    headers: { ...headers, ...proxyHeaders(access) },
    signal,
  };
}

async function exchange(
  dispatcher: Dispatcher,
  question: HttpRequest,
  { url, limits: { maxBodyBytes }, memory }: FetchContext,
  quote: Sanitize,
): Promise<FetchResult> {
  const { statusCode, headers, body } = await beforeAbort(question.signal, dispatcher.request(question));
  // Destroying what is not read to its end is meant; undici would otherwise report it as an unhandled error.
  body.on('error', () => undefined);
  try {
    const decoded = decode(body, headers['content-encoding']);
    if (statusCode !== 200) {
      return { ok: false, error: errorResponse(url.pathname, statusCode, await startOf(decoded), quote) };
    }
    if (decoded === undefined) throw new RequestFailure('not_json', `has an unknown content encoding`);
    // Of what is encoded, the length says nothing.
    const announced = decoded === body ? announcedLength(headers['content-length']) : undefined;
    return { ok: true, body: await wholeBody(decoded, maxBodyBytes, announced, memory), height: heightIn(headers) };
  } finally {
    body.destroy();
  }
}

/** The body with its content encoding undone; `undefined` for an encoding that was not asked for. */
function decode(body: Readable, encoding: string | string[] | undefined): Readable | undefined {
  const name = String(encoding ?? 'identity').toLowerCase();
  if (name === 'identity') return body;
  if (name !== 'gzip' && name !== 'x-gzip') return undefined;
  const gunzip = createGunzip();
  body.on('error', (error) => gunzip.destroy(error));
  return body.pipe(gunzip);
}

/** What an error answer says, as far as it comes: the status decides the reason even if its body stalls or has no end. */
async function startOf(body: Readable | undefined): Promise<string> {
  if (body === undefined) return '';
  const chunks: Buffer[] = [];
  let length = 0;
  const stop = setTimeout(() => body.destroy(), ERROR_BODY.waitMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= ERROR_BODY.maxBytes) break;
    }
  } catch {
    // What came before it broke off is all there is to show.
  } finally {
    clearTimeout(stop);
  }
  return Buffer.concat(chunks).subarray(0, ERROR_BODY.maxBytes).toString();
}

function heightIn(headers: Readonly<Record<string, string | string[] | undefined>>): Numeral | undefined {
  for (const name of HEIGHT_HEADERS) {
    const header = headers[name];
    const height = typeof header === 'string' ? parseDecimal(header) : undefined;
    if (height !== undefined && height !== INVALID) return height;
  }
  return undefined;
}

function describe(thrown: unknown, { url, limits: { timeoutMs } }: FetchContext, quote: Sanitize): PollError {
  const told = (reason: FailureReason, message: string): PollError => ({
    reason,
    message: `${url.pathname} ${message}`,
  });
  if (thrown instanceof ConnectFailure) return told(thrown.reason, `could not be asked: ${quote(thrown.message)}`);
  if (thrown instanceof RequestFailure) return told(thrown.reason, thrown.message);
  if (!(thrown instanceof Error)) return told('internal', `failed: ${quote(String(thrown))}`);
  if (thrown.name === 'TimeoutError') return told('timeout', `took over ${timeoutMs} ms (poll.timeout)`);
  const code = 'code' in thrown ? String(thrown.code) : '';
  if (thrown instanceof errors.HeadersOverflowError) return told('too_large', 'has headers over 16 KiB');
  if (code.startsWith('Z_')) return told('not_json', `cannot be decoded: ${quote(thrown.message)}`);
  // In TLS 1.3 a node refuses a client certificate after the client has taken the handshake for completed.
  if (code.startsWith('ERR_SSL_')) return told('tls', `could not be asked: ${quote(thrown.message)}`);
  return told('aborted', `was cut off: ${quote(thrown.message)}`);
}

/** Rejects at the deadline even while connecting, which undici does not give up when it is told to. */
async function beforeAbort<T>(signal: AbortSignal, answered: Promise<T>): Promise<T> {
  answered.catch(() => undefined);
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  return Promise.race([answered, aborted]);
}
