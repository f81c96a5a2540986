import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { formatSize } from '../units.js';
import { RequestError } from './failure-reasons.js';
import { type Field, INVALID } from '../chain/field.js';
import type { Numeral } from '../chain/numeral.js';

/** Reads a body. Throws above the limit; the remedy of the reason names its setting. */
export async function bufferBody(body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new RequestError('too_large', `body is larger than ${formatSize(maxBytes)}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
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
