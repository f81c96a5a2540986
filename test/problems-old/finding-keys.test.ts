import { describe, expect, it } from 'vitest';
import { identityOf, judgedAlerts, readsAny } from '../../src/alerts/alerts.js';
import { presencesAfter } from '../../src/alerts/endpoint-memory.js';
import { seriesKey } from '../../src/alerts/series-key.js';

const at = { epochSeconds: 1_790_000_000, monotonicMs: 0 };

describe('the key of a finding', () => {
  it('is of one alert', () => {
    const identities = judgedAlerts.map(
      (alert) => `${alert.condition.source} ${alert.condition.document} ${identityOf(alert)}`,
    );
    expect(new Set(identities).size).toBe(judgedAlerts.length);
  });

  it('has no names, which can change while the finding lasts', () => {
    const labels = { chain_id: '1', chain: 'ethereum', orchestrator: 'inj1', name: 'Validator', symbol: 'USDT' };
    expect(seriesKey('a', labels)).toBe('["a",{"chain_id":"1","orchestrator":"inj1"}]');
  });
});

describe('a finding about families for which the node was not asked yet', () => {
  const families = new Set(['bridge_watched_validator_jailed']);
  const key = (alert: string): string => `["${alert} critical module_state 0",{"orchestrator":"inj1"}]`;
  const before = new Map(
    ['BridgeWatchedValidatorJailed', 'BridgeOracleStalled'].map((alert) => [
      key(alert),
      { since: at, unchangedValue: undefined, mayBeOlder: false },
    ]),
  );

  it('stays until the node has answered', () => {
    expect(['BridgeWatchedValidatorJailed', 'BridgeOracleStalled'].map(key).map(readsAny(families))).toEqual([
      true,
      false,
    ]);
    expect(Array.from(presencesAfter(before, [], at, false, families).keys())).toEqual([
      key('BridgeWatchedValidatorJailed'),
    ]);
    expect(presencesAfter(before, [], at, false)).toEqual(new Map());
  });
});
