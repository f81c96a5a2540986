import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { formatSize } from '../units.js';
import type { HttpResponse } from './client.js';
import { RequestError } from './failure-reasons.js';
import { type Field, INVALID } from '../chain/field.js';
import type { Numeral } from '../chain/numeral.js';

/** Bodies of the maximum size that are in memory together; see `MEMORY_PER_BODY_BYTE` in config/memory-limits.ts. */
const BODIES_IN_MEMORY = 4;

/** Bounds the memory of the bodies that are received, or wait to be read. */
export class BodyBudget {
  /** The bytes of bodies in memory, and of the reservations of requests that had to wait. */
  #usedBytes = 0;
  readonly #waiting: { readonly maxBytes: number; readonly start: () => void }[] = [];

  /**
   * Resolves when there is memory for a body of at most `maxBytes`, in the order of the calls. A request that had to
   * wait reserves this size, because all waiting requests would start together otherwise. The returned function ends
   * the reservation.
   */
  async reserve(maxBytes: number): Promise<() => void> {
    if (this.#waiting.length === 0 && this.#hasMemory(maxBytes)) return () => undefined;
    await new Promise<void>((resolve) => {
      this.#waiting.push({ maxBytes, start: resolve });
    });
    return () => this.add(-maxBytes);
  }

  /** Adds the bytes of a body, or takes them off. */
  add(bytes: number): void {
    this.#usedBytes += bytes;
    for (let [next] = this.#waiting; next !== undefined && this.#hasMemory(next.maxBytes); [next] = this.#waiting) {
      this.#waiting.shift();
      this.#usedBytes += next.maxBytes;
      next.start();
    }
  }

  #hasMemory(maxBytes: number): boolean {
    return this.#usedBytes <= (BODIES_IN_MEMORY - 1) * maxBytes;
  }
}

/**
 * Reads a body, which counts against the memory of all bodies until its release. Throws above the limit, whose name is
 * `setting`.
 */
export async function bufferBody(
  body: Readable,
  maxBytes: number,
  memory: BodyBudget,
  setting?: string,
): Promise<Pick<HttpResponse, 'bytes' | 'release'>> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (length + chunk.length > maxBytes) {
        const name = setting === undefined ? '' : ` (${setting})`;
        throw new RequestError('too_large', `body is larger than ${formatSize(maxBytes)}${name}`);
      }
      chunks.push(chunk);
      length += chunk.length;
      memory.add(chunk.length);
    }
  } catch (error) {
    memory.add(-length);
    throw error;
  }
  return { bytes: Buffer.concat(chunks, length), release: () => memory.add(-length) };
}

/** Proxies compress a compressed body again, by mistake. */
const MAX_CODINGS = 3;

/**
 * The decoded body; `undefined` for a compression other than gzip, the only one that is requested. Other words are no
 * compression, such as `utf-8`.
 */
export function decompressBody(body: Readable, contentEncoding: string): Readable | undefined {
  const codings = contentEncoding.toLowerCase().match(/[^\s,]+/g) ?? [];
  const gzips = codings.filter((coding) => coding === 'gzip' || coding === 'x-gzip');
  if (
    gzips.length > MAX_CODINGS ||
    codings.some((coding) => /^(?:br|dcb|dcz|deflate|zstd|(?:x-)?compress)$/.test(coding))
  )
    return undefined;
  // Each coding is gzip, so their order does not matter.
  return gzips.reduce<Readable>((encoded) => pipeline(encoded, createGunzip(), () => undefined), body);
}

/* The hub height of a response: gateways send it as a header or, when the client accepts trailers, as a trailer. */

type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

/** The header of the Cosmos SDK's gateway, the header of newer nodes, and the trailer of the gateway. */
const NAMES = ['grpc-metadata-x-cosmos-block-height', 'x-cosmos-block-height', 'grpc-trailer-x-cosmos-block-height'];

/** The name of the field in messages and metrics. */
export const HEIGHT_FIELD = 'X-Cosmos-Block-Height';

/**
 * The distinct values of these headers and trailers, separated by commas, because proxies repeat headers. `undefined`
 * without a value.
 */
export function heightText(...parts: readonly HeaderFields[]): string | undefined {
  const lines = parts.flatMap((fields) => NAMES.flatMap((name) => fields[name] ?? []));
  const values = new Set(lines.flatMap((line) => line.split(',')).map((value) => value.trim()));
  values.delete('');
  return values.size === 0 ? undefined : Array.from(values).join(', ');
}

/** Gateways send the height 0 when they do not know the height. No block has it. */
export function parseHeight(text: string | undefined): Field<Numeral> {
  if (text === undefined) return undefined;
  return /^[1-9]\d{0,18}$/.test(text) ? BigInt(text) : INVALID;
}
