import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Agent, buildConnector, type Dispatcher, errors, request } from 'undici';
import { formatSize } from '../config/units.js';
import type { Digits } from './decimal.js';
import { quoted, type ChainError, type Reason } from './error.js';
import { refusal } from './refusal.js';
import { WRONG } from './reading.js';
import { readNumber } from './scalars.js';

export interface FetchLimits {
  /** For the whole exchange: connecting, headers and body. */
  readonly timeoutMs: number;
  /** Of the body as it is on the wire and decoded, since a small gzip can hold gigabytes. */
  readonly maxBodyBytes: number;
}

export interface Answer {
  readonly ok: true;
  readonly body: Buffer;
  /** Hub height the node says the answer is of; absent without the header. */
  readonly height: Digits | undefined;
}

export type FetchResult = Answer | { readonly ok: false; readonly error: ChainError };

/** The header of the SDK's gateway, and the plain one that newer nodes add. */
const HEIGHT_HEADERS = ['grpc-metadata-x-cosmos-block-height', 'x-cosmos-block-height'];

const ERROR_BODY = { maxBytes: 64 * 1024, waitMs: 2_000 };

export interface Client {
  /** Fetches one document. Every expected failure is a value; redirects are refused, as credentials would travel along. */
  readonly fetch: (url: URL, limits: FetchLimits) => Promise<FetchResult>;
  readonly close: () => Promise<void>;
}

export function createClient(userAgent: string): Client {
  const agent = new Agent({ connect: connector(), headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 16 * 1024 });
  return {
    fetch: (url, limits) => fetchDocument(agent, url, limits, userAgent),
    close: () => agent.destroy(),
  };
}

async function fetchDocument(
  dispatcher: Dispatcher,
  url: URL,
  limits: FetchLimits,
  userAgent: string,
): Promise<FetchResult> {
  const signal = AbortSignal.timeout(limits.timeoutMs);
  try {
    return await exchange(dispatcher, url, limits, userAgent, signal);
  } catch (thrown) {
    return { ok: false, error: describe(thrown, url, limits) };
  }
}

async function exchange(
  dispatcher: Dispatcher,
  url: URL,
  { maxBodyBytes }: FetchLimits,
  userAgent: string,
  signal: AbortSignal,
): Promise<FetchResult> {
  // A cache between us and the node would hand out an old document as a new one.
  const asked = { accept: '*/*', 'accept-encoding': 'gzip', 'cache-control': 'no-cache', 'user-agent': userAgent };
  const answered = request(url, { dispatcher, signal, headers: asked });
  const { statusCode, headers, body } = await beforeAbort(signal, answered);
  // Destroying what is not read to its end is meant; undici would otherwise report it as an unhandled error.
  body.on('error', () => undefined);
  try {
    const decoded = decode(body, headers['content-encoding']);
    if (statusCode !== 200) {
      return { ok: false, error: refusal(url.pathname, statusCode, await startOf(decoded)) };
    }
    if (decoded === undefined) throw new Failure('not_json', `has an unknown content encoding`);
    return { ok: true, body: await whole(decoded, maxBodyBytes), height: heightIn(headers) };
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

async function whole(body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new Failure('too_large', `is over ${formatSize(maxBytes)} (poll.max_body_size)`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
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

function heightIn(headers: Readonly<Record<string, string | string[] | undefined>>): Digits | undefined {
  for (const name of HEIGHT_HEADERS) {
    const height = readNumber(headers[name]);
    if (height !== undefined && height !== WRONG) return height;
  }
  return undefined;
}

class Failure extends Error {
  readonly reason: Reason;
  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Marks what happens before a connection stands, so that a reset in a handshake is told from one in an answer. */
class ConnectFailure extends Failure {}

function connector(): buildConnector.connector {
  const connect = buildConnector({});
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (error === null) callback(null, socket);
      else callback(new ConnectFailure(connectReason(error, options.protocol), error.message), null);
    });
  };
}

function connectReason(error: Error, protocol: string): Reason {
  if (error instanceof errors.ConnectTimeoutError) return 'timeout';
  // Trying several addresses gives an AggregateError; they failed alike.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const syscall = first instanceof Error && 'syscall' in first ? first.syscall : undefined;
  if (syscall === 'getaddrinfo') return 'dns';
  return syscall === 'connect' || protocol !== 'https:' ? 'connect' : 'tls';
}

function describe(thrown: unknown, url: URL, { timeoutMs }: FetchLimits): ChainError {
  const told = (reason: Reason, message: string): ChainError => ({ reason, message: `${url.pathname} ${message}` });
  if (thrown instanceof ConnectFailure) return told(thrown.reason, `could not be asked: ${quoted(thrown.message)}`);
  if (thrown instanceof Failure) return told(thrown.reason, thrown.message);
  if (!(thrown instanceof Error)) return told('internal', `failed: ${quoted(String(thrown))}`);
  if (thrown.name === 'TimeoutError') return told('timeout', `took over ${timeoutMs} ms (poll.timeout)`);
  const code = 'code' in thrown ? String(thrown.code) : '';
  if (thrown instanceof errors.HeadersOverflowError) return told('too_large', 'has headers over 16 KiB');
  if (code.startsWith('Z_')) return told('not_json', `cannot be decoded: ${quoted(thrown.message)}`);
  return told('aborted', `was cut off: ${quoted(thrown.message)}`);
}

/** Rejects at the deadline even while connecting, which undici does not give up when it is told to. */
async function beforeAbort<T>(signal: AbortSignal, answered: Promise<T>): Promise<T> {
  answered.catch(() => undefined);
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  return Promise.race([answered, aborted]);
}
