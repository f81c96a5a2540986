import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jumpHash, selectShard } from '../../src/config/shard.js';

const distinctNames = fc.uniqueArray(fc.string(), { maxLength: 60 });

/** The shard of each name. Fails if a name is in two shards. */
function shardsOf(names: readonly string[], count: number): Map<string, number> {
  const shards = new Map<string, number>();
  for (let index = 1; index <= count; index += 1) {
    for (const name of selectShard(names, { index, count })) {
      expect(shards.has(name)).toBe(false);
      shards.set(name, index);
    }
  }
  return shards;
}

const movedNames = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) =>
  [...before].filter(([name, shard]) => after.get(name) !== shard).map(([name]) => name);

// From the tests of github.com/dgryski/go-jump.
test.each([
  [1n, 1, 0],
  [42n, 57, 43],
  [0xdead10ccn, 1, 0],
  [0xdead10ccn, 666, 361],
  [256n, 1024, 520],
])('jumpHash maps key %s of %i buckets to bucket %i', (key, buckets, bucket) => {
  expect(jumpHash(key, buckets)).toBe(bucket);
});

test('a single shard contains all names in their original order', () => {
  expect(selectShard(['b', 'a', 'c'], { index: 1, count: 1 })).toEqual(['b', 'a', 'c']);
});

test('every name is in exactly one shard', () => {
  fc.assert(
    fc.property(distinctNames, fc.integer({ min: 1, max: 80 }), (names, count) => {
      expect([...shardsOf(names, count).keys()].toSorted()).toEqual(names.toSorted());
    }),
  );
});

test('the shard of a name does not change between releases', () => {
  const shards = shardsOf(
    Array.from({ length: 10 }, (_, index) => `chain-0-${index}`),
    3,
  );
  expect(Object.fromEntries(shards)).toMatchInlineSnapshot(`
    {
      "chain-0-0": 1,
      "chain-0-1": 3,
      "chain-0-2": 2,
      "chain-0-3": 1,
      "chain-0-4": 2,
      "chain-0-5": 3,
      "chain-0-6": 2,
      "chain-0-7": 1,
      "chain-0-8": 3,
      "chain-0-9": 3,
    }
  `);
});

test('only names that move to an additional shard change their shard', () => {
  fc.assert(
    fc.property(distinctNames, fc.integer({ min: 1, max: 30 }), (names, count) => {
      const after = shardsOf(names, count + 1);
      expect(movedNames(shardsOf(names, count), after).every((name) => after.get(name) === count + 1)).toBe(true);
    }),
  );
});
