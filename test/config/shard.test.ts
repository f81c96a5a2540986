import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isInShard } from '../../src/config/config.js';

const shardsOf = (name: string, count: number): number[] =>
  Array.from({ length: count }, (_, index) => index + 1).filter((index) => isInShard(name, { index, count }));

test('every name is in exactly one shard', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 80 }), (name, count) => {
      expect(shardsOf(name, count)).toHaveLength(1);
    }),
  );
});

test('the shard of a name does not change between releases', () => {
  const shards = Array.from({ length: 10 }, (_, index) => shardsOf(`chain-0-${index}`, 3));
  expect(shards.flat()).toEqual([3, 3, 3, 2, 2, 1, 1, 1, 3, 2]);
});

test('names that differ in a number are spread evenly', () => {
  const sizes = [0, 0, 0, 0, 0];
  for (let index = 0; index < 1_000; index += 1) {
    for (const shard of shardsOf(`chain-${index}`, 5)) sizes[shard - 1] = (sizes[shard - 1] ?? 0) + 1;
  }
  expect(Math.max(...sizes)).toBeLessThan(240);
});
