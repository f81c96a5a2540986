import { describe, expect, it } from 'vitest';
import { failureReasons, type FailureReason } from '../../src/http/failure-reasons.js';
import type { Moment } from '../../src/clock.js';
import type { EndpointKey } from '../../src/engine/endpoint-state.js';
import type { PollResult } from '../../src/engine/step.js';
import { formatSentence, type JudgedTarget } from '../../src/engine/target-problems.js';
import { createModel } from '../../src/simulator/model.js';
import { idleState as partialState, transfer, vote } from '../items/bridge-state.js';
import { recordedStates } from '../support/endpoint-states.js';
import { record } from '../problems/recording.js';
import type { StepContext } from '../../src/document-types.js';
import { START, TARGET_OPTIONS } from '../support/polls.js';
import { bridgeContext, bridgePoll, type BridgeOptions } from '../support/snapshots.js';

const LIMITS = { maxBodyBytes: 1_000_000, staleAfterMs: 300_000 };

const at = (minute: number): Moment => ({
  at: START.at + minute * 60,
  clockOffset: 0,
});

const model = createModel({ seed: 7, scenario: 'healthy', startTime: START.at, blockTimeMs: 2000 });
const simulated = model.moduleState().state;

/** With all fields, so that no metric is withdrawn. */
const idleState = {
  ...simulated,
  ...partialState,
  params: { ...simulated.params, ...partialState.params },
  valsets: partialState.valsets.map((valset) => ({ ...simulated.last_observed_valset, ...valset })),
  last_observed_valset: { ...simulated.last_observed_valset, ...partialState.last_observed_valset },
};

const votedByAll = { ...idleState.attestations[0], votes: [0, 1, 2, 3].map(vote) };

/** An endpoint that is polled at minutes of a simulated clock. */
function endpoint() {
  const context = bridgeContext({ tokens: [TOKEN] });
  const endpoints = recordedStates([context], LIMITS, at(0));
  const recordPoll = (poll: PollResult, now: Moment): void => void endpoints.record(context, poll, now);
  const targets = (now: Moment): readonly JudgedTarget[] => endpoints.problems(now);
  return {
    targets,
    succeed: (minute: number, state: object = {}, options: Pick<BridgeOptions, 'height'> = {}, now = at(minute)) => {
      const document = { ...idleState, attestations: [votedByAll], ...state };
      const height = String(1000 + Math.floor(minute));
      recordPoll(bridgePoll(document, { height, atMs: (now.at - START.at) * 1000, ...options }), now);
    },
    fail: (minute: number, reason: FailureReason = 'timeout') =>
      recordPoll({ outcome: { ok: false, error: { reason, message: '/x: no answer' } }, phaseSeconds: {} }, at(minute)),
    linesAt: (minute: number) => linesOf(targets(at(minute))),
  };
}

function linesOf([target]: readonly JudgedTarget[]): string[] {
  if (target === undefined) return [];
  const { status, unknown, problems } = target;
  return [
    status,
    ...unknown,
    ...problems.map((problem) => `${problem.state} ${problem.alert}: ${formatSentence(problem)}`),
  ];
}

/** A token whose transfers pay for a batch. */
const TOKEN = { contract: '0xt', decimals: 6, min_batch_fee: '1' };

/** Transfers that wait with sufficient fees. */
const waiting = { unbatched_transfers: Array.from({ length: 10 }, (_, index) => transfer(String(index + 1))) };
const idle = {};

describe('the problems about an endpoint', () => {
  it('are unknown before the first poll, and before the first success', () => {
    const { linesAt, fail } = endpoint();
    expect(linesAt(1)).toEqual(['unknown', 'module_state is not polled, for 60 s']);
    expect(linesAt(11)).toEqual([
      'critical',
      'module_state is not polled, for 11 min',
      'firing BridgeSnapshotStale: module_state is not polled, for 11 min',
    ]);
    fail(12);
    expect(linesAt(12)).toEqual([
      'critical',
      'no poll of module_state has succeeded since the endpoint was added, for 12 min',
      'firing BridgeSnapshotStale: no poll of module_state has succeeded since the endpoint was added, for 12 min; /x: no answer',
    ]);
  });

  it('are unknown when the data becomes stale, and say since when', () => {
    const { succeed, fail, linesAt, targets } = endpoint();
    for (const minute of [0, 1, 2]) succeed(minute, idle);
    expect(linesAt(2)).toEqual(['ok']);
    for (const minute of [3, 4, 5, 6]) fail(minute);
    expect(linesAt(6)).toEqual([
      'warning',
      'firing BridgeEndpointDown: polls of module_state fail, for 3 min; /x: no answer',
      'pending BridgeSnapshotStale: no poll of module_state succeeds, for 4 min; /x: no answer',
    ]);
    expect(linesAt(13)).toEqual([
      'critical',
      'no poll of module_state succeeds, for 11 min',
      'firing BridgeSnapshotStale: no poll of module_state succeeds, for 11 min; /x: no answer',
      'firing BridgeEndpointDown: polls of module_state fail, for 10 min; /x: no answer',
    ]);
    expect(targets(at(13))[0]?.problems[0]?.startSeconds).toBe(at(2).at);
  });

  it('say what to do about the last failure', () => {
    const { succeed, fail, targets } = endpoint();
    succeed(0);
    const actionsAt = (minute: number) => targets(at(minute))[0]?.problems.map(({ action }) => action);
    for (const minute of [1, 2, 3, 4, 5]) fail(minute, 'connect');
    const { remedy } = failureReasons.connect;
    expect(actionsAt(5)).toEqual([remedy, remedy]);
    fail(6, 'dns');
    expect(actionsAt(6)?.[0]).toBe(failureReasons.dns.remedy);
  });

  it('wait for the alert on polls that fail, however late the first one is, and longer for a contract', () => {
    const context: StepContext<'external_contract'> = {
      ...TARGET_OPTIONS,
      document: 'external_contract',
      settings: {},
    };
    const endpoints = recordedStates([context], LIMITS, at(0));
    const error = { reason: 'timeout', message: 'rpc: no answer' } as const;
    const linesAt = (minute: number): string[] => linesOf(endpoints.problems(at(minute)));
    const failFrom = (first: number, last: number): void => {
      for (let minute = first; minute <= last; minute += 1) {
        endpoints.record(context, { outcome: { ok: false, error }, phaseSeconds: {} }, at(minute));
      }
    };
    failFrom(8, 9);
    expect(linesAt(9)).toEqual(['ok']);
    failFrom(10, 10);
    expect(linesAt(10)[0]).toBe('pending');
    failFrom(11, 14);
    expect(linesAt(14)).toEqual([
      'warning',
      'firing BridgeEndpointDown: polls of external_contract fail, for 6 min; rpc: no answer',
    ]);
    failFrom(15, 16);
    expect(linesAt(16)[1]).toMatch(/^firing BridgeEndpointDown: polls of external_contract fail, for 8 min/);
  });

  it('of polls that fail follow from none of the document: a node that stands still does not make them fail', () => {
    const { succeed, fail, targets } = endpoint();
    for (let minute = 0; minute <= 16; minute += 1) succeed(minute, idle, { height: '52' });
    for (const minute of [17, 18, 19, 20]) fail(minute);
    expect(targets(at(20))[0]?.problems.map(({ alert, hiddenBy }) => [alert, hiddenBy])).toEqual([
      ['BridgeHeightStalled', null],
      ['BridgeEndpointDown', null],
      ['BridgeSnapshotStale', null],
    ]);
  });

  it('wait for the alerts on responses that are near the size limit and on dropped series', () => {
    const context = bridgeContext({ maxSeries: 1 });
    const endpoints = recordedStates([context], LIMITS, at(0));
    const statesAt = (minute: number): unknown => {
      const poll = bridgePoll(idleState, { height: String(1000 + minute), atMs: (at(minute).at - START.at) * 1000 });
      endpoints.record(context, { ...poll, bodyBytes: minute === 7 ? 10 : 900_000 }, at(minute));
      const problems = endpoints.problems(at(minute)).flatMap((target) => target.problems);
      const stateOf = (alert: string): unknown => problems.find((problem) => problem.alert === alert)?.state;
      return [stateOf('BridgeResponseNearLimit'), stateOf('BridgeExporterSeriesDropped')];
    };
    expect(Array.from({ length: 18 }, (_, minute) => statesAt(minute))).toEqual([
      ...Array.from({ length: 5 }, () => ['pending', 'pending']),
      ['firing', 'pending'],
      ['firing', 'pending'],
      [undefined, 'pending'],
      // The size of the response was not near the limit a poll ago.
      ...Array.from({ length: 5 }, () => ['pending', 'pending']),
      ['firing', 'pending'],
      ['firing', 'pending'],
      ...Array.from({ length: 3 }, () => ['firing', 'firing']),
    ]);
  });

  it('are those of a wrong configuration since the first poll that failed for it', () => {
    const { succeed, fail, linesAt } = endpoint();
    succeed(0);
    for (const minute of [1, 2, 3, 4, 5]) fail(minute, 'connect');
    fail(6, 'unauthorized');
    const misconfigured = (minute: number) => linesAt(minute).filter((line) => line.includes('misconfigured'));
    expect(misconfigured(6)[0]).not.toMatch(/^firing/);
    for (const minute of [7, 8, 9, 10]) fail(minute, 'unauthorized');
    expect(misconfigured(10)[0]).toMatch(/^firing .* for 4 min/);
  });

  it('are critical when its node served the document before a restart, with a state file', () => {
    const phases = [
      { minutes: 10 },
      { minutes: 2, exporterDown: true },
      { minutes: 15, crosschain: { fails: 'status', isNotServed: true } },
    ] as const;
    const severities = ([target]: readonly JudgedTarget[]): unknown =>
      target?.problems.map(({ alert, severity }) => `${alert} ${severity}`);
    expect(severities(record(phases, { valsets: 3, hasStateFile: true }).problems)).toEqual([
      'BridgeSnapshotStale critical',
      'BridgeEndpointDown warning',
    ]);
    expect(severities(record(phases, { valsets: 3 }).problems)).toEqual(['BridgeEndpointDown warning']);
  });

  it('do not mention what began recently, and after a third of the time of the alert, when it will fire', () => {
    const { succeed, linesAt, targets } = endpoint();
    for (const minute of [0, 1]) succeed(minute, idle);
    for (let minute = 2; minute <= 51; minute += 1) succeed(minute, waiting);
    expect(linesAt(18)).toEqual(['ok']);
    expect(linesAt(19)).toEqual([
      'pending',
      'pending BridgeBacklogStuck: transfers of 0xt wait with sufficient fees, and no batch is built, for at least 17 min; 10 transfers waiting',
    ]);
    expect(targets(at(51))[0]?.problems[0]?.firesAtSeconds).toBe(at(52).at);
    expect(linesAt(52)).toEqual([
      'critical',
      'firing BridgeBacklogStuck: transfers of 0xt wait with sufficient fees, and no batch is built, for at least 50 min; 10 transfers waiting',
    ]);
  });

  it('tell a field that is missing, unless no alert reads it and the node has never had it', () => {
    const { succeed, linesAt } = endpoint();
    const { claim_slashing_enabled: _unread, ...withoutUnread } = idleState.params;
    for (let minute = 0; minute < 15; minute += 1) succeed(minute, { params: withoutUnread });
    expect(linesAt(14)).toEqual(['ok']);
    for (let minute = 15; minute <= 30; minute += 1) {
      succeed(minute, { params: withoutUnread, batch_confirms: 'none' });
    }
    const [status, warning] = linesAt(30);
    expect(status).toBe('warning');
    expect(warning).toMatch(
      /^firing BridgeProblemUnjudged: BridgeBatchUnsigned and 4 other problems of module_state cannot be judged, for 15 min; missing: state\.params\.claim_slashing_enabled; invalid values of state\.batch_confirms; not judged: .*BridgeBatchUnsigned/,
    );
  });
});

it('judges targets in the order of the configuration', () => {
  const keys: EndpointKey[] = [
    { target: 'b', document: 'module_state' },
    { target: 'a', document: 'module_state' },
    { target: 'b', document: 'rate_limiter_input' },
  ];
  const targets = recordedStates(keys, LIMITS, at(0)).problems(at(1));
  expect(targets.map(({ target, unknown }) => [target, unknown.length])).toEqual([
    ['b', 2],
    ['a', 1],
  ]);
});
