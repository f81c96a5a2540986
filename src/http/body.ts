import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { formatSize } from '../settings/units.js';
import { RequestError } from './failure-reasons.js';

/** Size of the first buffer. It grows to Content-Length only when it is full, so that a false header does not allocate memory. */
const INITIAL_BYTES = 2 ** 20;

/** Bodies of the maximum size that are in memory together; see `MEMORY_PER_BODY_BYTE` in config/memory.ts. */
const BODIES_IN_MEMORY = 4;

/** Counts the memory of all response bodies until they are decoded, and limits the fetches to it. */
export class BodyMemory {
  /** Of the buffers that are in use, and of the reservations of fetches that had to wait. */
  #usedBytes = 0;
  readonly #waiting: { readonly maxBytes: number; readonly start: () => void }[] = [];

  /**
   * Resolves when there is memory for a body of at most `maxBytes`, first come, first served. A fetch waits while bodies, most of
   * them decoded one after the other, take several times as much, and reserves that size then: otherwise, all that wait would start
   * together. The returned function ends the reservation.
   */
  async reserve(maxBytes: number): Promise<() => void> {
    if (this.#waiting.length === 0 && this.#hasMemory(maxBytes)) return () => undefined;
    await new Promise<void>((resolve) => {
      this.#waiting.push({ maxBytes, start: resolve });
    });
    return () => this.release(maxBytes);
  }

  #hasMemory(maxBytes: number): boolean {
    return this.#usedBytes <= (BODIES_IN_MEMORY - 1) * maxBytes;
  }

  /** Allocates a buffer with arbitrary content, at the beginning of a memory of its own. */
  allocate(bytes: number): Buffer<ArrayBuffer> {
    this.#usedBytes += bytes;
    return Buffer.allocUnsafeSlow(bytes);
  }

  release(bytes: number): void {
    this.#usedBytes -= bytes;
    for (let [next] = this.#waiting; next !== undefined && this.#hasMemory(next.maxBytes); [next] = this.#waiting) {
      this.#waiting.shift();
      this.#usedBytes += next.maxBytes;
      next.start();
    }
  }
}

export interface BufferedBody {
  /** At the beginning of a memory of its own, so that it can be transferred to another thread. */
  readonly bytes: Buffer<ArrayBuffer>;
  /** Called when `bytes` are no longer used, also after a transfer to another thread. */
  readonly release: () => void;
}

/** Reads a body into one buffer. Throws if it is larger than the limit. */
export async function bufferBody(
  body: Readable,
  maxBytes: number,
  contentLength: number | undefined,
  memory: BodyMemory,
): Promise<BufferedBody> {
  let buffer = memory.allocate(Math.min(INITIAL_BYTES, maxBytes, contentLength ?? INITIAL_BYTES));
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const needed = length + chunk.length;
      if (needed > maxBytes) {
        throw new RequestError('too_large', `body is larger than ${formatSize(maxBytes)} (poll.max_body_size)`);
      }
      if (needed > buffer.length) {
        const larger = memory.allocate(Math.min(maxBytes, Math.max(contentLength ?? 0, 2 * buffer.length, needed)));
        buffer.copy(larger, 0, 0, length);
        memory.release(buffer.length);
        buffer = larger;
      }
      chunk.copy(buffer, length);
      length = needed;
    }
  } catch (error) {
    memory.release(buffer.length);
    throw error;
  }
  // Read before a transfer to another thread, which empties the buffer.
  const { byteLength } = buffer;
  return { bytes: buffer.subarray(0, length), release: () => memory.release(byteLength) };
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
