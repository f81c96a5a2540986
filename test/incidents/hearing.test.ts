import { describe, expect, it } from 'vitest';
import type { TargetProblem } from '../../src/engine/target-problems.js';
import type { Random } from '../../src/simulator/random.js';
import { definitionOf, type Fault, type FaultKind } from './faults.js';
import { Hearing } from './hearing.js';
import { ServedChain } from './served-chain.js';
import { START_SECONDS } from '../problems/recording.js';

const served = new ServedChain(1, false);

function faultOf(kind: FaultKind): Fault {
  return { kind, fromMinute: 0, untilMinute: 600, ...definitionOf(kind).draw(undefined as unknown as Random, served) };
}

/** Minutes with these faults, in which this fires. */
function hear(
  minutes: number,
  kinds: readonly FaultKind[],
  firing: (minute: number) => readonly Partial<TargetProblem>[],
): Hearing {
  const hearing = new Hearing();
  const faults = kinds.map(faultOf);
  for (let minute = 0; minute <= minutes; minute += 1) {
    const problems = firing(minute).map((own) => ({
      document: 'external_contract',
      subject: {},
      state: 'firing',
      hiddenBy: null,
      ...own,
    }));
    const world = {
      minute,
      nowSeconds: START_SECONDS + minute * 60,
      chain: served,
      faults,
      over: [],
      remembersSince: 0,
    };
    hearing.observe(world, problems as unknown as readonly TargetProblem[]);
  }
  return hearing;
}

const paused: Partial<TargetProblem> = { alert: 'BridgeContractPaused', severity: 'critical' };

const heardPaused = { alert: 'BridgeContractPaused/critical', about: '', fromMinute: 0, dueMinute: 8 };

describe('what is heard of a day', () => {
  it.each([
    ['what nobody has heard when it was due', 30, () => false, [{ ...heardPaused, delayMinutes: undefined }]],
    ['the delay of what was heard in time', 30, (at) => at >= 3, [{ ...heardPaused, delayMinutes: 3 }]],
    [
      'what falls silent while it is true',
      40,
      (at) => at < 20,
      [{ delayMinutes: 0 }, { about: ' (silent again)', delayMinutes: undefined }],
    ],
  ] satisfies [string, number, (at: number) => boolean, object[]][])(
    'has %s',
    (_title, minutes, isFiring, expected) => {
      const { heard, falseAlerts } = hear(minutes, ['contract paused'], (minute) => (isFiring(minute) ? [paused] : []));
      expect(heard.filter(({ alert }) => alert === heardPaused.alert)).toMatchObject(expected);
      expect(falseAlerts).toEqual([]);
    },
  );

  it('reports what fires without a reason, as one', () => {
    const { falseAlerts } = hear(30, [], (minute) => (minute < 10 || minute > 15 ? [] : [paused]));
    expect(falseAlerts).toEqual([{ ...paused, about: 'external_contract', fromMinute: 10, untilMinute: 15 }]);
  });

  it('accepts neither a higher severity nor another subject', () => {
    const lagging = { alert: 'BridgePowerThresholdTooLow', severity: 'critical' } as const;
    const other = { alert: 'CrosschainBacklogStuck', severity: 'critical', subject: { chain_id: 'unknown' } } as const;
    const falseOf = (kinds: readonly FaultKind[], firing: Partial<TargetProblem>) =>
      hear(30, kinds, (minute) => (minute < 20 ? [] : [firing])).falseAlerts;
    expect([falseOf(['contract requires more power'], lagging).length, falseOf([], other).length]).toEqual([1, 1]);
  });
});
