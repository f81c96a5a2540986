import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { DEFAULT_TARGET_NAME, defaultConfig } from '../config/config.js';
import { defaultBridgeSettings, defaultCrosschainSettings } from '../config/endpoint-config.js';
import { readProblem } from '../config/text-file.js';
import { BodyBudget, bufferBody } from '../http/body.js';
import { failure, RequestError, type Failure } from '../http/failure-reasons.js';
import { MAX_UNRECOGNIZED_FIELDS, parseJson, unrecognizedFields } from '../chain/document.js';
import { clock } from '../clock.js';
import type { StepContext } from '../document-types.js';
import { documents } from '../documents.js';
import { initialState } from '../poll/endpoint-state.js';
import { targetOptions } from '../poll/jobs.js';
import { readPoll, timedStep } from '../poll/read-poll.js';
import type { CommandContext, ExitCode } from './context.js';
import { type ReplayFlags, STANDARD_INPUT } from './flags.js';
import { inactiveWatched, reportDocuments, type ReadEndpoint } from './summary.js';
import { configOrExitCode } from './configuration.js';
import { cleanText } from '../text/untrusted-text.js';

/** `replay`: prints the metrics of a recording, or of response bodies with the settings of the first target. Rejects if a file cannot be read. */
export async function runReplay(options: ReplayFlags, context: CommandContext): Promise<ExitCode> {
  const config = await configOrExitCode(context, options, defaultConfig);
  if (typeof config === 'number') return config;
  const { recording, bridge, crosschain, hubHeight } = options;
  if (recording !== undefined && options.serve) {
    const { serveRecording } = await import('./recording-pages.js');
    return serveRecording({ ...options, recording }, config, context);
  }
  if (recording !== undefined) {
    const { replayRecording } = await import('./recording-metrics.js');
    return replayRecording({ ...options, recording }, config, context);
  }
  // Without a matching target file, there is no target.
  const [target = { name: DEFAULT_TARGET_NAME }] = config.targets;
  const base = { ...targetOptions(config, target), isSinglePoll: true };
  const endpoints: ReadEndpoint[] = [];
  const warnings: string[] = [];
  const read = async (stepContext: StepContext, file: string, height?: string): Promise<void> => {
    const source = file === STANDARD_INPUT ? 'standard input' : file;
    const bytes = await readFileBody(file, context.stdin, source, config.poll.max_body_size);
    const received = Buffer.isBuffer(bytes)
      ? ({ ok: true, bytes, source, height, receivedAt: clock() } as const)
      : bytes;
    const poll = readPoll(received, stepContext);
    const before = initialState(stepContext, clock());
    const endpoint = { context: stepContext, state: timedStep(before, poll, stepContext, clock()) };
    endpoints.push(endpoint);
    if (!poll.outcome.ok || !Buffer.isBuffer(bytes)) return;
    warnings.push(...unrecognizedWarning(source, stepContext, bytes), ...inactiveWatched(source, endpoint));
  };
  if (bridge !== undefined) {
    const settings = target.bridge ?? defaultBridgeSettings;
    await read({ ...base, document: 'module_state', settings }, bridge, hubHeight);
  }
  if (crosschain !== undefined) {
    const settings = target.crosschain ?? defaultCrosschainSettings;
    await read({ ...base, document: 'rate_limiter_input', settings }, crosschain);
  }
  return reportDocuments(context, endpoints, warnings, 'recorded body');
}

function unrecognizedWarning(name: string, { document }: StepContext, body: Buffer): string[] {
  const { schema } = documents[document];
  const parsed = parseJson(body);
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
    return (await bufferBody(stream, maxBytes, new BodyBudget(), 'poll.max_body_size')).bytes;
  } catch (cause) {
    if (!(cause instanceof RequestError)) throw new Error(`${source}: ${readProblem(source, cause)}`, { cause });
    return failure(cause.reason, `${source}: ${cause.message}`);
  }
}
