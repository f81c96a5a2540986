import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { formatSize } from '../settings/units.js';
import { RequestError } from './failure-reasons.js';

/** Size of the first buffer. It grows to Content-Length only when it is full, so that a false header does not allocate memory. */
const INITIAL_BYTES = 2 ** 20;

/** Bodies of the maximum size that are in memory together; see `MEMORY_PER_BODY_BYTE` in config/memory-limits.ts. */
const BODIES_IN_MEMORY = 4;

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
  readonly #free: Buffer<ArrayBuffer>[] = [];
  /** Of the buffers that are not free, and of the reservations of fetches that had to wait. */
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
    return () => this.#changeUsed(-maxBytes);
  }

  #hasMemory(maxBytes: number): boolean {
    return this.#usedBytes <= (BODIES_IN_MEMORY - 1) * maxBytes;
  }

  #changeUsed(bytes: number): void {
    this.#usedBytes += bytes;
    for (let [next] = this.#waiting; next !== undefined && this.#hasMemory(next.maxBytes); [next] = this.#waiting) {
      this.#waiting.shift();
      this.#usedBytes += next.maxBytes;
      next.start();
    }
  }

  /** Returns a buffer of at least the given length, with arbitrary content. */
  acquire(minBytes: number): Buffer<ArrayBuffer> {
    const index = this.#free.findIndex(({ length }) => length >= minBytes);
    const [buffer = Buffer.allocUnsafeSlow(minBytes)] = index === -1 ? [] : this.#free.splice(index, 1);
    this.#usedBytes += buffer.length;
    return buffer;
  }

  /** A buffer was lost with the thread that it was transferred to. */
  forget(bytes: number): void {
    this.#changeUsed(-bytes);
  }

  /** Takes back a buffer that is no longer in use, and drops the smallest one when there are too many. */
  release(buffer: Buffer<ArrayBuffer>): void {
    this.#changeUsed(-buffer.length);
    if (buffer.length > MAX_REUSED_BYTES) return;
    const index = this.#free.findIndex(({ length }) => length >= buffer.length);
    this.#free.splice(index === -1 ? this.#free.length : index, 0, buffer);
    if (this.#free.length > MAX_FREE_BUFFERS) this.#free.shift();
  }
}

export interface BufferedBody {
  /** At the beginning of a memory of its own, so that it can be transferred to another thread. */
  readonly bytes: Buffer<ArrayBuffer>;
  /**
   * Returns the memory to the pool. `bytes` must not be used afterwards. If it was transferred to another thread, `returned` is what
   * came back.
   */
  readonly release: (returned?: ArrayBuffer) => void;
}

/** Reads a body into one buffer. Throws if it is larger than the limit; the message ends with the name of the setting, if it is one. */
export async function bufferBody(
  body: Readable,
  maxBytes: number,
  contentLength: number | undefined,
  pool: BufferPool,
  limit = ' (poll.max_body_size)',
): Promise<BufferedBody> {
  let buffer = pool.acquire(Math.min(INITIAL_BYTES, maxBytes, contentLength ?? INITIAL_BYTES));
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const needed = length + chunk.length;
      if (needed > maxBytes) {
        throw new RequestError('too_large', `body is larger than ${formatSize(maxBytes)}${limit}`);
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
  const { byteLength } = buffer;
  return {
    bytes: buffer.subarray(0, length),
    release: (returned = buffer.buffer) => {
      if (returned.byteLength === byteLength) pool.release(Buffer.from(returned));
      else pool.forget(byteLength);
    },
  };
}

type HeaderValue = string | string[] | undefined;

/** Proxies compress a compressed body again, by mistake. */
const MAX_CODINGS = 3;

/** The body without its content encodings, the last of which was applied last; `undefined` for one other than gzip, the only one that is requested. */
export function decompressBody(body: Readable, contentEncoding: HeaderValue): Readable | undefined {
  const codings = encodingsIn(contentEncoding);
  if (codings.length > MAX_CODINGS || !codings.every((coding) => coding === 'gzip' || coding === 'x-gzip'))
    return undefined;
  return codings.reduce<Readable>((encoded) => pipeline(encoded, createGunzip(), () => undefined), body);
}

/** A header that is sent several times is a list too. */
function encodingsIn(contentEncoding: HeaderValue): readonly string[] {
  const codings = [contentEncoding ?? ''].flat().flatMap((line) => line.toLowerCase().split(','));
  return codings.map((coding) => coding.trim()).filter((coding) => coding !== '' && coding !== 'identity');
}

/** The length of the decoded body, if the response announces it. */
export function parseContentLength(headers: Readonly<Record<string, HeaderValue>>): number | undefined {
  const length = headers['content-length'];
  const isEncoded = encodingsIn(headers['content-encoding']).length > 0;
  return typeof length === 'string' && !isEncoded && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}
