import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { DEFAULT_TARGET_NAME, defaultConfig } from '../config/config.js';
import { readProblem } from '../config/text-files.js';
import { bufferBody } from '../http/response.js';
import { failure, RequestError, type Failure } from '../http/failure-reasons.js';
import { MAX_UNRECOGNIZED_FIELDS, parseJson, unrecognizedFields } from '../chain/document.js';
import { createClock } from '../clock.js';
import type { DocumentName, StepContext } from '../document-types.js';
import { documents } from '../documents.js';
import { initialState } from '../engine/endpoint-state.js';
import { stepContext, targetOptions } from '../engine/jobs.js';
import type { EndpointJob, Received } from '../engine/source.js';
import { runToEnd } from '../parts.js';
import { type CommandContext, type ExitCode, printWarnings } from './context.js';
import { type ReplayFlags, STANDARD_INPUT } from './flags.js';
import { pollOnce, reportDocuments } from './summary.js';
import { configOrExitCode } from './configuration.js';
import { cleanText } from '../text/untrusted-text.js';

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
  const bodies = new Map<FileJob, Buffer>();
  const document = async (job: FileJob): Promise<Received> => {
    const source = nameSource(job);
    const bytes = await readFileBody(job.file, context.stdin, source, config.poll.max_body_size);
    if (!Buffer.isBuffer(bytes)) return bytes;
    bodies.set(job, bytes);
    return { ok: true, bytes, source, height: job.height, receivedAt: now().at };
  };
  const addedAt = now().at;
  const endpoints = await pollOnce(
    jobs.map((job) => ({ job, state: initialState(job.context, addedAt) })),
    { document },
    now,
  );
  for (const { job, state } of endpoints) {
    const body = state.lastPoll?.ok === true ? bodies.get(job) : undefined;
    if (body !== undefined) printWarnings(context, unrecognizedWarning(nameSource(job), job.context, body));
  }
  return reportDocuments(context, endpoints, now(), { fileRemedy: FILE_REMEDY });
}

const FILE_REMEDY = 'Check that it is the unchanged body of a response, and of the document that the flag names.';

/** A document in a file. */
interface FileJob extends EndpointJob {
  readonly file: string;
  readonly height: string | undefined;
}

function nameSource({ file }: FileJob): string {
  return file === STANDARD_INPUT ? 'standard input' : file;
}

function unrecognizedWarning(name: string, { document }: StepContext, body: Buffer): string[] {
  const { schema } = documents[document];
  const parsed = runToEnd(parseJson(body));
  if (schema === undefined || !parsed.ok) return [];
  const fields = Array.from(unrecognizedFields(schema, parsed.json), (field) => cleanText(field));
  if (fields.length === 0) return [];
  if (fields.length === MAX_UNRECOGNIZED_FIELDS) fields.push('and possibly more');
  return [`${name}: unrecognized fields are ignored: ${fields.join(', ')}`];
}

async function readFileBody(
  file: string,
  standardInput: Readable,
  source: string,
  maxBytes: number,
): Promise<Buffer | Failure> {
  try {
    const stream = file === STANDARD_INPUT ? standardInput : createReadStream(file);
    return await bufferBody(stream, maxBytes);
  } catch (cause) {
    if (!(cause instanceof RequestError)) throw new Error(`${source}: ${readProblem(source, cause)}`, { cause });
    return failure(cause.reason, `${source}: ${cause.message}`);
  }
}
