import { describe, expect, it } from 'vitest';
import { orderNodes, withDelay, withProbe, type NodeObservation } from '../../src/sources/node-selection.js';

const NOW = 10_000;

const node = (source: string, parts: Partial<NodeObservation> = {}): NodeObservation => ({
  source,
  blocks: [],
  ...parts,
});

/** A node whose last probe has shown a block of this age. */
const shown = (source: string, ageSeconds: number, at = NOW, parts: Partial<NodeObservation> = {}): NodeObservation =>
  node(source, { blocks: [{ at, height: BigInt(at - ageSeconds), seconds: at - ageSeconds }], ...parts });

describe('the order of nodes', () => {
  const good = { goodSince: NOW - 600 };
  const recent = { goodSince: NOW - 599 };
  const failed = (goodSince?: number) => ({
    failed: { since: 0, documentAt: NOW - 900, message: 'failed' },
    goodSince,
  });
  const behind = { behind: { since: 0, message: 'behind' } };

  it.each<readonly [string, readonly Partial<NodeObservation>[], number | undefined, string]>([
    ['is that of the configuration at the start', [{}, {}, {}], undefined, 'ABC'],
    ['begins with the one in use', [recent, good, good], 1, 'BCA'],
    ['begins with an earlier one that has been good for ten minutes', [good, good, good], 2, 'ABC'],
    ['has one in use that is behind after the next usable one', [behind, good, good], 0, 'BCA'],
    ['has one that answers its probes again before one that is behind', [failed(), behind, failed(NOW - 60)], 1, 'CBA'],
    [
      'counts what has answered probes for ten minutes as usable',
      [failed(NOW - 600), good, failed(NOW - 60)],
      1,
      'ABC',
    ],
  ])('%s', (_title, parts, inUse, expected) => {
    const nodes = parts.map((each, index) => ({ observation: node('ABC'[index] ?? '', each) }));
    const order = orderNodes(nodes, inUse === undefined ? undefined : nodes[inUse], NOW);
    expect(order.map(({ observation }) => observation.source).join('')).toBe(expected);
  });
});

describe('a node is behind', () => {
  const behindOf = (own: NodeObservation, others: readonly NodeObservation[], isInUse = true, at = NOW) =>
    withDelay(own, [own, ...others], at, isInUse).behind?.message;

  it('by more than a minute, and not less', () => {
    expect(behindOf(shown('A', 62), [shown('B', 2)])).toBeUndefined();
    expect(behindOf(shown('A', 63), [shown('B', 2)])).toBe('A is 61 s behind B');
  });

  it('only another node that has not another bridge id', () => {
    const own = shown('A', 300, NOW, { bridgeId: 'a' });
    expect(behindOf(own, [shown('B', 2, NOW, { bridgeId: 'b' })])).toBeUndefined();
    expect(behindOf(own, [shown('B', 2, NOW, { bridgeId: 'a' })])).toBeDefined();
    expect(behindOf(own, [shown('B', 2)])).toBeDefined();
  });

  it('only by blocks that were shown within two minutes of each other', () => {
    expect(behindOf(shown('A', 300), [shown('B', 2, NOW - 121)])).toBeUndefined();
    expect(behindOf(shown('A', 300), [shown('B', 2, NOW - 119)])).toBeDefined();
  });

  it('neither because it was asked earlier, nor because the chain stands', () => {
    expect(behindOf(shown('A', 2, NOW - 110), [shown('B', 2)])).toBeUndefined();
    expect(behindOf(shown('A', 300), [shown('B', 190, NOW - 110)])).toBeUndefined();
  });

  it('by the document that it served, whatever its probes show', () => {
    const probed = [110, 40].reduce(
      (before, age) => withProbe(before, NOW - age, { at: NOW - age, height: BigInt(NOW - age), seconds: NOW - age }),
      node('A'),
    );
    const peers = [shown('B', 2, NOW - 40), shown('B', 2, NOW - 110)];
    const cached = { ...probed, document: { at: NOW, height: BigInt(NOW - 120) } };
    expect(behindOf(cached, peers)).toBe('A is 70 s behind B');
    expect(behindOf({ ...probed, document: { at: NOW, height: BigInt(NOW - 50) } }, peers)).toBeUndefined();
    // Later, the document of a node that is not in use says nothing.
    expect(behindOf(cached, peers, false, NOW + 121)).toBeUndefined();
  });

  it('and is good again from when it is not', () => {
    const own = withDelay(shown('A', 100, NOW, { goodSince: 0 }), [shown('B', 2)], NOW, false);
    expect(own.goodSince).toBeUndefined();
    expect(withProbe(own, NOW + 60, undefined).goodSince).toBe(NOW + 60);
  });
});
