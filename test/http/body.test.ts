import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { BodyBudget, bufferBody } from '../../src/http/response.js';

const MIB = 2 ** 20;
const content = Buffer.from(Array.from({ length: 3 * MIB }, (_, index) => index % 251));

function inChunks(bytes: Buffer, size: number): Readable {
  const count = Math.ceil(bytes.length / size);
  return Readable.from(Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size)));
}

describe('bufferBody', () => {
  it.each([1000, 65_536, 3 * MIB])('reads the whole body in chunks of %i bytes', async (size) => {
    const body = await bufferBody(inChunks(content, size), 8 * MIB, new BodyBudget());
    expect(body.bytes.equals(content)).toBe(true);
  });

  it('accepts a body of exactly the maximum size and rejects a larger one', async () => {
    const memory = new BodyBudget();
    const whole = await bufferBody(inChunks(content, 65_536), content.length, memory);
    expect(whole.bytes).toHaveLength(content.length);
    await expect(
      bufferBody(inChunks(content, 65_536), content.length - 1, memory, 'poll.max_body_size'),
    ).rejects.toMatchObject({
      reason: 'too_large',
      message: 'body is larger than 3145727B (poll.max_body_size)',
    });
    await expect(bufferBody(inChunks(content, 65_536), MIB, memory)).rejects.toMatchObject({
      message: 'body is larger than 1MiB',
    });
  });
});

describe('BodyBudget', () => {
  /** Whether a fetch of at most 1 MiB has to wait. */
  async function isFull(memory: BodyBudget): Promise<boolean> {
    let isWaiting = true;
    const reserve = async (): Promise<void> => {
      const end = await memory.reserve(MIB);
      isWaiting = false;
      end();
    };
    void reserve();
    await new Promise(setImmediate);
    return isWaiting;
  }

  it('lets fetches wait while bodies take much memory, and starts them in order, each with a reservation', async () => {
    const memory = new BodyBudget();
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
    memory.add(20 * MIB);
    memory.add(11 * MIB);
    const [first, second] = [reserve('first'), reserve('second')];
    expect(await settled()).toHaveLength(5);
    memory.add(-11 * MIB);
    expect((await settled()).slice(5)).toEqual(['first', 'second']);
    const third = reserve('third');
    expect((await settled()).slice(7)).toEqual([]);
    (await first)();
    (await second)();
    (await third)();
    expect((await settled()).slice(7)).toEqual(['third']);
  });

  it('has what a body takes until it is released', async () => {
    const memory = new BodyBudget();
    const bodies = [
      await bufferBody(inChunks(content, 65_536), 8 * MIB, memory),
      await bufferBody(inChunks(content, 65_536), 8 * MIB, memory),
    ];
    expect(await isFull(memory)).toBe(true);
    for (const body of bodies) body.release();
    expect(await isFull(memory)).toBe(false);
  });

  it('has nothing of a body that is cut off or too large', async () => {
    const memory = new BodyBudget();
    const broken = Readable.from(
      (async function* () {
        yield Buffer.alloc(10 * MIB);
        throw new Error('cut');
      })(),
    );
    await expect(bufferBody(broken, 16 * MIB, memory)).rejects.toThrow('cut');
    const tooLarge = Array.from({ length: 6 }, () => Buffer.alloc(2 * MIB));
    await expect(bufferBody(Readable.from(tooLarge), 11 * MIB, memory)).rejects.toMatchObject({ reason: 'too_large' });
    expect(await isFull(memory)).toBe(false);
  });
});
