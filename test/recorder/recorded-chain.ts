import { mkdirSync } from 'node:fs';
import { pino } from 'pino';
import type { Moment } from '../../src/clock.js';
import { configSchema, DEFAULT_TARGET_NAME } from '../../src/config/config.js';
import { createEndpoint, createEngine, type SteppedPoll } from '../../src/engine/engine.js';
import type { EndpointState } from '../../src/engine/endpoint-state.js';
import { createJobs, type PollJob } from '../../src/engine/jobs.js';
import { createProblemLog } from '../../src/engine/poll-log.js';
import type { Received } from '../../src/engine/source.js';
import { openDirectory } from '../../src/recorder/directory.js';
import { createRecorder } from '../../src/recorder/recorder.js';
import { RPC_PATH } from '../../src/simulator/json-rpc.js';
import { createModel, type Model } from '../../src/simulator/model.js';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { createSimulatedNode } from '../../src/sources/simulated-node.js';

interface RecordedChain {
  readonly directory: string;
  /** Since the start. */
  readonly scenario: ScenarioName;
  /** After healthy minutes, another scenario begins. */
  readonly incident?: readonly [minute: number, scenario: ScenarioName];
  readonly minutes: number;
  readonly startTime: number;
  readonly pollSeconds?: number;
  readonly intervalMinutes?: number;
  readonly blockTimeMs?: number;
  /** What a poll gets instead of the document of the chain. */
  readonly respond?: (received: Received, seconds: number) => Received;
  /** Called after each round of polls, with what the daemon knows. */
  readonly polled?: (states: readonly EndpointState[], now: Moment) => void;
}

const url = 'http://simulated.invalid';

/** Polls a simulated chain in virtual time as a daemon does, and records it. */
export async function recordChain({
  directory,
  scenario,
  incident: [incidentMinute, incidentScenario] = [Infinity, scenario],
  minutes,
  startTime,
  pollSeconds = 60,
  intervalMinutes = 5,
  blockTimeMs = 6_000,
  respond = (received) => received,
  polled,
}: RecordedChain): Promise<Model> {
  const config = configSchema.parse({
    targets: [{ name: DEFAULT_TARGET_NAME, bridge: { url, external: { url: url + RPC_PATH } }, crosschain: { url } }],
  });
  const model = createModel({ seed: 1, scenario, startTime, blockTimeMs });
  let seconds = 0;
  const now = (): Moment => ({ at: startTime + seconds, clockOffset: 0 });
  const node = createSimulatedNode(model, now);
  mkdirSync(directory, { recursive: true });
  const files = await openDirectory(directory);
  const log = pino({ level: 'silent' });
  const written: Promise<void>[] = [];
  const recorder = createRecorder(log, now, {
    open: () => undefined,
    write: async (_settings, header, body) => void written.push(files.write(header, body, Infinity)),
    status: () => ({ recorded: 0, failed: 0, bytes: undefined, failure: undefined }),
    close: async () => undefined,
  });
  recorder.configure({ directory, max_size: Infinity, interval: intervalMinutes * 60_000 });
  const problemLog = createProblemLog(
    log,
    () => engine.states(),
    now,
    (target) => recorder.recordNext(target),
  );
  const sinks = [recorder, { polled: (poll: SteppedPoll) => problemLog.polled(poll) }];
  const engine = createEngine<PollJob>({
    source: { ...node, document: async (...request) => respond(await node.document(...request), seconds) },
    now,
    sinks,
  });
  engine.replace(createJobs(config).map((job) => createEndpoint(job, now().at)));
  for (; seconds <= minutes * 60; seconds += pollSeconds) {
    if (seconds > 0) model.advanceTime(pollSeconds * 1000);
    if (seconds >= incidentMinute * 60 && model.scenario !== incidentScenario) model.setScenario(incidentScenario);
    for (const { job } of engine.endpoints()) {
      await (
        await engine.poll(job)
      ).settled;
    }
    polled?.(engine.states(), now());
  }
  await Promise.all(written);
  return model;
}
