import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/*
 * A text chunk of the PNG has the hash of the source of a picture. A test compares it with the present source.
 */

const SIGNATURE_BYTES = 8;
const KEYWORD = 'Source';

export function hashOf(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

/** The chunks of a PNG: their types, and the whole chunks. */
function chunksOf(png: Buffer): readonly { readonly type: string; readonly bytes: Buffer }[] {
  const chunks = [];
  for (let start = SIGNATURE_BYTES; start < png.length;) {
    // Length, type, data and checksum.
    const end = start + 12 + png.readUInt32BE(start);
    chunks.push({ type: png.toString('latin1', start + 4, start + 8), bytes: png.subarray(start, end) });
    start = end;
  }
  return chunks;
}

const dataOf = (bytes: Buffer): string => bytes.toString('latin1', 8, bytes.length - 4);

/** The hash in a picture; `undefined` without one. */
export function sourceIn(png: Buffer): string | undefined {
  const texts = chunksOf(png).flatMap(({ type, bytes }) => (type === 'tEXt' ? [dataOf(bytes).split('\0')] : []));
  return texts.find(([keyword]) => keyword === KEYWORD)?.[1];
}

export function withSource(png: Buffer, hash: string): Buffer {
  const content = Buffer.from(`tEXt${KEYWORD}\0${hash}`, 'latin1');
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length - 4);
  checksum.writeUInt32BE(crc32(content));
  const [header, ...rest] = chunksOf(png);
  const text = Buffer.concat([length, content, checksum]);
  return Buffer.concat([png.subarray(0, SIGNATURE_BYTES), header!.bytes, text, ...rest.map(({ bytes }) => bytes)]);
}
