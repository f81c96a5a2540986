import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.js';
import { defaultConfig } from '../../src/config/schema.js';
import { clampToMemory, workerHeapMb } from '../../src/config/memory.js';

const MIB = 2 ** 20;
const allowed = (mib: number) => ({ bytes: mib * MIB, heapBytes: 4096 * MIB });
const bodies = (mib: number): Config => ({
  ...defaultConfig,
  poll: { ...defaultConfig.poll, maxBodyBytes: mib * MIB },
});

describe('clampToMemory', () => {
  it.each([
    [64, 1],
    [128, 3],
    [256, 16],
    [512, 41],
  ])('with %i MiB of memory, lowers max_body_size to %i MiB and warns', (memory, body) => {
    const { config, warnings } = clampToMemory(bodies(64), allowed(memory));
    expect(config.poll).toEqual({ ...defaultConfig.poll, maxBodyBytes: body * MIB });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toBe(
      `poll.max_body_size (64MiB) does not fit into ${memory}MiB of memory and is lowered to ${body}MiB`,
    );
  });

  it('keeps max_body_size if memory suffices or is unlimited', () => {
    for (const memory of [1024, Infinity]) {
      expect(clampToMemory(bodies(64), allowed(memory))).toEqual({ config: bodies(64), warnings: [] });
    }
    expect(clampToMemory(bodies(3), allowed(128)).warnings).toEqual([]);
  });
});

it('workerHeapMb follows max_body_size, up to half of the memory', () => {
  expect(workerHeapMb(bodies(64), allowed(Infinity))).toBe(384);
  expect(workerHeapMb(bodies(41), allowed(400))).toBe(200);
  expect(workerHeapMb(bodies(511), { bytes: Infinity, heapBytes: 2048 * MIB })).toBe(1024);
  expect(workerHeapMb(bodies(1), allowed(64))).toBe(48);
});
