import { describe, expect, it } from 'vitest';
import type { Model } from '../../src/simulator/model.js';
import { Random } from '../../src/simulator/random.js';
import { createChain, startSimulatedProcess, type Chain } from '../state/simulated-process.js';

/* Two nodes of a healthy chain behind one address, of which one is behind. Which one answers a poll is random. */

const BLOCK_MS = 2000;
const POLLS_PER_MINUTE = 2;
const MINUTES = 25;

function nodesBehindOneAddress(blocks: number, sendsHeight: boolean): Chain {
  const delayMinutes = (blocks * BLOCK_MS) / 60_000;
  const nodes = [createChain({ blockTimeMs: BLOCK_MS }), createChain({ blockTimeMs: BLOCK_MS })] as const;
  const random = new Random(1, 'nodes');
  let current: Model = nodes[0].model;
  return {
    sendsHeight,
    model: new Proxy(current, {
      get: (_, name) => {
        const value: unknown = Reflect.get(current, name, current);
        return typeof value === 'function' ? (value.bind(current) as unknown) : value;
      },
    }),
    advanceTo: (minute) => {
      nodes[0].advanceTo(minute);
      nodes[1].advanceTo(Math.max(0, minute - delayMinutes));
      current = nodes[random.chance(0.5) ? 0 : 1].model;
    },
  };
}

/** The critical problems after any poll. */
function criticalProblems(blocks: number, sendsHeight: boolean): readonly string[] {
  const process = startSimulatedProcess(nodesBehindOneAddress(blocks, sendsHeight), 0);
  return Array.from({ length: MINUTES * POLLS_PER_MINUTE }, (_, poll) => {
    const minute = poll / POLLS_PER_MINUTE;
    process.poll(minute);
    return process.verdicts(minute).filter(({ severity }) => severity === 'critical');
  })
    .flat()
    .map(({ alert }) => alert);
}

describe('two nodes behind one address', () => {
  it.each([
    // Without debounced marks, the state was rolled back.
    [50, false],
    // Without failed polls, the height has stalled; without judgements that agree, the deadline of an orchestrator is near.
    [500, true],
  ])('begin no critical problem, %i blocks apart, with heights: %s', (blocks, sendsHeight) => {
    expect(criticalProblems(blocks, sendsHeight)).toEqual([]);
  });
});
