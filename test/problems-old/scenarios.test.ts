import { describe, expect, it } from 'vitest';
import type { TargetVerdicts } from '../../src/alerts/judge.js';
import { dataPart } from '../../src/chain/addresses.js';
import {
  changedState,
  record,
  watchedAddress,
  type ContractOutcome,
  type Phase,
  type RecordingOptions,
} from './recording.js';
import { sentenceText } from '../../src/alerts/sentences.js';

/* The sentences about scenarios of the simulator. The slow tests compare all scenarios with the alerts. */

const HEALTHY_MINUTES = 12;
/** The exporter polls every four minutes, so that an incident takes few polls. */
const SAMPLE_SECONDS = 240;

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
  const lines = verdicts.map(({ state, severity, alert, sentence, inhibitedBy }) =>
    inhibitedBy === null
      ? `${state} ${severity} ${alert}: ${sentenceText(sentence)}`
      : `${state} ${severity} ${alert} below ${inhibitedBy}`,
  );
  return [status, ...unknown, ...lines];
}

describe('the verdicts about a scenario', () => {
  it('say who blocks the oracle and since when', () => {
    const target = verdictsAfter([{ minutes: HEALTHY_MINUTES }, { minutes: 44, scenario: 'stalled-oracle' }]);
    expect(linesOf(target)).toEqual([
      'critical',
      'firing critical BridgeOracleStalled: no event observed for 40 min, 261 waiting; 6 validators with 52 % of the power have not voted: Validator Guild (yours), Northwind Staking, Quorum Works, Harbor Nodes, Blue Mesa, Tidewater',
      'pending critical BridgeBacklogStuck: no batch built for up to 24 min: 438K hub (96 transfers), 4.16M usdt (166 transfers), 736 weth (48 transfers), 640K usdc (64 transfers), 23.4B meme (56 transfers), 164K osmo (61 transfers) waiting with sufficient fees',
      'pending warning BridgeBacklogHigh: the number of pending transfers has been above 500 for 20 min: 967 at present, of which 516 in no batch',
      'firing warning BridgeOrchestratorMissingVotes below BridgeOracleStalled',
      'firing warning BridgeOrchestratorMissingVotes below BridgeOracleStalled',
      'firing warning BridgeWatchedOrchestratorLagging below BridgeOracleStalled',
    ]);
  });

  it('put what inhibits others first when everything is stuck, without the warnings that it includes', () => {
    const target = verdictsAfter([{ minutes: HEALTHY_MINUTES }, { minutes: 64, scenario: 'stuck' }]);
    expect(linesOf(target)).toEqual([
      'critical',
      'firing critical BridgeOracleStalled: no event observed for 60 min, 317 waiting; 6 validators with 52 % of the power have not voted: Validator Guild (yours), Northwind Staking, Quorum Works, Harbor Nodes, Blue Mesa, Tidewater',
      'firing critical BridgeBacklogStuck: no batch built for up to 64 min: 1.12M hub (242 transfers), 10.5M usdt (408 transfers), 2.72K weth (162 transfers), 1.78M usdc (187 transfers), 65.4B meme (142 transfers), 244K osmo (108 transfers) waiting with sufficient fees',
      'firing critical CrosschainBacklogStuck: nothing has moved for 64 min on 5 chains: ethereum (1) at nonce 40848, bsc (56) at nonce 60551, polygon (137) at nonce 21513, arbitrum (42161) at nonce 66695, base (8453) at nonce 19813',
      'firing warning CrosschainBacklogHigh: the number of pending cross-chain transactions has been above 200 for 36 min, 420 at present',
      'pending critical BridgeBacklogStuck: no batch built for 48 min: 1.49K gold (69 transfers) waiting with sufficient fees',
      'pending critical CrosschainBacklogStuck: nothing has moved for 64 min on chain bitcoin (8332) at nonce 49556 with an outbound hash',
      'firing warning BridgeBacklogHigh below BridgeBacklogStuck',
      'firing warning BridgeOrchestratorMissingVotes below BridgeOracleStalled',
      'firing warning BridgeOrchestratorMissingVotes below BridgeOracleStalled',
      'firing warning BridgeWatchedOrchestratorLagging below BridgeOracleStalled',
      'firing warning CrosschainOldestPendingTooOld below CrosschainBacklogStuck',
    ]);
    const below = target.verdicts.find(({ inhibitedBy }) => inhibitedBy === 'BridgeOracleStalled');
    expect(below?.action).toBe('Begin with BridgeOracleStalled.');
  });

  it('name the batch and the validators whose signatures are missing', () => {
    const target = verdictsAfter([{ minutes: HEALTHY_MINUTES }, { minutes: 40, scenario: 'unsigned-batch' }]);
    expect(linesOf(target)).toEqual([
      'critical',
      'firing critical BridgeBatchUnsigned: batches have lacked signatures for 32 min, 5 at present; 6 validators with 53 % of the power have not signed batch 26084: Validator Guild (yours), Northwind Staking, Quorum Works, Harbor Nodes, Blue Mesa, Tidewater; it times out in about 11 h 25 min; 3.52M usdt in them',
      'pending warning BridgeOrchestratorMissingConfirms: signatures of 1 validator with 6 % of the power have been missing for 32 min, on up to 6 batches: Validator Guild (yours); it is jailed in 9895 hub blocks (about 2 d 6 h)',
    ]);
    expect(target.verdicts.slice(0, 1)).toEqual([
      {
        target: 'demo',
        document: 'module_state',
        alert: 'BridgeBatchUnsigned',
        severity: 'critical',
        state: 'firing',
        since: { epochSeconds: 1_790_000_960, monotonicMs: 960_000 },
        firesAt: { epochSeconds: 1_790_002_760, monotonicMs: 2_760_000 },
        subjects: [{}],
        isOneAlert: false,
        inhibitedBy: null,
        mayBeOlder: false,
        sentence: expect.objectContaining({ fact: 'batches have lacked signatures for 32 min, 5 at present' }),
        action:
          'Check the orchestrator of your validator Validator Guild first. Contact the operators of the validators that have not signed; the batches cannot be relayed.',
      },
    ]);
  });

  it('compare the claims that conflict', () => {
    const target = verdictsAfter([{ minutes: HEALTHY_MINUTES }, { minutes: 16, scenario: 'conflicting-claims' }]);
    expect(linesOf(target)).toEqual([
      'critical',
      'firing critical BridgeConflictingClaims: validators have disagreed about the external height of event 97645 for 12 min; 54 % of the power claim external height 21380528, 46 % claim external height 21380529',
    ]);
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
  });
});

describe('with the contract on the external chain', () => {
  it.each([
    ['is not paused', {}, 'The contract is not paused: make a small deposit on the external chain'],
    ['is paused', { contract: () => ({ paused: true }) }, 'The contract is paused: find out who paused it and why.'],
    ['is unknown', { fails: 'timeout' }, 'Check that the contract is not paused, then make a small deposit'],
  ] as const)('the action for batches past their timeout does not ask what is known: %s', (_, contract, action) => {
    const { verdicts } = verdictsAfter(
      [
        { minutes: HEALTHY_MINUTES, contract: {} },
        { minutes: 48, scenario: 'batch-timeout', contract: contract satisfies ContractOutcome },
      ],
      { contract: true },
    );
    const overdue = verdicts.find(({ alert }) => alert === 'BridgeBatchOverdue');
    expect(overdue?.action.startsWith(action)).toBe(true);
  });

  it('a target is judged although the contract cannot be polled', () => {
    const after = (minutes: number): string[] =>
      linesOf(
        verdictsAfter([{ minutes, contract: { fails: 'connect' } }], {
          contract: true,
          scenario: 'quiet',
          sampleSeconds: 60,
        }),
      );
    expect(after(3)).toEqual(['pending', expect.stringMatching(/^pending warning BridgeEndpointDown: /)]);
    expect(after(20)).toEqual(['warning', expect.stringMatching(/^firing warning BridgeEndpointDown: /)]);
  });
});

describe('a restart during an incident', () => {
  it('hides nothing whose age the data proves', () => {
    const target = verdictsAfter([
      { minutes: HEALTHY_MINUTES },
      { minutes: 60, scenario: 'unsigned-batch' },
      { minutes: 4, exporterDown: true },
      { minutes: 8 },
    ]);
    const [first] = target.verdicts;
    expect([target.status, first?.alert, first?.state]).toEqual(['critical', 'BridgeBatchUnsigned', 'firing']);
    expect(first?.sentence.fact).toMatch(/^batches have lacked signatures for (5[89]|6\d) min, /);
  });

  it('knows that nothing was executed while no event was observed', () => {
    const target = verdictsAfter([
      { minutes: HEALTHY_MINUTES },
      { minutes: 152, scenario: 'no-relayer' },
      { minutes: 4, exporterDown: true },
      { minutes: 8 },
    ]);
    const states = target.verdicts.map(({ alert, severity, state }) => `${state} ${severity} ${alert}`);
    expect(states).toContain('firing warning BridgeBatchNotRelayed');
  });

  it('leaves only what may have lasted long enough to be judged later', () => {
    const target = verdictsAfter([
      { minutes: HEALTHY_MINUTES },
      { minutes: 92, scenario: 'stuck-chain' },
      { minutes: 4, exporterDown: true },
      { minutes: 8 },
    ]);
    expect(linesOf(target)).toEqual([
      'warning',
      'firing warning CrosschainOldestPendingTooOld: a transaction on chain bsc (56) has waited for 107 min, longer than its limit of 30 min',
      'observing critical BridgeBacklogStuck: no batch built for at least 4 min: 635K usdt (23 transfers) waiting with sufficient fees',
      'observing critical CrosschainBacklogStuck: nothing has moved for at least 4 min on chain bsc (56) at nonce 60551 with an outbound hash',
    ]);
    // All nodes of the simulator list hashes.
    expect(target.verdicts[0]?.action).toBe(
      'The outbound has a hash, so it is in a block and waits for confirmations or votes: look it up on the chain, then check the observers.',
    );
    // The exporter started in minute 108. The durations are `[45m]` or the age limit of 30 minutes, and `for`, 5 minutes.
    expect(target.verdicts.slice(1).map(({ firesAt }) => firesAt.monotonicMs / 60_000)).toEqual([108 + 50, 108 + 35]);
  });
});

describe('a healthy bridge', () => {
  it('has no verdict, also when a poll fails now and then', () => {
    const failing: Phase = { minutes: 2, bridge: { fails: 'timeout' }, crosschain: { fails: 'status' } };
    const lines = new Set<string>();
    record([{ minutes: 20 }, failing, { minutes: 30 }, failing, { minutes: 10 }], {
      valsets: 3,
      observe: ([target], minute) => {
        if (target !== undefined && minute > HEALTHY_MINUTES) lines.add(linesOf(target).join('\n'));
      },
    });
    expect([...lines]).toEqual(['ok']);
  });

  it('is observed until the height has changed', () => {
    const lines: string[] = [];
    record([{ minutes: 3 }], {
      // No transfer waits whose age is unknown.
      scenario: 'quiet',
      valsets: 3,
      observe: ([target], minute) => {
        if (target !== undefined) lines.push(`${minute}: ${linesOf(target).join('; ')}`);
      },
    });
    expect(lines).toEqual([
      '0: unknown; module_state has been observed for 0 s, and its height has not changed yet; rate_limiter_input has been observed for 0 s, and its height has not changed yet',
      '1: ok',
      '2: ok',
    ]);
  });
});
