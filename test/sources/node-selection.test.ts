import { describe, expect, it } from 'vitest';
import { failure, type FailureReason } from '../../src/http/failure-reasons.js';
import {
  hasShownMore,
  isChainDue,
  isTrialDue,
  isProbeDue,
  othersOfChain,
  select,
  findTrouble,
  withFailed,
  withFailedProbe,
  withProbe,
  withServed,
} from '../../src/sources/node-selection.js';
import type { NodeObservation, Probe } from '../../src/engine/node-observation.js';

const NEW: NodeObservation = { source: 'n', addedAt: 0 };
const MINUTE = 60;
const HOUR = 3600;

const probeAt = (at: number, lagSeconds = 3, rest: Partial<Probe> = {}): Probe => ({
  at,
  height: BigInt(1000 + at),
  lagSeconds,
  isSyncing: false,
  ...rest,
});

const served = (at: number, before = NEW): NodeObservation => withServed(before, at, BigInt(1000 + at));
const failed = (at: number, before = NEW, reason: FailureReason = 'connect'): NodeObservation =>
  withFailed(before, at, failure(reason, `failed at ${at}`).error);

/** The node after probes, each with the age of its newest block, or `undefined` for a failed probe. */
function probed(probes: readonly (readonly [at: number, lag: number | undefined])[], before = NEW): NodeObservation {
  return probes.reduce(
    (node, [at, lag]) =>
      lag === undefined ? withFailedProbe(node, at, 'refused') : withProbe(node, probeAt(at, lag), []),
    before,
  );
}

const good = (from: number, to: number): readonly (readonly [number, number])[] =>
  Array.from({ length: (to - from) / MINUTE + 1 }, (_, index) => [from + index * MINUTE, 3] as const);

/** The order of nodes that are named by letters. */
function order(
  nodes: readonly NodeObservation[],
  now: number,
  { inUse, chainId }: { inUse?: number; chainId?: string } = {},
): string {
  const names = ['A', 'B', 'C'].slice(0, nodes.length);
  return select(names, { inUse, chainId, nodeObservations: nodes }, now).join('');
}

describe('select', () => {
  it.each([
    ['nodes in the order of preference before anything is observed', 'ABC', order([NEW, NEW, NEW], 0)],
    ['the preferred node, although another one is in use', 'AB', order([served(0), served(0)], 1, { inUse: 1 })],
    ['a node whose document failed after the others', 'BA', order([failed(100), NEW], 101, { inUse: 0 })],
    [
      'a node with good probes after the others when its document failed',
      'BA',
      order([probed(good(120, 480), failed(100)), NEW], 490),
    ],
    ['a node that served a document after a failure again', 'AB', order([served(500, failed(100)), NEW], 501)],
    ['a node that is 300 s behind', 'AB', order([probed([[0, 300]]), NEW], 1)],
    ['a node that is more than 300 s behind after the others', 'BA', order([probed([[0, 301]]), NEW], 1)],
    [
      'a node that was behind after the others until its probes are good for five minutes',
      'BA',
      order([probed([[0, 400], ...good(60, 300)]), NEW], 301),
    ],
    [
      'a node that was behind again after five minutes of good probes',
      'AB',
      order([probed([[0, 400], ...good(60, 360)]), NEW], 361),
    ],
    [
      'a node whose good probes were interrupted after the others',
      'BA',
      order([probed([[0, 400], ...good(60, 240), [300, undefined], ...good(360, 600)]), NEW], 601),
    ],
    ['a node without a probe that answers after one with it', 'BA', order([probed([[0, undefined]]), NEW], 1)],
    [
      'a node whose probe failed after the others until its probes are good for five minutes',
      'BA',
      order([probed([[0, undefined], ...good(60, 300)]), NEW], 301),
    ],
    [
      'a node whose probe failed again after five minutes of good probes',
      'AB',
      order([probed([[0, undefined], ...good(60, 360)]), NEW], 361),
    ],
    [
      'a node whose probe fails again since its last document after the others',
      'BA',
      order([probed([[240, undefined]], served(230, probed([[0, undefined], ...good(60, 180)]))), NEW], 241),
    ],
    [
      'a node that serves documents and no probes in its place',
      'AB',
      order([served(10, probed([[0, undefined]])), NEW], 11),
    ],
    [
      'a node that hung after one that refused',
      'BA',
      order([failed(90, NEW, 'timeout'), failed(100)], 101, { inUse: 0 }),
    ],
    [
      'of two nodes that hung the later one first',
      'BA',
      order([failed(90, NEW, 'timeout'), failed(100, NEW, 'timeout')], 101, { inUse: 0 }),
    ],
    ['of two nodes that failed the one in use first', 'BA', order([failed(90), failed(100)], 101, { inUse: 1 })],
  ])('selects %s', (_title, expected, found) => {
    expect(found).toBe(expected);
  });

  it('skips a node of another chain, and none when all of them have moved to the same other chain', () => {
    const of = (chainId: string) => withProbe(NEW, probeAt(0, 3, { chainId }), []);
    expect(order([of('x-1'), of('x-2'), NEW], 1, { chainId: 'x-1' })).toBe('AC');
    expect(order([of('x-2'), of('x-2')], 1, { chainId: 'x-1' })).toBe('AB');
    expect(findTrouble(of('x-2'), { inUse: 0, chainId: 'x-1', nodeObservations: [of('x-1'), of('x-2')] }, 1)).toEqual({
      since: 0,
      message: 'n is a node of chain x-2, not of chain x-1',
      isDown: true,
    });
  });

  it('rules out a node that is catching up', () => {
    expect(order([withProbe(NEW, probeAt(0, 3, { isSyncing: true }), []), NEW], 1)).toBe('BA');
  });

  it('rules out a node with a block in the future only if the block of another node is not', () => {
    const ahead = probeAt(0, -61);
    expect(order([withProbe(NEW, ahead, [withProbe(NEW, probeAt(0), [])]), NEW], 1)).toBe('BA');
    expect(order([withProbe(NEW, ahead, [withProbe(NEW, probeAt(0, -70), [])]), NEW], 1)).toBe('AB');
    // What the other node has shown is too old.
    expect(order([withProbe(NEW, probeAt(200, -61), [withProbe(NEW, probeAt(0), [])]), NEW], 201)).toBe('AB');
  });
});

describe('a trial after failed documents', () => {
  const trialAfter = (node: NodeObservation): number | undefined => node.failed && node.failed.trialAt - node.failed.at;

  it('is after five minutes, and the time doubles to an hour with each one that fails', () => {
    let node = failed(0);
    const waits = [trialAfter(node)];
    for (let trial = 0; trial < 5; trial += 1) {
      node = failed(node.failed?.trialAt ?? 0, node);
      waits.push(trialAfter(node));
    }
    expect(waits.map((wait = 0) => wait / MINUTE)).toEqual([5, 10, 20, 40, 60, 60]);
  });

  it('is not put off by failures before it, of polls in which all nodes have failed', () => {
    expect(failed(200, failed(100, failed(0))).failed).toMatchObject({ at: 200, trialAt: 300, since: 0 });
  });

  it('doubles also when the node fails soon after a success, and begins anew when it served as long as it had waited', () => {
    const again = served(300, failed(0));
    expect(trialAfter(failed(400, again))).toBe(10 * MINUTE);
    expect(trialAfter(failed(600, served(599, again)))).toBe(5 * MINUTE);
  });

  it('waits for good probes of five minutes, unless probes have never been good or an hour has passed', () => {
    const node = failed(100, probed(good(0, 60)));
    expect(isTrialDue(node, 399)).toBe(false);
    expect(isTrialDue(node, 400)).toBe(true);
    const flapping = probed([[120, undefined], ...good(180, 420)], node);
    expect(isTrialDue(flapping, 420)).toBe(false);
    expect(isTrialDue(probed([[480, 3]], flapping), 480)).toBe(true);
    expect(isTrialDue(failed(100), 400)).toBe(true);
    expect(isTrialDue(probed([[120, undefined]], node), 400 + HOUR)).toBe(true);
  });

  it('is not before the time that the node has asked for', () => {
    const error = { ...failure('rate_limited', 'busy').error, retryAfterMs: 600_000 };
    expect(trialAfter(withFailed(NEW, 0, error))).toBe(10 * MINUTE);
  });
});

describe('what a node is asked', () => {
  it('is a probe less often while probes fail, at least every ten minutes', () => {
    const nodes = [1, 2, 3, 4, 5, 9].map((count) =>
      probed(Array.from({ length: count }, () => [0, undefined] as const)),
    );
    const isDueAfter = (minutes: number) => nodes.map((node) => isProbeDue(node, minutes * MINUTE));
    expect(isDueAfter(1)).toEqual([true, false, false, false, false, false]);
    expect(isDueAfter(4)).toEqual([true, true, true, false, false, false]);
    expect(isDueAfter(10)).toEqual([true, true, true, true, true, true]);
  });
});

describe('what is wrong with a node', () => {
  const trouble = (node: NodeObservation, now: number) =>
    findTrouble(node, { inUse: undefined, chainId: undefined, nodeObservations: [node] }, now);

  it('is nothing for one that is usable', () => {
    expect(trouble(NEW, 10)).toBeUndefined();
    expect(trouble(served(5), 10)).toBeUndefined();
  });

  it('begins with the first document that fails, or with its last good probe or document when probes fail, too', () => {
    // The document of a node that is not in use is read once an hour.
    expect(trouble(failed(3700, served(70)), 3800)).toEqual({ since: 3700, message: 'failed at 3700', isDown: true });
    expect(trouble(failed(100), 200)).toEqual({ since: 100, message: 'failed at 100', isDown: true });
    const unreachable = probed(
      [
        [3600, 3],
        [3660, undefined],
      ],
      failed(3700, served(70)),
    );
    expect(trouble(unreachable, 3800)).toEqual({ since: 3600, message: 'failed at 3700', isDown: true });
  });

  it('begins with its last good probe or document when only probes fail', () => {
    const node = probed([
      [60, 3],
      [120, undefined],
      [180, undefined],
    ]);
    expect(trouble(node, 200)).toEqual({ since: 60, message: 'refused', isDown: true });
    expect(trouble(served(150, node), 200)).toBeUndefined();
    const recovering = { since: 240, message: 'refused', isDown: false };
    expect(trouble(probed([[240, 3]], node), 250)).toEqual(recovering);
  });

  it('is no failure while the node only is behind', () => {
    const behind = { since: 60, message: 'n is 10 min behind the chain', isDown: false };
    expect(trouble(probed([[60, 600]]), 70)).toEqual(behind);
  });
});

it('does not compare with a node of another chain, and asks for the chains again while they differ', () => {
  const of = (chainId: string) => withProbe(NEW, probeAt(0, 3, { chainId }), []);
  const [own, foreign, unknown] = [of('x-1'), of('x-2'), { ...NEW }];
  const observations = { inUse: 0, chainId: 'x-1', nodeObservations: [own, foreign, unknown] };
  expect(othersOfChain(own, observations)).toEqual([unknown]);
  expect([own, foreign, unknown].map((node) => isChainDue(node, observations, 60))).toEqual([true, true, true]);
  const alike = { ...observations, nodeObservations: [own, of('x-1')] };
  expect(alike.nodeObservations.map((node) => isChainDue(node, alike, 60))).toEqual([false, false]);
  expect(isChainDue(own, alike, HOUR)).toBe(true);
});

it('compares a height with what other nodes have shown last, within ten minutes', () => {
  const other = probed([[60, 3]]);
  expect(hasShownMore(1059n, [other], 60)).toBe(true);
  expect(hasShownMore(1060n, [other], 60)).toBe(false);
  expect(hasShownMore(1059n, [other], 660)).toBe(true);
  expect(hasShownMore(1059n, [other], 661)).toBe(false);
  expect(hasShownMore(1059n, [withServed(other, 90, 1000n)], 91)).toBe(false);
});
