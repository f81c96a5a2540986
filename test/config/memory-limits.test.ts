import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.js';
import { clampToMemory, maxHeapValues } from '../../src/config/loader.js';
import { defaultConfig } from '../../src/config/config.js';

const MIB = 2 ** 20;
const withMaxBodySize = (mib: number): Config => ({
  ...defaultConfig,
  poll: { ...defaultConfig.poll, max_body_size: mib * MIB },
});

describe('clampToMemory', () => {
  it.each([
    [64, 1],
    [128, 3],
    [256, 16],
    [512, 41],
  ])('lowers max_body_size with a warning: with %i MiB of memory to %i MiB', (memory, body) => {
    const { config, warnings } = clampToMemory(withMaxBodySize(64), memory * MIB);
    expect(config.poll).toEqual({ ...defaultConfig.poll, max_body_size: body * MIB });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toBe(
      `poll.max_body_size (64MiB) does not fit into ${memory}MiB of memory and is lowered to ${body}MiB`,
    );
  });

  it('keeps max_body_size if memory suffices or is unlimited', () => {
    for (const memory of [1024, Infinity]) {
      expect(clampToMemory(withMaxBodySize(64), memory * MIB)).toEqual({
        config: withMaxBodySize(64),
        warnings: [],
      });
    }
    expect(clampToMemory(withMaxBodySize(3), 128 * MIB).warnings).toEqual([]);
  });
});

it('maxHeapValues is what half of the heap can take', () => {
  expect(maxHeapValues(400 * MIB)).toBe(MIB);
  expect(maxHeapValues(2 ** 30)).toBeGreaterThan(2_000_000);
});
