import { describe, expect, it } from 'vitest';
import { differences, expectedGauges } from './books.js';
import { DAY_MINUTES, planDay } from './days.js';
import { faultKinds } from './faults.js';
import { summarize } from './report.js';
import { ServedChain } from './served-chain.js';

describe('a day at random', () => {
  const days = Array.from({ length: 1500 }, (_, seed) => planDay(seed));

  it('has up to three faults of every kind', () => {
    expect(new Set(days.flatMap(({ faults }) => faults.map(({ kind }) => kind)))).toEqual(new Set(faultKinds));
    expect(new Set(days.map(({ faults }) => faults.length))).toEqual(new Set([0, 1, 2, 3]));
  });

  it('has all of them within the day', () => {
    const all = days.flatMap(({ faults }) => faults);
    expect(all.filter(({ fromMinute, untilMinute }) => fromMinute >= untilMinute || untilMinute > DAY_MINUTES)).toEqual(
      [],
    );
  });

  it('is the same for the same seed', () => {
    expect(planDay(7)).toEqual(days[7]);
  });
});

describe('the books of the chain', () => {
  const { chain } = new ServedChain(1, false);
  const { bridge_valsets: valsets } = expectedGauges(chain);

  it('find a gauge that is wrong, absent, or in no book', () => {
    const expected = { bridge_valsets: valsets ?? { labels: [], values: 'skipped' } };
    const count = chain.bridge.valsets.newestFirst.length;
    const sample = (name: string, value: number) => ({ name, labels: { target: 'demo' }, value });
    expect(differences([sample('bridge_valsets', count)], expected)).toEqual([]);
    expect(differences([sample('bridge_valsets', count + 1)], expected)).toEqual([
      `bridge_valsets  is ${count + 1} instead of ${count}`,
    ]);
    expect(differences([], expected)).toEqual([`bridge_valsets  is absent instead of ${count}`]);
    expect(differences([sample('bridge_valsets', count), sample('bridge_unknown', 1)], expected)).toEqual([
      'bridge_unknown is not in the books',
    ]);
  });
});

describe('the report of days', () => {
  it('counts what was missed and what was false, by severity', () => {
    const heard = { about: '', fromMinute: 5, dueMinute: 10 };
    const day = {
      seed: 3,
      faults: ['contract paused (accepts nothing) 5-90'],
      heard: [
        { ...heard, alert: 'BridgeContractPaused/critical', delayMinutes: 3 },
        { ...heard, alert: 'BridgeValsetDrift/warning', delayMinutes: undefined },
      ],
      falseAlerts: [
        {
          alert: 'BridgeOracleSilent',
          severity: 'critical',
          about: 'module_state',
          fromMinute: 1,
          untilMinute: 4,
        } as const,
      ],
      wrongGauges: [],
      polls: 1,
    };
    const { table: _table, findings, ...counts } = summarize([day]);
    expect(counts).toEqual({
      criticalMisses: 0,
      criticalFalseAlerts: 1,
      warningMisses: 1,
      warningFalseAlerts: 0,
      wrongGauges: 0,
    });
    expect(findings).toEqual([
      'missed BridgeValsetDrift/warning , true from 5, due at 10; day 3: contract paused (accepts nothing) 5-90',
      'false BridgeOracleSilent/critical module_state, 1-4; day 3: contract paused (accepts nothing) 5-90',
    ]);
  });
});
