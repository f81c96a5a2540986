import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { BodyMemory, bufferBody, parseContentLength } from '../../src/http/body.js';

const MIB = 2 ** 20;
const content = Buffer.from(Array.from({ length: 3 * MIB }, (_, index) => index % 251));

function inChunks(bytes: Buffer, size: number): Readable {
  const count = Math.ceil(bytes.length / size);
  return Readable.from(Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size)));
}

describe('bufferBody', () => {
  const lengths = [undefined, 0, 1, 2 * MIB, 3 * MIB, 4 * MIB, 10 ** 15];
  it.each(lengths)('reads the whole body whatever the Content-Length: %s', async (contentLength) => {
    const memory = new BodyMemory();
    for (const size of [1000, 65_536, 3 * MIB]) {
      const body = await bufferBody(inChunks(content, size), 8 * MIB, contentLength, memory);
      expect(body.bytes.equals(content)).toBe(true);
      body.release();
    }
  });

  it('accepts a body of exactly the maximum size and rejects a larger one', async () => {
    const memory = new BodyMemory();
    const whole = await bufferBody(inChunks(content, 65_536), content.length, undefined, memory);
    expect(whole.bytes).toHaveLength(content.length);
    const over = bufferBody(inChunks(content, 65_536), content.length - 1, content.length, memory);
    await expect(over).rejects.toMatchObject({ reason: 'too_large' });
  });

  it('allocates at most 1 MiB for a large Content-Length before the data arrives', async () => {
    const start = content.subarray(0, 100);
    const body = await bufferBody(inChunks(start, 10), 64 * MIB, 64 * MIB, new BodyMemory());
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

describe('BodyMemory', () => {
  it('has the memory of a body back when the body fails', async () => {
    const memory = new BodyMemory();
    const broken = Readable.from(
      (async function* () {
        yield Buffer.alloc(10);
        throw new Error('cut');
      })(),
    );
    await expect(bufferBody(broken, MIB, undefined, memory)).rejects.toThrow('cut');
    // It would wait if the buffer were still counted.
    expect(await memory.reserve(1)).toBeTypeOf('function');
  });

  it('lets fetches wait while bodies take much memory, and starts them in order, each with a reservation', async () => {
    const memory = new BodyMemory();
    const started: string[] = [];
    const reserve = async (name: string): Promise<() => void> => {
      const end = await memory.reserve(10 * MIB);
      started.push(name);
      return end;
    };
    const settled = async (): Promise<string[]> => {
      await new Promise(setImmediate);
      return started;
    };
    // Nothing is reserved without waiting: a node that does not respond takes no memory.
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map(reserve));
    const [, smaller] = [20, 11].map((size) => memory.allocate(size * MIB));
    const [first, second] = [reserve('first'), reserve('second')];
    expect(await settled()).toHaveLength(5);
    memory.release(smaller?.length ?? 0);
    expect((await settled()).slice(5)).toEqual(['first', 'second']);
    const third = reserve('third');
    expect((await settled()).slice(7)).toEqual([]);
    (await first)();
    (await second)();
    (await third)();
    expect((await settled()).slice(7)).toEqual(['third']);
  });

  it('has the memory of a body back that was transferred to a thread', async () => {
    const memory = new BodyMemory();
    const body = await bufferBody(inChunks(content, 65_536), 8 * MIB, 4 * MIB, memory);
    structuredClone(body.bytes.buffer, { transfer: [body.bytes.buffer] });
    const waiting = memory.reserve(MIB);
    body.release();
    expect(await waiting).toBeTypeOf('function');
  });
});
