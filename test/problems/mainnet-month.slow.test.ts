import { describe, expect, it } from 'vitest';
import type { TargetProblem } from '../../src/engine/target-problems.js';
import { record } from './recording.js';

/*
 * A month of the scenario mainnet: dust, poor batches, absent votes, slow and missed cctxs, a validator that is jailed and returns, an
 * abandoned validator set and a rotation of the threshold key are no reason to wake anybody.
 */

/** Parts of the month, of three days each. `npm run test:slow` takes every second one, MONTH=1 all of them. */
const WINDOW_DAYS = 3;
const STARTS =
  process.env['MONTH'] === undefined ? [0, 6, 12, 18, 24] : Array.from({ length: 10 }, (_, index) => index * 3);

/** The longest interval between two polls that is no gap. */
const SAMPLE_SECONDS = 300;

/** Alerts that are right: a claim of an event that does not exist, on the fourth day, and an upgrade on the nineteenth. */
const EXPECTED = new Set([
  'BridgeOracleStalled/warning',
  'BridgeHeightStalled/critical',
  'CrosschainHeightStalled/critical',
  'BridgeNodeBehind/warning',
]);

interface Disturbance {
  readonly key: string;
  readonly from: number;
  until: number;
}

/** The alerts above info that nothing inhibits, with their first and last day. */
function disturbancesFrom(afterDays: number): readonly string[] {
  const found = new Map<string, Disturbance>();
  const options = { scenario: 'mainnet', afterDays, sampleSeconds: SAMPLE_SECONDS } as const;
  record([{ minutes: WINDOW_DAYS * 24 * 60 }], {
    ...options,
    observe: (targets, minute) => {
      for (const problem of targets.flatMap(({ problems }) => problems)) {
        if (problem.state !== 'firing' || problem.severity === 'info' || problem.hiddenBy !== null) continue;
        const key = keyOf(problem);
        const known = found.get(key) ?? { key, from: minute, until: minute };
        known.until = minute;
        found.set(key, known);
      }
    },
  });
  const day = (minute: number): string => (afterDays + minute / 1440).toFixed(2);
  return Array.from(found.values(), ({ key, from, until }) => `${key} day ${day(from)} to ${day(until)}`);
}

function keyOf({ alert, severity, subject }: TargetProblem): string {
  return [`${alert}/${severity}`, ...Object.values(subject)].join(' ');
}

describe('a month of the scenario mainnet', () => {
  it.each(STARTS)('disturbs nobody from day %i on, but for what is wrong', (afterDays) => {
    const all = disturbancesFrom(afterDays);
    expect(all.filter((line) => !EXPECTED.has(line.split(' ')[0] ?? ''))).toEqual([]);
  });
});
