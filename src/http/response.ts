import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { formatSize } from '../units.js';
import { RequestError } from './failure-reasons.js';
import { type Field, INVALID } from '../chain/fields.js';
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

/** The decoded body; `undefined` for another encoding than gzip, the only one that is requested. */
export function decompressBody(body: Readable, contentEncoding: string): Readable | undefined {
  // Servers also send words that are no encoding, such as `utf-8`.
  const codings = contentEncoding.toLowerCase().match(/\b(?:gzip|br|dcb|dcz|deflate|zstd|compress)\b/g) ?? [];
  if (codings.length === 0) return body;
  return codings.length === 1 && codings[0] === 'gzip' ? pipeline(body, createGunzip(), () => undefined) : undefined;
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
