import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const gzipData = promisify(gzip);

/** Higher levels than 1 take several times as long, and save a tenth. */
export async function compress(data: string | Uint8Array): Promise<Buffer> {
  return gzipData(data, { level: 1 });
}
