import { EventEmitter, once } from 'node:events';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { formatSize } from '../config/units.js';
import { RequestError } from './failure-reasons.js';

/** Bodies of the maximum size that are in memory together; see `MEMORY_PER_BODY_BYTE` in config/memory-limits.ts. */
const BODIES_IN_MEMORY = 4;

/** Bounds the memory of the bodies that are received, or wait to be read. */
export class BodyMemory {
  /** The bytes of each body, in the order of their first bytes. */
  readonly #bodies = new Map<object, number>();
  readonly #released = new EventEmitter().setMaxListeners(Infinity);
  /** Without the oldest body, which may have the maximum size too. Bodies have different maximum sizes, of which the largest counts. */
  #maxBytes = 0;
  #usedBytes = 0;

  /**
   * Adds bytes to a body. Waits while all bodies take too much; the oldest one never waits, so that there is always one that is
   * completed, read and released. Rejects when the signal is aborted.
   */
  async add(body: object, bytes: number, maxBytes: number, signal?: AbortSignal): Promise<void> {
    this.#maxBytes = Math.max(this.#maxBytes, (BODIES_IN_MEMORY - 1) * maxBytes);
    this.#bodies.set(body, this.#bodies.get(body) ?? 0);
    while (this.#usedBytes + bytes > this.#maxBytes && this.#bodies.keys().next().value !== body) {
      // oxlint-disable-next-line no-await-in-loop -- until there is memory
      await once(this.#released, 'released', { signal });
    }
    this.#usedBytes += bytes;
    this.#bodies.set(body, (this.#bodies.get(body) ?? 0) + bytes);
  }

  release(body: object): void {
    this.#usedBytes -= this.#bodies.get(body) ?? 0;
    this.#bodies.delete(body);
    this.#released.emit('released');
  }
}

export interface BufferedBody {
  readonly bytes: Buffer;
  /** To be called when the body is not needed any more. Until then it counts against the memory of all bodies. */
  readonly release: () => void;
}

interface BodyOptions {
  readonly maxBytes: number;
  /** The end of the message about a larger body: the name of the setting, if the limit is one. */
  readonly limitName?: string;
  readonly memory: BodyMemory;
  readonly signal?: AbortSignal;
}

/** Reads a body. Throws if it is larger than the limit. */
export async function bufferBody(
  body: Readable,
  { maxBytes, limitName = ' (poll.max_body_size)', memory, signal }: BodyOptions,
): Promise<BufferedBody> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBytes) {
        throw new RequestError('too_large', `body is larger than ${formatSize(maxBytes)}${limitName}`);
      }
      await memory.add(body, chunk.length, maxBytes, signal);
      chunks.push(chunk);
    }
  } catch (error) {
    memory.release(body);
    throw error;
  }
  return { bytes: Buffer.concat(chunks, length), release: () => memory.release(body) };
}

/** Proxies compress a compressed body again, by mistake. */
const MAX_CODINGS = 3;

/** The body without its content encodings, the last of which was applied last; `undefined` for one other than gzip, the only one that is requested. */
export function decompressBody(body: Readable, contentEncoding = ''): Readable | undefined {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > MAX_CODINGS || !codings.every((coding) => coding === 'gzip' || coding === 'x-gzip'))
    return undefined;
  return codings.reduce<Readable>((encoded) => pipeline(encoded, createGunzip(), () => undefined), body);
}
