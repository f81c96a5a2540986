import fc from 'fast-check';
import { expect, test } from 'vitest';
import { selectShard } from '../../src/cli/shard.js';

const namesOf = (set: number, count: number) => Array.from({ length: count }, (_, index) => `chain-${set}-${index}`);
const distinctNames = fc.uniqueArray(fc.string(), { maxLength: 60 });

/** Shard by name; fails when a name is in two. */
function deal(names: readonly string[], count: number): Map<string, number> {
  const dealt = new Map<string, number>();
  for (let index = 1; index <= count; index += 1) {
    for (const name of selectShard(names, { index, count })) {
      expect(dealt.has(name)).toBe(false);
      dealt.set(name, index);
    }
  }
  return dealt;
}

function sizesOf(dealt: ReadonlyMap<string, number>, count: number): number[] {
  const shards = [...dealt.values()];
  return Array.from({ length: count }, (_, index) => shards.filter((shard) => shard === index + 1).length);
}

const moved = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) =>
  [...before].filter(([name, shard]) => after.get(name) !== shard);

test('one shard has all names, in their order', () => {
  expect(selectShard(['b', 'a', 'c'], { index: 1, count: 1 })).toEqual(['b', 'a', 'c']);
});

test('no names are no names', () => {
  expect(selectShard([], { index: 2, count: 5 })).toEqual([]);
});

test('every name is in exactly one shard', () => {
  fc.assert(
    fc.property(distinctNames, fc.integer({ min: 1, max: 80 }), (names, count) => {
      expect([...deal(names, count).keys()].toSorted()).toEqual(names.toSorted());
    }),
  );
});

test('the order of the list makes no difference', () => {
  fc.assert(
    fc.property(distinctNames, fc.integer({ min: 1, max: 9 }), (names, count) => {
      expect(deal(names.toReversed(), count)).toEqual(deal(names, count));
    }),
  );
});

test('names stay in their shards from release to release', () => {
  expect(deal(namesOf(0, 10), 3)).toMatchInlineSnapshot(`
    Map {
      "chain-0-0" => 1,
      "chain-0-2" => 1,
      "chain-0-3" => 1,
      "chain-0-6" => 1,
      "chain-0-5" => 2,
      "chain-0-7" => 2,
      "chain-0-8" => 2,
      "chain-0-1" => 3,
      "chain-0-4" => 3,
      "chain-0-9" => 3,
    }
  `);
});

test('five shards of a thousand names have each once, are even within 5 %, and a sixth shard takes a sixth', () => {
  for (let set = 0; set < 40; set += 1) {
    const names = namesOf(set, 1_000);
    const five = deal(names, 5);
    const six = deal(names, 6);
    expect([five.size, six.size]).toEqual([1_000, 1_000]);
    const sizes = sizesOf(five, 5);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(190);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(210);
    const movers = moved(five, six);
    expect(movers.length).toBeGreaterThan(158);
    expect(movers.length).toBeLessThan(176);
    expect(movers.every(([name]) => six.get(name) === 6)).toBe(true);
  }
});

test('one more shard moves nothing but what it takes, whatever the numbers', () => {
  fc.assert(
    fc.property(distinctNames, fc.integer({ min: 1, max: 30 }), (names, count) => {
      const after = deal(names, count + 1);
      expect(moved(deal(names, count), after).every(([name]) => after.get(name) === count + 1)).toBe(true);
    }),
  );
});

test('one more name moves a handful of a thousand at most', () => {
  const counts = Array.from({ length: 40 }, (_, set) => {
    const names = namesOf(set, 1_000);
    return moved(deal(names, 5), deal([...names, `new-${set}`], 5)).length;
  });
  expect(Math.max(...counts)).toBeLessThanOrEqual(10);
  expect(counts.reduce((sum, count) => sum + count, 0) / counts.length).toBeLessThan(2.5);
});

test('more shards than names leave some empty', () => {
  expect(sizesOf(deal(['a', 'b'], 5), 5).filter((size) => size > 0)).toEqual([1, 1]);
});

test('ten thousand names over a thousand shards take seconds at most', () => {
  expect(selectShard(namesOf(1, 10_000), { index: 1_000, count: 1_000 })).not.toEqual([]);
});
