import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { announcedLength, BodyMemory, wholeBody } from '../../src/http/body.js';

const MIB = 2 ** 20;
const content = Buffer.from(Array.from({ length: 3 * MIB }, (_, index) => index % 251));

function inChunks(bytes: Buffer, size: number): Readable {
  const count = Math.ceil(bytes.length / size);
  return Readable.from(Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size)));
}

describe('a body is put together', () => {
  const announcements = [undefined, 0, 1, 2 * MIB, 3 * MIB, 4 * MIB, 10 ** 15];
  it.each(announcements)('whole, whatever was announced: %s', async (announced) => {
    const memory = new BodyMemory();
    for (const size of [1000, 65_536, 3 * MIB]) {
      const body = await wholeBody(inChunks(content, size), 8 * MIB, announced, memory);
      expect(body.bytes.equals(content)).toBe(true);
      body.release();
    }
  });

  it('up to its limit and not a byte further', async () => {
    const memory = new BodyMemory();
    const whole = await wholeBody(inChunks(content, 65_536), content.length, undefined, memory);
    expect(whole.bytes).toHaveLength(content.length);
    const over = wholeBody(inChunks(content, 65_536), content.length - 1, content.length, memory);
    await expect(over).rejects.toMatchObject({ reason: 'too_large' });
  });

  it('takes no more memory for an announcement than for what has come', async () => {
    const start = content.subarray(0, 100);
    const body = await wholeBody(inChunks(start, 10), 64 * MIB, 64 * MIB, new BodyMemory());
    expect(body.bytes.buffer.byteLength).toBeLessThanOrEqual(MIB);
  });

  it('believes a plain length alone', () => {
    expect(announcedLength('17')).toBe(17);
    for (const header of [undefined, '', '-1', '1e3', '17, 17', ['17'], '9'.repeat(16)]) {
      expect(announcedLength(header)).toBeUndefined();
    }
  });
});

describe('the memory of bodies', () => {
  it('is used again once it is released, and not before', async () => {
    const memory = new BodyMemory();
    const read = async (byte: number) => wholeBody(inChunks(Buffer.alloc(100, byte), 10), MIB, 100, memory);
    const [first, second] = [await read(1), await read(2)];
    expect(second.bytes.buffer).not.toBe(first.bytes.buffer);
    first.release();
    const third = await read(3);
    expect(third.bytes.buffer).toBe(first.bytes.buffer);
    expect(second.bytes.every((byte) => byte === 2)).toBe(true);
    expect(third.bytes.every((byte) => byte === 3)).toBe(true);
  });

  it('comes back from a body that breaks off', async () => {
    const memory = new BodyMemory();
    const taken = memory.take(MIB);
    memory.give(taken);
    const broken = Readable.from(
      (async function* () {
        yield Buffer.alloc(10);
        throw new Error('cut');
      })(),
    );
    await expect(wholeBody(broken, MIB, undefined, memory)).rejects.toThrow('cut');
    expect(memory.take(MIB)).toBe(taken);
  });

  it('keeps no more than some of it, the largest', () => {
    const memory = new BodyMemory(32 * MIB);
    const buffers = Array.from({ length: 100 }, (_, index) => Buffer.alloc((index + 1) * 10_000));
    for (const buffer of [...buffers, Buffer.alloc(64 * MIB)]) memory.give(buffer);
    const kept = buffers
      .toReversed()
      .filter((buffer) => memory.take(buffer.length) === buffer)
      .toReversed();
    const bytes = kept.reduce((total, { length }) => total + length, 0);
    expect(bytes).toBeLessThanOrEqual(32 * MIB);
    expect(bytes).toBeGreaterThan(31 * MIB);
    expect(kept.map(({ length }) => length)).toEqual(buffers.slice(-kept.length).map(({ length }) => length));
  });
});
