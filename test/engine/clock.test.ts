import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createClock, wallSeconds } from '../../src/clock.js';
import { demoConfig } from '../../src/commands/demo.js';
import { createEngine, type Engine } from '../../src/engine/engine.js';
import { exportedFamilies, initialState } from '../../src/engine/endpoint-state.js';
import { createJobs, type PollJob } from '../../src/engine/jobs.js';
import { createPollLog, createProblemLog } from '../../src/engine/poll-log.js';
import { judgeTargets } from '../../src/engine/target-problems.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import { failure } from '../../src/http/failure-reasons.js';
import { enabledQueries } from '../../src/queries/node-queries.js';
import { createModel } from '../../src/simulator/model.js';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { createSimulatedNode } from '../../src/sources/simulated-node.js';

/* The engine on a machine whose clocks are set or suspended, with a chain that keeps the right time. */

const START_SECONDS = 1_790_000_000;
const STALE_AFTER_MS = 300_000;
const HOUR_SECONDS = 3600;
/** More than between the end of a poll and that of its queries. */
const IDLE_TURNS = 10;

/** `aheadSeconds`: by how much the wall clock is wrong at first. */
function startMachine(aheadSeconds = 0) {
  const model = createModel({ seed: 1, scenario: 'healthy', blockTimeMs: 20_000, startTime: START_SECONDS });
  let [wall, monotonic, uptime] = [START_SECONDS + aheadSeconds, 1000.4, 5000.7];
  const now = createClock({
    wallMs: () => wall * 1000,
    monotonicMs: () => monotonic * 1000,
    uptimeSeconds: () => Math.floor(uptime),
  });
  const logged: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line).msg) });
  const problemLog = createProblemLog(
    log,
    () => engine.states(),
    now,
    () => undefined,
  );
  const node = createSimulatedNode(model, now);
  let isFailing = false;
  const engine: Engine<PollJob> = createEngine({
    source: {
      ...node,
      document: async (...request) => (isFailing ? failure('timeout', 'slow') : node.document(...request)),
    },
    now,
    sinks: [createPollLog(log), problemLog],
  });
  engine.replace(
    createJobs(demoConfig('http://127.0.0.1:1', model)).map((job) => {
      const context = { ...job.context, staleAfterMs: STALE_AFTER_MS };
      const state = { ...initialState(context, now().at), queries: enabledQueries(context) };
      return { job: { ...job, context }, state };
    }),
  );

  function pass(seconds: number): void {
    wall += seconds;
    monotonic += seconds;
    uptime += seconds;
    model.advanceTime(seconds * 1000);
  }

  return {
    pass,
    /** Polls all documents at this interval. */
    poll: async (times: number, seconds = 30): Promise<void> => {
      for (let time = 0; time < times; time += 1) {
        pass(seconds);
        for (const { job } of engine.endpoints()) {
          const { settled } = await engine.poll(job);
          await settled;
          for (let turn = 0; turn < IDLE_TURNS; turn += 1) await nextTurn();
        }
      }
    },
    /** All polls fail from now on. */
    fail: (): void => void (isFailing = true),
    begin: (scenario: ScenarioName) => model.setScenario(scenario),
    set: (seconds: number): void => void (wall += seconds),
    suspend: (seconds: number): void => {
      wall += seconds;
      uptime += seconds;
      model.advanceTime(seconds * 1000);
    },
    wallNow: () => wallSeconds(now().at, now()),
    /** The log since the last call. */
    logged: () => logged.splice(0),
    alerts: () =>
      judgeTargets(engine.states(), now()).flatMap(({ problems }) =>
        problems.map(({ state, severity, alert }) => `${state} ${severity} ${alert}`),
      ),
    status: () => judgeTargets(engine.states(), now()).map(({ status }) => status),
    problems: () =>
      engine.states().flatMap(({ lastSuccess }) =>
        (lastSuccess?.snapshot.judgement.present ?? []).map(({ problem: { name }, isProven, startAt }) => ({
          name,
          isProven,
          start: wallSeconds(startAt, now()),
        })),
      ),
    seriesCounts: () => engine.states().map((state) => exportedFamilies(state, now().at).length),
    /**
     * The timestamps of the page, without those of problems with the clock itself, of what BridgeNodeBehind hides by a wrong clock and for 15 minutes
     * after it, and of one that is not judged while the clock is wrong.
     */
    timestamps: () =>
      renderEndpoints(engine.states(), 'text', now())
        .split('\n')
        .filter(
          (line) => /^\w+_timestamp_seconds\{/.test(line) && !/Behind"|BridgeOracleSilent|_due_.*warning/.test(line),
        ),
  };
}

const SETTINGS = [
  ['forward from 1970', START_SECONDS - 100],
  ['back by 1 h', -HOUR_SECONDS],
] as const;

/** What the exporter says about a clock that is wrong by hours. */
const CLOCK_PROBLEMS = new Set(['firing warning BridgeClockBehind', 'firing warning BridgeNodeBehind']);

/** What a machine shows before its clock is set, at once, and after more polls. */
async function observed(machine: ReturnType<typeof startMachine>, set: number) {
  await machine.poll(20, 60);
  const before = machine.alerts();
  machine.logged();
  machine.set(set);
  machine.pass(1);
  const atOnce = { wall: machine.wallNow(), alerts: machine.alerts(), timestamps: machine.timestamps() };
  const counts = machine.seriesCounts();
  await machine.poll(8);
  return { before, atOnce, counts, after: { alerts: machine.alerts(), timestamps: machine.timestamps() } };
}

/** The problems of a machine before and after its clock is set, while the chain is stuck. */
async function observedProblems(machine: ReturnType<typeof startMachine>, set: number) {
  machine.begin('stuck');
  machine.pass(2400);
  await machine.poll(6, 200);
  const before = machine.problems();
  machine.set(set);
  await machine.poll(8);
  return { before, after: machine.problems() };
}

describe('a wall clock that is set', async () => {
  const right = await observed(startMachine(), 0);
  const rightProblems = await observedProblems(startMachine(), 0);

  it.each(SETTINGS)(
    '%s neither begins a problem nor withdraws series, and corrects all times at once',
    async (_, set) => {
      const machine = startMachine(-set);
      const { before, atOnce, counts, after } = await observed(machine, set);
      expect(before.filter((alert) => !CLOCK_PROBLEMS.has(alert))).toEqual(right.before);
      expect(before).not.toEqual([]);
      expect(atOnce.wall).toBeCloseTo(right.atOnce.wall);
      expect(atOnce.alerts).toEqual(before);
      expect(atOnce.timestamps).toEqual(right.atOnce.timestamps);
      expect(counts.every((count) => count > 0)).toBe(true);
      expect(after).toEqual(right.after);
      expect(machine.logged().filter((line) => !line.startsWith('no longer warning, ended: '))).toEqual([]);
    },
  );

  it.each(SETTINGS)('%s corrects the starts that times of the chain prove with the next poll', async (_, set) => {
    const { before, after } = await observedProblems(startMachine(-set), set);
    const tooOld = (all: typeof before) => all.find(({ name }) => name === 'CrosschainOldestPendingTooOld');
    // By a clock that is behind, its transactions are not old yet.
    expect(tooOld(before)?.isProven).toBe(set < 0 ? true : undefined);
    expect(tooOld(after)).toMatchObject({ isProven: true });
    // While the clock is wrong, nothing says that the hub is not behind the contract.
    const comparable = (all: typeof before) => all.filter(({ name }) => name !== 'BridgeOracleSilent');
    expect(comparable(after)).toEqual(comparable(rightProblems.after));
  });
});

describe('a machine that is suspended for 3 h', () => {
  it('has no series and an unknown status until its next polls, and no problem', async () => {
    const machine = startMachine();
    await machine.poll(14, 60);
    const counts = machine.seriesCounts();
    machine.logged();
    machine.suspend(3 * HOUR_SECONDS);
    machine.pass(1);
    expect(machine.seriesCounts()).toEqual([0, 0, 0]);
    expect([machine.status(), machine.alerts()]).toEqual([['unknown'], []]);
    expect(machine.timestamps().filter((line) => line.includes('_last_success_'))).toHaveLength(3);
    await machine.poll(8);
    expect(machine.alerts()).toEqual([]);
    expect(machine.seriesCounts().every((count, index) => count > 0.9 * (counts[index] ?? 0))).toBe(true);
    expect(machine.logged()).toEqual([]);
  });

  it('has outdated data when polls have failed for as long as on another machine since then', async () => {
    const machine = startMachine();
    await machine.poll(14, 60);
    machine.suspend(3 * HOUR_SECONDS);
    machine.fail();
    await machine.poll(2);
    expect(machine.alerts().filter((alert) => alert.includes('Stale'))).toEqual([]);
    await machine.poll(20);
    expect(machine.alerts()).toContain('firing critical BridgeSnapshotStale');
  });
});
