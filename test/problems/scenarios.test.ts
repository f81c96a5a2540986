import { describe, expect, it } from 'vitest';
import { dataPart } from '../../src/chain/addresses.js';
import { exportedFamilies } from '../../src/engine/endpoint-state.js';
import { problemSeries } from '../../src/engine/target-problems.js';
import { changedState, INITIAL_CONFIG, record, START_SECONDS, watchedAddress, type Phase } from './recording.js';

/* What only a recording of documents with answers shows. The slow tests compare all scenarios with the alerts. */

const BRIDGE_ONLY = { ...INITIAL_CONFIG, documents: ['module_state'] as const };

describe('a validator that signs no blocks', () => {
  it('is critical with the shortest poll.stale_after, and its series are there between two answers', () => {
    const missing = new Set<string>();
    const SERIES = ['bridge_watched_validator_missed_blocks', 'bridge_node_block_timestamp_seconds'];
    const firing = new Map<string, number>();
    record(
      [
        { minutes: 13, config: BRIDGE_ONLY },
        { minutes: 52, scenario: 'missed-blocks' },
      ],
      {
        // Queries of a minute are sent at every second poll, later than `stale_after`.
        sampleSeconds: 40,
        staleAfterMs: 60_000,
        valsets: 3,
        observe: ([target], minute, endpoints) => {
          for (const { alert, severity, state } of target?.problems ?? [])
            if (state === 'firing' && !firing.has(`${alert}/${severity}`))
              firing.set(`${alert}/${severity}`, minute - 13);
          const nextAnswers = START_SECONDS + minute * 60 + 39;
          for (const endpoint of minute < 2 ? [] : endpoints) {
            const names = new Set(exportedFamilies(endpoint, nextAnswers).map(({ name }) => name));
            for (const name of SERIES) if (!names.has(name)) missing.add(`${name} at minute ${minute}`);
          }
        },
      },
    );
    expect(Array.from(missing)).toEqual([]);
    expect(Array.from(firing.keys())).toEqual([
      'BridgeWatchedValidatorSignsNoBlocks/warning',
      'BridgeWatchedValidatorSignsNoBlocks/critical',
      'BridgeWatchedValidatorMissingBlocks/critical',
    ]);
    const [signsNone, criticalAfter] = firing.values();
    expect(signsNone).toBeLessThan(5);
    expect(criticalAfter).toBeLessThan(12);
  });
});

describe('a jailed validator', () => {
  const jailed: NonNullable<Phase['queries']> = (path, response) =>
    path.includes('/cosmos/staking/v1beta1/validators/')
      ? { ...response, body: Buffer.from(response.body.toString().replace('"jailed":false', '"jailed":true')) }
      : response;

  /** The watched validator has left the validator set. */
  const left = changedState(({ valsets: [newest], orchestrator_addresses }) => {
    const own = orchestrator_addresses.find(({ sender }) => dataPart(sender) === dataPart(watchedAddress));
    const members = newest?.members.filter(({ external_address }) => external_address !== own?.eth_address) ?? [];
    return { valsets: [{ ...newest, nonce: '20', height: '20', members }], valset_confirms: [] };
  });

  it('that has left the set is not inactive as well', () => {
    const [target] = record([{ minutes: 6, queries: jailed, bridge: left }], { valsets: 3 }).problems;
    const problems = target?.problems ?? [];
    expect(problems.find(({ alert }) => alert === 'BridgeWatchedValidatorJailed')?.action).toMatch(/^Find the cause /);
    expect(problems.map(({ alert }) => alert)).not.toContain('BridgeWatchedValidatorInactive');
  });
});

it('all series of problems have the labels of their target, by which Alertmanager routes', () => {
  const failing: Phase = { minutes: 15, bridge: { fails: 'too_large' }, crosschain: { fails: 'unauthorized' } };
  const phases = [{ minutes: 5 }, { minutes: 15, bridge: changedState(() => ({ batches: undefined })) }, failing];
  const { endpoints, at } = record(phases, { valsets: 3, targetLabels: { team: 'payments' } });
  const lines = problemSeries(endpoints, at).flatMap(({ text }) => text.split('\n').filter((line) => line !== ''));
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.filter((line) => !line.includes('team="payments"'))).toEqual([]);
});
