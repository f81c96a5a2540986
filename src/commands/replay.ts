import { createReadStream } from 'node:fs';
import { DEFAULT_TARGET_NAME, defaultConfig, hash48, type Config } from '../config/config.js';
import { formatConfig } from '../config/loader.js';
import { readProblem } from '../config/text-files.js';
import { bufferBody } from '../http/response.js';
import { failure, RequestError } from '../http/failure-reasons.js';
import { createClock } from '../clock.js';
import type { DocumentName } from '../document-types.js';
import { documents } from '../documents.js';
import { endpointId, initialState } from '../engine/endpoint-state.js';
import { createJobs, stepContext, targetOptions, targetsHash } from '../engine/jobs.js';
import type { EndpointJob, Received } from '../engine/source.js';
import { renderEndpoints } from '../exposition/metrics-page.js';
import { renderProcess } from '../exposition/exporter-metrics.js';
import { readRecording, replay, type ReplayMoment } from '../sources/recording.js';
import { HOUR_MS, MINUTE_MS } from '../units.js';
import type { CommandContext, ExitCode } from './context.js';
import { type ReplayFlags, STANDARD_INPUT } from './flags.js';
import { pollOnce, reportDocuments } from './once.js';
import { configOrExitCode } from './configuration.js';

/** `replay`: prints the metrics of a recording, or of response bodies. Rejects if a file cannot be read. */
export async function runReplay(flags: ReplayFlags, context: CommandContext): Promise<ExitCode> {
  const config = await configOrExitCode(context, flags, defaultConfig);
  if (typeof config === 'number') return config;
  const { recording, bridge, crosschain, hubHeight } = flags;
  if (recording !== undefined) {
    return replayRecording({ ...flags, recording }, config, context);
  }
  const [target = { name: DEFAULT_TARGET_NAME }] = config.targets;
  const now = createClock();
  const options = { ...targetOptions(config, target), isSinglePoll: true };
  const createJob = (document: DocumentName, file: string | undefined, height?: string): readonly FileJob[] =>
    file === undefined
      ? []
      : [{ context: stepContext(options, document, documents[document].recordedSettings(target)), file, height }];
  const jobs = [
    ...createJob('module_state', bridge, hubHeight?.toString()),
    ...createJob('rate_limiter_input', crosschain),
  ];
  const document = async ({ file, height }: FileJob): Promise<Received> => {
    const source = file === STANDARD_INPUT ? 'standard input' : file;
    try {
      const stream = file === STANDARD_INPUT ? context.stdin : createReadStream(file);
      const bytes = await bufferBody(stream, config.poll.max_body_size);
      return { ok: true, bytes, source, height, receivedAt: now().at };
    } catch (cause) {
      if (!(cause instanceof RequestError)) throw new Error(`${source}: ${readProblem(source, cause)}`, { cause });
      return failure(cause.reason, `${source}: ${cause.message}`);
    }
  };
  const addedAt = now().at;
  const endpoints = await pollOnce(
    jobs.map((job) => ({ job, state: initialState(job.context, addedAt) })),
    { document },
    now,
  );
  return reportDocuments(context, endpoints, now(), { fileRemedy: FILE_REMEDY });
}

const FILE_REMEDY = 'Check that it is the unchanged body of a response, and of the document that the flag names.';

/** A document in a file. */
interface FileJob extends EndpointJob {
  readonly file: string;
  readonly height: string | undefined;
}

/** The usual interval of scrapes and evaluations. Series of Prometheus end 5 minutes after their last sample. */
export const STEP_MS = MINUTE_MS;

/** Earlier polls that are read for measured block times, and for the counters of the flow. */
const WARM_UP_MS = 2 * HOUR_MS;

interface RecordingRange {
  readonly recording: string;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly target?: string | undefined;
}

/** `replay --recording`: prints the exposition of a recording over time, as OpenMetrics with timestamps. */
export async function replayRecording(
  range: RecordingRange,
  config: Config,
  context: CommandContext,
): Promise<ExitCode> {
  const recording = openRecording(range, config, context);
  const stampAt = createTimestamps();
  let exporterText: string | undefined;
  for await (const { timeMs, now, isStep, states } of recording.moments()) {
    let text = renderEndpoints(states, 'openmetrics', now);
    if (isStep) text += exporterText ??= exporterFamilies(config, context, timeMs);
    await context.write(stampAt(text, timeMs));
  }
  await context.write('# EOF\n');
  const notJudged = recording.notJudged();
  if (notJudged.length > 0) context.printError(`not judged by the recording: ${notJudged.join(', ')}`);
  return recording.problems() === 0 ? 0 : 1;
}

/**
 * A recording that is replayed once. Its problems are printed. `warmUpMs`: how much before the range polls are read.
 */
export function openRecording(
  { recording: directory, from: fromMs = -Infinity, to: toMs = Infinity, target }: RecordingRange,
  config: Config,
  { printError }: CommandContext,
  warmUpMs = WARM_UP_MS,
) {
  let problems = 0;
  const notJudged = new Map<string, readonly string[]>();
  const onProblem = (message: string): void => {
    problems += 1;
    printError(`bridge-exporter: ${message}`);
  };
  async function* moments(): AsyncGenerator<ReplayMoment> {
    const maxBodyBytes = config.poll.max_body_size;
    const polls = readRecording(directory, { fromMs: fromMs - warmUpMs, toMs, target, maxBodyBytes, onProblem });
    for await (const moment of replay(polls, config, { fromMs, toMs, stepMs: STEP_MS })) {
      for (const state of moment.states) {
        const { judgement } = state.lastSuccess?.snapshot ?? {};
        if (judgement !== undefined) notJudged.set(endpointId(state), judgement.notJudgedHere);
      }
      yield moment;
    }
  }
  return {
    moments,
    /** The number of files that cannot be read. */
    problems: () => problems,
    /** The names of the problems that need fields or answers to queries that the recording does not have. */
    notJudged: () => Array.from(new Set(Array.from(notJudged.values()).flat())).toSorted(),
  };
}

/**
 * Adds timestamps to texts of OpenMetrics in the order of time. HELP and TYPE of a family precede its first sample
 * only: Prometheus requires no more, and a text in the order of families could not be streamed.
 */
function createTimestamps(): (openMetrics: string, timeMs: number) => string {
  const described = new Set<string>();
  return (openMetrics, timeMs) => {
    const timestamp = ` ${(timeMs / 1000).toFixed(3)}\n`;
    const lines = openMetrics.split('\n').filter((line) => line !== '' && !described.has(line));
    for (const line of lines) if (line.startsWith('#')) described.add(line);
    return lines.map((line) => (line.startsWith('#') ? `${line}\n` : line + timestamp)).join('');
  };
}

/**
 * The families of the process, which rules on a missing exporter read, for an exporter with this configuration that has
 * run since the first sample.
 */
function exporterFamilies(config: Config, { build }: CommandContext, sinceMs: number): string {
  return renderProcess(
    {
      build,
      shard: { index: 1, count: 1 },
      config: { hash: hash48(formatConfig(config)), targets: config.targets.length, loadedAt: sinceMs / 1000 },
      isConfigRejected: false,
      targetsHash: () => targetsHash(createJobs(config).map(({ context }) => context)),
      recorder: undefined,
      clockOffset: 0,
    },
    'openmetrics',
  );
}
