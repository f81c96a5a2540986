import { pipeline, type Readable } from 'node:stream';
import { getHeapStatistics } from 'node:v8';
import { createGunzip } from 'node:zlib';
import { formatSize } from '../config/kit/units.js';
import { HEAP_PER_BODY } from '../config/memory.js';
import { RequestError } from './errors.js';

/** First buffer of a body. A larger Content-Length is trusted once the buffer is full. */
const INITIAL_BYTES = 2 ** 20;

/** As much as the largest body may have: the heap limit of the worker thread is a multiple of that. */
const MAX_POOLED_BYTES = getHeapStatistics().heap_size_limit / HEAP_PER_BODY;

/**
 * Reuses the buffers of response bodies. A Buffer is external memory, which V8 counts when it schedules garbage collection:
 * allocating megabytes for each poll would cause a full collection each time, which takes as long as reading the document.
 */
export class BufferPool {
  readonly #maxBytes: number;
  /** Smallest first. */
  #free: Buffer[] = [];

  constructor(maxBytes: number = MAX_POOLED_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Returns a buffer of at least the given length, with arbitrary content. */
  acquire(minBytes: number): Buffer {
    const index = this.#free.findIndex(({ length }) => length >= minBytes);
    const [buffer = Buffer.allocUnsafeSlow(minBytes)] = index === -1 ? [] : this.#free.splice(index, 1);
    return buffer;
  }

  /** Takes back a buffer that is no longer in use. Over the limit, the smallest buffers are dropped. */
  release(buffer: Buffer): void {
    if (buffer.length > this.#maxBytes) return;
    this.#free = [...this.#free, buffer].toSorted((a, b) => a.length - b.length);
    while (this.#free.reduce((total, { length }) => total + length, 0) > this.#maxBytes) this.#free.shift();
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

/** The body without its content encoding; `undefined` for an encoding other than gzip, which alone is requested. */
export function decodeBody(body: Readable, contentEncoding: HeaderValue): Readable | undefined {
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
