import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../src/poll/verdicts.js';
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
  firing: (minute: number) => readonly Partial<Verdict>[],
): Hearing {
  const hearing = new Hearing();
  const faults = kinds.map(faultOf);
  for (let minute = 0; minute <= minutes; minute += 1) {
    const verdicts = firing(minute).map((own) => ({
      document: 'external_contract',
      subject: {},
      state: 'firing',
      inhibitedBy: null,
      ...own,
    }));
    const world = {
      minute,
      nowSeconds: START_SECONDS + minute * 60,
      chain: served.chain,
      faults,
      over: [],
      remembersSince: 0,
    };
    hearing.observe(world, verdicts as unknown as readonly Verdict[]);
  }
  return hearing;
}

const paused: Partial<Verdict> = { alert: 'BridgeContractPaused', severity: 'critical' };

describe('what is heard of a day', () => {
  it('reports what nobody has heard when it was due', () => {
    const { heard, falseAlerts } = hear(30, ['contract paused'], () => []);
    expect(heard).toEqual([
      { alert: 'BridgeContractPaused/critical', about: '', fromMinute: 0, dueMinute: 8, delayMinutes: undefined },
    ]);
    expect(falseAlerts).toEqual([]);
  });

  it('measures the delay of what was heard in time', () => {
    const { heard, falseAlerts } = hear(30, ['contract paused'], (minute) => (minute < 3 ? [] : [paused]));
    expect(heard).toEqual([
      { alert: 'BridgeContractPaused/critical', about: '', fromMinute: 0, dueMinute: 8, delayMinutes: 3 },
    ]);
    expect(falseAlerts).toEqual([]);
  });

  it('reports what falls silent while it is true', () => {
    const { heard } = hear(40, ['contract paused'], (minute) => (minute < 20 ? [paused] : []));
    const own = heard.filter(({ alert }) => alert === 'BridgeContractPaused/critical');
    expect(own.map(({ about, delayMinutes }) => [about, delayMinutes])).toEqual([
      ['', 0],
      [' (silent again)', undefined],
    ]);
  });

  it('reports what fires without a reason, as one', () => {
    const { falseAlerts } = hear(30, [], (minute) => (minute < 10 || minute > 15 ? [] : [paused]));
    expect(falseAlerts).toEqual([
      {
        alert: 'BridgeContractPaused',
        severity: 'critical',
        about: 'external_contract',
        fromMinute: 10,
        untilMinute: 15,
      },
    ]);
  });

  it('accepts neither a higher severity nor another subject', () => {
    const lagging = { alert: 'BridgePowerThresholdTooLow', severity: 'critical' } as const;
    expect(
      hear(30, ['contract requires more power'], (minute) => (minute < 20 ? [] : [lagging])).falseAlerts,
    ).toHaveLength(1);
    const other = { alert: 'CrosschainBacklogStuck', severity: 'critical', subject: { chain_id: 'unknown' } } as const;
    expect(hear(30, [], () => [other]).falseAlerts).toHaveLength(1);
  });

  it('accepts what follows from something that fires, and notes', () => {
    const inhibited = { ...paused, inhibitedBy: 'BridgeOracleSilent' };
    const note = { ...paused, severity: 'info' } as const;
    expect(hear(10, [], () => [inhibited, note]).falseAlerts).toEqual([]);
  });

  it('expects nothing of a document that is not current', () => {
    const { heard } = hear(30, ['contract paused', 'node stuck'], () => []);
    expect(heard.map(({ alert }) => alert)).not.toContain('BridgeContractPaused/critical');
    expect(heard.map(({ alert }) => alert)).toContain('BridgeHeightStalled/critical');
  });
});
