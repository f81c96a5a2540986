import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { formatSize } from '../config/kit/units.js';
import { RequestError } from './errors.js';

/** Size of the first buffer. It grows to Content-Length only when it is full, so that a false header does not allocate memory. */
const INITIAL_BYTES = 2 ** 20;

/** After startup few polls overlap, so more free buffers would not be used. */
const MAX_FREE_BUFFERS = 4;
/** Reading a larger document takes so long that a new buffer makes no difference. */
const MAX_REUSED_BYTES = 16 * 2 ** 20;

/**
 * Reuses the buffers of response bodies. A Buffer is external memory, which V8 counts when it schedules garbage collection: with a
 * new one for each poll, one target of 1 MB every 2 s takes a fifth more CPU.
 */
export class BufferPool {
  /** Smallest first. */
  readonly #free: Buffer[] = [];

  /** Returns a buffer of at least the given length, with arbitrary content. */
  acquire(minBytes: number): Buffer {
    const index = this.#free.findIndex(({ length }) => length >= minBytes);
    const [buffer = Buffer.allocUnsafeSlow(minBytes)] = index === -1 ? [] : this.#free.splice(index, 1);
    return buffer;
  }

  /** Takes back a buffer that is no longer in use, and drops the smallest one when there are too many. */
  release(buffer: Buffer): void {
    if (buffer.length > MAX_REUSED_BYTES) return;
    const index = this.#free.findIndex(({ length }) => length >= buffer.length);
    this.#free.splice(index === -1 ? this.#free.length : index, 0, buffer);
    if (this.#free.length > MAX_FREE_BUFFERS) this.#free.shift();
  }
}

export interface BufferedBody {
  readonly bytes: Buffer;
  /** Returns the buffer to the pool. `bytes` must not be used afterwards. */
  readonly release: () => void;
}

/** Reads a body into one buffer. Throws if it is larger than the limit. */
export async function bufferBody(
  body: Readable,
  maxBytes: number,
  contentLength: number | undefined,
  pool: BufferPool,
): Promise<BufferedBody> {
  let buffer = pool.acquire(Math.min(INITIAL_BYTES, maxBytes, contentLength ?? INITIAL_BYTES));
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const needed = length + chunk.length;
      if (needed > maxBytes) {
        throw new RequestError('too_large', `body is larger than ${formatSize(maxBytes)} (poll.max_body_size)`);
      }
      if (needed > buffer.length) {
        const larger = pool.acquire(Math.min(maxBytes, Math.max(contentLength ?? 0, 2 * buffer.length, needed)));
        buffer.copy(larger, 0, 0, length);
        pool.release(buffer);
        buffer = larger;
      }
      chunk.copy(buffer, length);
      length = needed;
    }
  } catch (error) {
    pool.release(buffer);
    throw error;
  }
  return { bytes: buffer.subarray(0, length), release: () => pool.release(buffer) };
}

type HeaderValue = string | string[] | undefined;

/** The body without its content encoding; `undefined` for an encoding other than gzip, the only one that is requested. */
export function decompressBody(body: Readable, contentEncoding: HeaderValue): Readable | undefined {
  switch (String(contentEncoding ?? 'identity').toLowerCase()) {
    case 'identity':
      return body;
    case 'gzip':
    case 'x-gzip':
      return pipeline(body, createGunzip(), () => undefined);
    default:
      return undefined;
  }
}

/** The length of the decoded body, if the response announces it. */
export function parseContentLength(headers: Readonly<Record<string, HeaderValue>>): number | undefined {
  const length = headers['content-length'];
  const isEncoded = headers['content-encoding'] !== undefined;
  return typeof length === 'string' && !isEncoded && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}
