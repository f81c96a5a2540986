import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { bufferBody, BufferPool, parseContentLength } from '../../src/http/body.js';

const MIB = 2 ** 20;
const content = Buffer.from(Array.from({ length: 3 * MIB }, (_, index) => index % 251));

function inChunks(bytes: Buffer, size: number): Readable {
  const count = Math.ceil(bytes.length / size);
  return Readable.from(Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size)));
}

describe('bufferBody', () => {
  const lengths = [undefined, 0, 1, 2 * MIB, 3 * MIB, 4 * MIB, 10 ** 15];
  it.each(lengths)('reads the whole body whatever the Content-Length: %s', async (contentLength) => {
    const pool = new BufferPool();
    for (const size of [1000, 65_536, 3 * MIB]) {
      const body = await bufferBody(inChunks(content, size), 8 * MIB, contentLength, pool);
      expect(body.bytes.equals(content)).toBe(true);
      body.release();
    }
  });

  it('accepts a body of exactly the maximum size and rejects a larger one', async () => {
    const pool = new BufferPool();
    const whole = await bufferBody(inChunks(content, 65_536), content.length, undefined, pool);
    expect(whole.bytes).toHaveLength(content.length);
    const over = bufferBody(inChunks(content, 65_536), content.length - 1, content.length, pool);
    await expect(over).rejects.toMatchObject({ reason: 'too_large' });
  });

  it('allocates at most 1 MiB for a large Content-Length before the data arrives', async () => {
    const start = content.subarray(0, 100);
    const body = await bufferBody(inChunks(start, 10), 64 * MIB, 64 * MIB, new BufferPool());
    expect(body.bytes.buffer.byteLength).toBeLessThanOrEqual(MIB);
  });
});

describe('parseContentLength', () => {
  const parse = (headers: Readonly<Record<string, string>>) => parseContentLength(headers);

  it('accepts only decimal digits', () => {
    expect(parse({ 'content-length': '17' })).toBe(17);
    expect(parse({})).toBeUndefined();
    for (const header of ['', '-1', '1e3', '17, 17', '9'.repeat(16)]) {
      expect(parse({ 'content-length': header })).toBeUndefined();
    }
  });

  it('ignores the length of an encoded body', () => {
    expect(parse({ 'content-length': '17', 'content-encoding': 'gzip' })).toBeUndefined();
  });
});

describe('BufferPool', () => {
  it('reuses a buffer only after it is released', async () => {
    const pool = new BufferPool();
    const read = async (byte: number) => bufferBody(inChunks(Buffer.alloc(100, byte), 10), MIB, 100, pool);
    const [first, second] = [await read(1), await read(2)];
    expect(second.bytes.buffer).not.toBe(first.bytes.buffer);
    first.release();
    const third = await read(3);
    expect(third.bytes.buffer).toBe(first.bytes.buffer);
    expect(second.bytes.every((byte) => byte === 2)).toBe(true);
    expect(third.bytes.every((byte) => byte === 3)).toBe(true);
  });

  it('gets the buffer back when a body fails', async () => {
    const pool = new BufferPool();
    const buffer = pool.acquire(MIB);
    pool.release(buffer);
    const broken = Readable.from(
      (async function* () {
        yield Buffer.alloc(10);
        throw new Error('cut');
      })(),
    );
    await expect(bufferBody(broken, MIB, undefined, pool)).rejects.toThrow('cut');
    expect(pool.acquire(MIB)).toBe(buffer);
  });

  it('lets fetches wait while bodies take much memory, and starts them in order, each with a reservation', async () => {
    const pool = new BufferPool();
    const started: string[] = [];
    const reserve = async (name: string): Promise<() => void> => {
      const end = await pool.reserve(10 * MIB);
      started.push(name);
      return end;
    };
    const settled = async (): Promise<string[]> => {
      await new Promise(setImmediate);
      return started;
    };
    // Nothing is reserved without waiting: a node that does not respond takes no memory.
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map(reserve));
    const buffers = [20, 11].map((size) => pool.acquire(size * MIB));
    const [first, second] = [reserve('first'), reserve('second')];
    expect(await settled()).toHaveLength(5);
    pool.release(buffers[1] ?? Buffer.alloc(0));
    expect((await settled()).slice(5)).toEqual(['first', 'second']);
    const third = reserve('third');
    expect((await settled()).slice(7)).toEqual([]);
    (await first)();
    (await second)();
    (await third)();
    expect((await settled()).slice(7)).toEqual(['third']);
  });

  it('is told about a buffer that is lost with a thread', async () => {
    const pool = new BufferPool();
    const body = await bufferBody(inChunks(content, 65_536), 8 * MIB, 4 * MIB, pool);
    structuredClone(body.bytes.buffer, { transfer: [body.bytes.buffer] });
    const waiting = pool.reserve(MIB);
    body.release();
    expect(await waiting).toBeTypeOf('function');
  });

  it('takes back the memory of a body that was transferred to a thread and returned', async () => {
    const pool = new BufferPool();
    const body = await bufferBody(inChunks(content, 65_536), 8 * MIB, 4 * MIB, pool);
    const returned = structuredClone(body.bytes.buffer, { transfer: [body.bytes.buffer] });
    body.release(returned);
    expect(pool.acquire(4 * MIB).buffer).toBe(returned);
  });

  it('keeps the four largest buffers of at most 16 MiB', () => {
    const pool = new BufferPool();
    const sizes = [3, 1, 16, 2, 64, 5, 4];
    const buffers = new Map(sizes.map((size) => [size, Buffer.alloc(size * MIB)]));
    for (const buffer of buffers.values()) pool.release(buffer);
    const kept = sizes.toSorted((a, b) => b - a).filter((size) => pool.acquire(size * MIB) === buffers.get(size));
    expect(kept).toEqual([16, 5, 4, 3]);
  });
});
