import { setImmediate as nextTurn } from 'node:timers/promises';
import { toMilliseconds, type Moment } from '../clock.js';
import { configSchema, DEFAULT_TARGET_NAME } from '../config/config.js';
import { createEndpoint, createEngine, type Poll } from '../engine/engine.js';
import { createJobs, type PollJob } from '../engine/jobs.js';
import { makeDirectory, openDirectory, type RecordingDirectory } from '../recorder/directory.js';
import { createRecorder } from '../recorder/recorder.js';
import { createModel } from '../simulator/model.js';
import { createSimulatedNode } from '../sources/simulated-node.js';
import type { CommandContext, ExitCode } from './context.js';
import type { SimulateFlags } from './flags.js';
import { createLog } from './log.js';

/** The address is in no recording. */
const url = 'http://simulated.invalid';

const config = configSchema.parse({
  targets: [{ name: DEFAULT_TARGET_NAME, bridge: { url }, crosschain: { url } }],
});

/** In virtual time nothing takes time, so that equal simulations have equal recordings. */
const NO_TIME = { fetch: 0, decode: 0, derive: 0 } as const;

/** `simulate --record`: polls and records a simulated chain as fast as it can be simulated. */
export async function recordSimulation(
  options: Omit<SimulateFlags, 'nodes' | 'dialect'> & { readonly record: string },
  context: CommandContext,
): Promise<ExitCode> {
  const { seed, scenario, blockTime: blockTimeMs, record: directory, duration, interval } = options;
  const startTime = options.startTime ?? Math.floor((Date.now() - duration) / 1000);
  const model = createModel({ seed, scenario, blockTimeMs, startTime });
  await makeDirectory(directory);
  const recording = await openDirectory(directory, { sync: false });

  let timeMs = startTime * 1000;
  const now = (): Moment => ({ at: toMilliseconds(timeMs / 1000), clockOffset: 0 });
  /** The polls of a round; the queries follow them. */
  let polls: Promise<readonly Poll[]> = Promise.resolve([]);
  const waiting: Parameters<RecordingDirectory['write']>[] = [];
  const recorder = createRecorder(createLog(options, context).log, now, {
    open: () => undefined,
    write: (_settings, header, body, queryLines) => void waiting.push([header, body, { queryLines }]),
    status: () => ({ recorded: 0, failed: 0, bytes: undefined, failure: undefined }),
    close: async () => undefined,
  });
  recorder.configure({ directory, max_size: Infinity, interval: 0 });
  const node = createSimulatedNode(model, now);
  const engine = createEngine<PollJob>({
    source: {
      document: async (job, request) => ({ ...(await node.document(job, request)), phaseSeconds: NO_TIME }),
      query: async (...request) => {
        await polls;
        return node.query(...request);
      },
    },
    now,
    sinks: [recorder],
  });
  engine.replace(createJobs(config).map((job) => createEndpoint(job, now().at)));

  const endMs = timeMs + duration;
  const stopped = context.waitForStopSignal().then(() => 'stopped' as const);
  for (let roundMs = timeMs; roundMs <= endMs; roundMs += interval) {
    if (roundMs > timeMs) model.advanceTime(interval);
    timeMs = roundMs;
    polls = Promise.all(engine.endpoints().map(async ({ job }) => engine.poll(job)));
    // oxlint-disable no-await-in-loop -- polls are recorded in sequence, as fast as the disk allows
    const ended = await polls;
    // The first documents step again, with the answers to their queries.
    timeMs += 1;
    await Promise.all(ended.map(async ({ settled }) => settled));
    for (const poll of waiting.splice(0)) await recording.write(...poll);
    context.showProgress(`recorded until ${new Date(roundMs).toISOString().slice(0, 16)}`);
    if ((await Promise.race([stopped, nextTurn('next' as const)])) === 'stopped') break;
    // oxlint-enable no-await-in-loop
  }
  context.showProgress(undefined);
  context.print(`recorded the scenario ${scenario} in ${directory}\n`);
  return 0;
}
