import { describe, expect, it } from 'vitest';
import type { TargetVerdicts } from '../../src/engine/verdicts.js';
import { dataPart } from '../../src/chain/addresses.js';
import { exportedFamilies } from '../../src/engine/endpoint-state.js';
import {
  changedState,
  INITIAL_CONFIG,
  record,
  START_SECONDS,
  watchedAddress,
  type Phase,
  type RecordingOptions,
} from './recording.js';
import { firingVerdicts, formatSentence } from '../../src/engine/verdicts.js';

/* The sentences about scenarios of the simulator. The slow tests compare all scenarios with the alerts. */

const HEALTHY_MINUTES = 12;
/** The exporter polls every four minutes, so that an incident takes few polls. */
const SAMPLE_SECONDS = 240;
const BRIDGE_ONLY = { ...INITIAL_CONFIG, documents: ['module_state'] as const };
const CROSSCHAIN_ONLY = { ...INITIAL_CONFIG, documents: ['rate_limiter_input'] as const };

/** The verdicts of the target at the last minute of the phases. */
function verdictsAfter(
  phases: readonly Phase[],
  options: Pick<RecordingOptions, 'contract' | 'scenario' | 'sampleSeconds'> = {},
): TargetVerdicts {
  const [target] = record(phases, { sampleSeconds: SAMPLE_SECONDS, valsets: 3, ...options }).verdicts;
  if (target === undefined) throw new Error('the recording has no target');
  return target;
}

function linesOf({ status, unknown, verdicts }: TargetVerdicts): string[] {
  const lines = verdicts.map((verdict) => {
    const { state, severity, alert, hiddenBy } = verdict;
    return `${state} ${severity} ${alert}${hiddenBy === null ? `: ${formatSentence(verdict)}` : ` below ${hiddenBy}`}`;
  });
  return [status, ...unknown, ...lines];
}

describe('the verdicts about a scenario', () => {
  it('put what inhibits others first when everything is stuck, without the warnings that it includes', () => {
    const target = verdictsAfter([{ minutes: HEALTHY_MINUTES }, { minutes: 64, scenario: 'stuck' }]);
    const lines = linesOf(target);
    expect(lines.filter((line) => !line.includes(' below '))).toEqual([
      'critical',
      'firing critical BridgeOracleStalled: your validator Validator Guild has not voted: event 97645 (deposit of 198.306365 osmo) is not observed, for 63 min; 6 validators with 52 % of the power have not voted: yours, Northwind Staking, Quorum Works, Harbor Nodes, Blue Mesa, Tidewater hub1aw7s…ms97d3',
      'firing critical CrosschainBacklogStuck: nothing moves on half of the chains or more, over the limit for 29 min; on 5 of 6 chains: ethereum (1), bsc (56), polygon (137), arbitrum (42161), base (8453); 0.00546 ETH, 16.7 ZETA, 0.0119 BNB, 1.63 POL in them',
      // What an own validator does not do is a cause.
      'firing warning BridgeWatchedOrchestratorLagging: your validator Validator Guild claims no events, for at least 60 min; its last claim is event 97641, 320 events before the newest claim',
    ]);
    expect(Array.from(new Set(lines.filter((line) => line.includes(' below '))))).toEqual([
      'firing critical BridgeBacklogStuck below BridgeOracleStalled',
      'firing warning BridgeBacklogHigh below BridgeOracleStalled',
      'firing warning BridgeOrchestratorMissingVotes below BridgeWatchedOrchestratorLagging',
      'firing warning BridgeOrchestratorMissingVotes below BridgeOracleStalled',
      'firing warning CrosschainOldestPendingTooOld below CrosschainBacklogStuck',
      'firing warning CrosschainBacklogHigh below CrosschainBacklogStuck',
    ]);
    const lagging = target.verdicts.find(({ alert }) => alert === 'BridgeWatchedOrchestratorLagging');
    expect(lagging?.details, 'all that wait').toContain('320 events before the newest claim');
  });

  it('are critical when a third of the power must sign validator sets, and name these validators once', () => {
    const bridge = changedState(({ params }) => ({ params: { ...params, signed_valsets_window: '1000' } }));
    const target = verdictsAfter([{ minutes: 96, config: BRIDGE_ONLY, scenario: 'valset-drift', bridge }], {
      sampleSeconds: 480,
    });
    const [lines, { verdicts }] = [linesOf(target), target];
    const jailing = 'firing critical BridgeOrchestratorDeadlineNear: ';
    expect(verdicts.find(({ subject }) => subject.watched === 'true')?.action, 'most validators have to').toMatch(
      /^So many validators at once have a common cause/,
    );
    expect(lines).toContainEqual(
      expect.stringMatching(
        new RegExp(
          `^${jailing}validators with a third of the power must sign within 12 hours or be jailed, for .*; \\d+ validators`,
        ),
      ),
    );
    expect(verdicts.find(({ alert }) => alert === 'BridgeValsetDrift')?.action).toBe(
      'The newest validator set is unsigned: get it signed first, because nobody can relay it before.',
    );
    expect(lines, 'other validators can be the ones that have not signed').toContainEqual(
      expect.stringMatching(/^firing warning BridgeValsetUnsigned: /),
    );
  });

  it('are about the switch when outbounds are switched off, and what follows is below it', () => {
    const target = verdictsAfter([
      { minutes: HEALTHY_MINUTES, config: CROSSCHAIN_ONLY },
      { minutes: 88, scenario: 'outbound-disabled' },
    ]);
    const [status, first, ...others] = linesOf(target);
    expect([status, first]).toEqual([
      'warning',
      expect.stringMatching(/^firing warning CrosschainOutboundDisabled: the hub has switched off transactions /),
    ]);
    expect(Array.from(new Set(others))).toEqual([
      'firing critical CrosschainBacklogStuck below CrosschainOutboundDisabled',
      'firing warning CrosschainBacklogHigh below CrosschainOutboundDisabled',
    ]);
  });
});

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
          for (const { alert, severity, state } of target?.verdicts ?? [])
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

  /** The watched validator left the set two blocks after the deadline for a set that it has not signed. */
  const left = changedState(({ params, valsets: [newest], orchestrator_addresses }) => {
    const own = orchestrator_addresses.find(({ sender }) => dataPart(sender) === dataPart(watchedAddress));
    const members = newest?.members.filter(({ external_address }) => external_address !== own?.eth_address) ?? [];
    const leftAt = String(10 + Number(params.signed_valsets_window) + 2);
    return {
      valsets: [
        { ...newest, nonce: '10', height: '10' },
        { ...newest, nonce: leftAt, height: leftAt, members },
      ],
      valset_confirms: [],
    };
  });

  it.each([
    ['with the reason that the validator sets prove', left, 'The reason is a missing signature of validator set 10: '],
    ['without a reason that is not known', undefined, 'Find the cause '],
  ])('has an action %s', (_, bridge, action) => {
    const { verdicts } = verdictsAfter([{ minutes: 6, queries: jailed, ...(bridge && { bridge }) }], {
      sampleSeconds: 60,
    });
    expect(verdicts.find(({ alert }) => alert === 'BridgeWatchedValidatorJailed')?.action.slice(0, action.length)).toBe(
      action,
    );
    expect(verdicts.map(({ alert }) => alert)).not.toContain('BridgeWatchedValidatorInactive');
  });

  it('is told on and on while its node is behind, because it was told before', () => {
    const behind: number[] = [];
    const hiddenIn: number[] = [];
    record(
      [
        { minutes: 10, queries: jailed },
        { minutes: 75, scenario: 'syncing', queries: jailed },
      ],
      {
        sampleSeconds: 60,
        valsets: 3,
        observe: ([target], minute) => {
          const firing = firingVerdicts({ verdicts: target?.verdicts ?? [] });
          if (firing.some(({ alert, severity }) => alert === 'BridgeNodeBehind' && severity === 'critical'))
            behind.push(minute);
          if (minute >= 5 && !firing.some(({ alert }) => alert === 'BridgeWatchedValidatorJailed'))
            hiddenIn.push(minute);
        },
      },
    );
    expect(behind.length).toBeGreaterThan(5);
    expect(hiddenIn).toEqual([]);
  });
});

describe('with the contract on the external chain', () => {
  it('the action for batches past their timeout does not ask what is known', () => {
    const actions: (string | undefined)[] = [];
    const phases: Phase[] = [
      { minutes: HEALTHY_MINUTES, contract: {} },
      { minutes: 48, scenario: 'batch-timeout', contract: {} },
      { minutes: 4, contract: { contract: () => ({ paused: true }) } },
      { minutes: 20, contract: { fails: 'timeout' } },
    ];
    record(phases, {
      sampleSeconds: SAMPLE_SECONDS,
      valsets: 3,
      contract: true,
      observe: ([target]) =>
        void actions.push(target?.verdicts.find(({ alert }) => alert === 'BridgeBatchOverdue')?.action),
    });
    expect(Array.from(new Set(actions.slice(-8)))).toEqual([
      expect.stringMatching(/; a small deposit on the external chain makes one: the contract is not paused\.$/),
      expect.stringMatching(/; nobody can make one while the contract is paused: find out who paused it and why\.$/),
      expect.stringMatching(/; a small deposit on the external chain makes one, unless the contract is paused\.$/),
    ]);
  });

  it('a target is judged although the contract cannot be polled', () => {
    const byMinute = new Map<number, string[]>();
    record([{ minutes: 20, contract: { fails: 'connect' } }], {
      contract: true,
      scenario: 'quiet',
      valsets: 3,
      observe: ([target], minute) => void (target && byMinute.set(minute, linesOf(target))),
    });
    expect(byMinute.get(2)).toEqual(['pending', expect.stringMatching(/^pending warning BridgeEndpointDown: /)]);
    expect(byMinute.get(19)).toEqual([
      'warning',
      expect.stringMatching(/^firing warning BridgeEndpointDown: polls of external_contract fail, for /),
    ]);
  });
});

describe('a restart during an incident', () => {
  it('hides nothing whose age the data proves', () => {
    const target = verdictsAfter([
      { minutes: HEALTHY_MINUTES, config: BRIDGE_ONLY },
      { minutes: 60, scenario: 'unsigned-batch' },
      { minutes: 4, exporterDown: true },
      { minutes: 8 },
    ]);
    const [first] = target.verdicts;
    expect([target.status, first?.alert, first?.state]).toEqual(['critical', 'BridgeBatchUnsigned', 'firing']);
    expect(first?.summary).toMatch(/batch \d+ of \w+ lacks signatures$/);
    expect((first?.ageSeconds ?? 0) / 60).toBeGreaterThan(57);
  });

  it('begins anew with what no document proves', () => {
    const target = verdictsAfter([
      { minutes: HEALTHY_MINUTES, config: CROSSCHAIN_ONLY },
      { minutes: 92, scenario: 'stuck-chain' },
      { minutes: 4, exporterDown: true },
      { minutes: 20 },
    ]);
    expect(linesOf(target)).toEqual([
      'warning',
      'firing warning CrosschainOldestPendingTooOld: a transaction on chain bsc (56) is older than the limit of 30 min, over the limit for 89 min; it has waited for 119 min; index 0xf1d7d6c175a1613b97bc7d9ec963fc26ec1620fc5033562deecc232e0001dac9, outbound hash 0x826f7cd8f09a993dd3bee1b0b48b49bc604b70e09126d01c80a781da4962dc60; 190 transactions pending on the chain; 0.023 BNB, 8.06 ZETA in them',
    ]);
    // All nodes of the simulator list hashes.
    expect(target.verdicts[0]?.action).toBe(
      'The outbound has a hash, so it should be in a block: look it up on the chain. Without a receipt the hash is wrong; with one, check its confirmations, then the observers.',
    );
  });
});

describe('a healthy bridge', () => {
  it('has no verdict, also when a poll fails now and then', () => {
    const failing: Phase = { minutes: 2, bridge: { fails: 'timeout' }, crosschain: { fails: 'status' } };
    const lines = new Set<string>();
    const healthy: Phase = { minutes: 20, sampleSeconds: SAMPLE_SECONDS };
    record([healthy, failing, healthy, failing, healthy], {
      valsets: 3,
      observe: ([target], minute) => {
        if (target !== undefined && minute > HEALTHY_MINUTES) for (const line of linesOf(target)) lines.add(line);
      },
    });
    // What may become the alerts on polls, which end with the next success.
    const isOfPolls = /^pending .*: (?:polls of \w+ fail|no poll of \w+ succeeds)/;
    expect(Array.from(lines).filter((line) => !isOfPolls.test(line))).toEqual(['ok', 'pending']);
  });
});
