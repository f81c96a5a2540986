import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { bufferBody } from '../../src/http/response.js';

const MIB = 2 ** 20;
const content = Buffer.from(Array.from({ length: 3 * MIB }, (_, index) => index % 251));

function inChunks(bytes: Buffer, size: number): Readable {
  const count = Math.ceil(bytes.length / size);
  return Readable.from(Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size)));
}

describe('bufferBody', () => {
  it.each([1000, 65_536, 3 * MIB])('reads the whole body in chunks of %i bytes', async (size) => {
    const body = await bufferBody(inChunks(content, size), 8 * MIB);
    expect(body.equals(content)).toBe(true);
  });

  it('accepts a body of exactly the maximum size and rejects a larger one', async () => {
    expect(await bufferBody(inChunks(content, 65_536), content.length)).toHaveLength(content.length);
    await expect(bufferBody(inChunks(content, 65_536), content.length - 1)).rejects.toMatchObject({
      reason: 'too_large',
      message: 'body is larger than 3145727B',
    });
    await expect(bufferBody(inChunks(content, 65_536), MIB)).rejects.toMatchObject({
      message: 'body is larger than 1MiB',
    });
  });
});
