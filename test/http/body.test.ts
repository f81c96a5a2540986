import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { BodyMemory, bufferBody } from '../../src/http/body.js';
import { waitUntil } from '../support/wait-for.js';

const MIB = 2 ** 20;
const content = Buffer.from(Array.from({ length: 3 * MIB }, (_, index) => index % 251));

function inChunks(bytes: Buffer, size: number): Readable {
  const count = Math.ceil(bytes.length / size);
  return Readable.from(Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size)));
}

describe('bufferBody', () => {
  it.each([1000, 65_536, 3 * MIB])('reads the whole body in chunks of %i bytes', async (size) => {
    const body = await bufferBody(inChunks(content, size), { maxBytes: 8 * MIB, memory: new BodyMemory() });
    expect(body.bytes.equals(content)).toBe(true);
  });

  it('accepts a body of exactly the maximum size and rejects a larger one', async () => {
    const memory = new BodyMemory();
    const whole = await bufferBody(inChunks(content, 65_536), { maxBytes: content.length, memory });
    expect(whole.bytes).toHaveLength(content.length);
    const options = { maxBytes: content.length - 1, memory };
    const tooLarge = { reason: 'too_large', message: 'body is larger than 3145727B (poll.max_body_size)' };
    await expect(bufferBody(inChunks(content, 65_536), options)).rejects.toMatchObject(tooLarge);
    const named = bufferBody(inChunks(content, 65_536), { ...options, limitName: '' });
    await expect(named).rejects.toMatchObject({ message: 'body is larger than 3145727B' });
  });
});

describe('the memory of bodies', () => {
  const MAX_BYTES = 4 * MIB;

  /** Bodies of the maximum size that arrive together, and the bytes that all of them have taken. */
  function startBodies(count: number, memory: BodyMemory, signal?: AbortSignal) {
    let takenBytes = 0;
    const bodies = Array.from({ length: count }, async () => {
      const body = Readable.from(
        (function* () {
          for (let chunk = 0; chunk < 4; chunk += 1) {
            takenBytes += MIB;
            yield Buffer.alloc(MIB);
          }
        })(),
        { highWaterMark: 1 },
      );
      return bufferBody(body, { maxBytes: MAX_BYTES, memory, ...(signal && { signal }) });
    });
    return { bodies, taken: () => takenBytes };
  }

  /** What bodies that wait have read already: one chunk that is not counted yet, and one in their stream. */
  const unread = (count: number): number => 2 * count * MIB;

  it('is that of four bodies at most, however many arrive together', async () => {
    const memory = new BodyMemory();
    const { bodies, taken } = startBodies(20, memory);
    const first = await bodies[0];
    await waitUntil(() => taken() >= 4 * MAX_BYTES);
    expect(taken()).toBeLessThanOrEqual(4 * MAX_BYTES + unread(20));
    let completed = 0;
    for (const body of bodies) {
      // oxlint-disable-next-line no-await-in-loop -- each is read after the one before
      const { bytes, release } = await body;
      completed += 1;
      expect(bytes).toHaveLength(MAX_BYTES);
      expect(taken()).toBeLessThanOrEqual((completed + 3) * MAX_BYTES + unread(20));
      release();
    }
    first?.release();
  });

  it('is used again after a body that is cut off or too large', async () => {
    const memory = new BodyMemory();
    const broken = Readable.from(
      (async function* () {
        yield Buffer.alloc(3 * MAX_BYTES);
        throw new Error('cut');
      })(),
    );
    await expect(bufferBody(broken, { maxBytes: 16 * MIB, memory })).rejects.toThrow('cut');
    const tooLarge = Readable.from(Array.from({ length: 5 }, () => Buffer.alloc(MIB)));
    await expect(bufferBody(tooLarge, { maxBytes: MAX_BYTES, memory })).rejects.toMatchObject({ reason: 'too_large' });
    const { bodies } = startBodies(3, memory);
    expect(await Promise.all(bodies)).toHaveLength(3);
  });

  it('is waited for until the deadline of the poll', async () => {
    const memory = new BodyMemory();
    const held = await Promise.all(startBodies(3, memory).bodies);
    const deadline = new AbortController();
    const [late] = startBodies(1, memory, deadline.signal).bodies;
    deadline.abort();
    await expect(late).rejects.toThrow('aborted');
    for (const { release } of held) release();
    expect(await Promise.all(startBodies(3, memory).bodies)).toHaveLength(3);
  });
});
