import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compress = promisify(gzip);

/** What is answered: as it is, and compressed once when that is first asked for. */
export interface CompressedText {
  readonly plain: Buffer;
  readonly gzip: () => Promise<Buffer>;
}

export function compressedText(text: string): CompressedText {
  const plain = Buffer.from(text);
  let compressed: Promise<Buffer> | undefined;
  return { plain, gzip: () => (compressed ??= compress(plain, { level: 1 })) };
}
