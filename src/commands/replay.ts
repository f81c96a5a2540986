import { createReadStream } from 'node:fs';
import { DEFAULT_TARGET_NAME, defaultConfig } from '../config/config.js';
import { readProblem } from '../config/text-files.js';
import { bufferBody } from '../http/response.js';
import { failure, RequestError } from '../http/failure-reasons.js';
import { createClock } from '../clock.js';
import type { DocumentName } from '../document-types.js';
import { documents } from '../documents.js';
import { initialState } from '../engine/endpoint-state.js';
import { stepContext, targetOptions } from '../engine/jobs.js';
import type { EndpointJob, Received } from '../engine/source.js';
import type { CommandContext, ExitCode } from './context.js';
import { type ReplayFlags, STANDARD_INPUT } from './flags.js';
import { pollOnce, reportDocuments } from './summary.js';
import { configOrExitCode } from './configuration.js';

/** `replay`: prints the metrics of a recording, or of response bodies. Rejects if a file cannot be read. */
export async function runReplay(flags: ReplayFlags, context: CommandContext): Promise<ExitCode> {
  const config = await configOrExitCode(context, flags, defaultConfig);
  if (typeof config === 'number') return config;
  const { recording, bridge, crosschain, hubHeight } = flags;
  if (recording !== undefined) {
    const { replayRecording } = await import('./replayed-recording.js');
    return replayRecording({ ...flags, recording }, config, context);
  }
  const [target = { name: DEFAULT_TARGET_NAME }] = config.targets;
  const now = createClock();
  const options = { ...targetOptions(config, target), isSinglePoll: true };
  const createJob = (document: DocumentName, file: string | undefined, height?: string): readonly FileJob[] =>
    file === undefined
      ? []
      : [{ context: stepContext(options, document, documents[document].recordedSettings(target)), file, height }];
  const jobs = [...createJob('module_state', bridge, hubHeight), ...createJob('rate_limiter_input', crosschain)];
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
