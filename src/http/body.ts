import type { Readable } from 'node:stream';
import { getHeapStatistics } from 'node:v8';
import { HEAP_PER_BODY } from '../config/memory.js';
import { formatSize } from '../config/kit/units.js';
import { RequestFailure } from './failure.js';

/** Taken at the start; what a node announces is believed when this much has come. */
const FIRST_BYTES = 2 ** 20;

/** Kept between polls, in all: as much as the largest body may have, since the memory of the thread is a multiple of that. */
const MAX_SPARE_BYTES = getHeapStatistics().heap_size_limit / HEAP_PER_BODY;

/**
 * Memory for bodies, used again: the collector of garbage counts what is outside its heap as well, and with some megabytes more at
 * each poll it would go through everything each time, which takes as long as reading the document.
 */
export class BodyMemory {
  readonly #maxSpareBytes: number;
  #spare: Buffer[] = [];

  constructor(maxSpareBytes: number = MAX_SPARE_BYTES) {
    this.#maxSpareBytes = maxSpareBytes;
  }

  /** At least so many bytes, with whatever was there before. */
  take(bytes: number): Buffer {
    const found = this.#spare.find(({ length }) => length >= bytes);
    if (found === undefined) return Buffer.allocUnsafeSlow(bytes);
    this.#spare = this.#spare.filter((buffer) => buffer !== found);
    return found;
  }

  /** Only when nothing looks at it any more. The largest that fit are kept, the others are for the collector. */
  give(buffer: Buffer): void {
    if (buffer.length > this.#maxSpareBytes) return;
    this.#spare = [...this.#spare, buffer].toSorted((a, b) => a.length - b.length);
    while (this.#spare.reduce((total, { length }) => total + length, 0) > this.#maxSpareBytes) this.#spare.shift();
  }
}

/** A body in one piece. Its memory is used for another one once it is released. */
export interface Body {
  readonly bytes: Buffer;
  readonly release: () => void;
}

/** All of a body, without ever holding it twice when its length was announced; throws when it is over the limit. */
export async function wholeBody(
  body: Readable,
  maxBytes: number,
  announcedBytes: number | undefined,
  memory: BodyMemory,
): Promise<Body> {
  let bytes = memory.take(Math.min(FIRST_BYTES, maxBytes, announcedBytes ?? FIRST_BYTES));
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const needed = length + chunk.length;
      if (needed > maxBytes)
        throw new RequestFailure('too_large', `is over ${formatSize(maxBytes)} (poll.max_body_size)`);
      if (needed > bytes.length) {
        const grown = memory.take(Math.min(maxBytes, Math.max(announcedBytes ?? 0, 2 * bytes.length, needed)));
        bytes.copy(grown, 0, 0, length);
        memory.give(bytes);
        bytes = grown;
      }
      chunk.copy(bytes, length);
      length = needed;
    }
  } catch (thrown) {
    memory.give(bytes);
    throw thrown;
  }
  return { bytes: bytes.subarray(0, length), release: () => memory.give(bytes) };
}

/** What a header says of the length of the body; nothing when it does not say it plainly. */
export function announcedLength(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}
