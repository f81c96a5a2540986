import { readFile, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { STANDARD_INPUT, type Recording } from './cli/flags.js';
import { DEFAULT_TARGET_NAME, type Config } from './config/config.js';
import { describeReadError } from './config/kit/small-file.js';
import { formatApproximateSize, formatDuration, formatSize } from './config/kit/units.js';
import { defaultBridgeSettings, defaultCrosschainSettings } from './config/schema.js';
import { renderEndpoints } from './exposition/exposition.js';
import { bufferBody, BufferPool } from './http/body.js';
import { failureReasons, RequestError } from './http/errors.js';
import { sanitize } from './http/redact.js';
import { asDecimalString } from './json/numeral.js';
import { MAX_UNRECOGNIZED_FIELDS } from './json/shapes.js';
import { clock } from './poll/clock.js';
import { createEndpointStore } from './poll/endpoint-store.js';
import { endpointKeyOf, endpointOf, jobsOf, processingOptionsBase } from './poll/jobs.js';
import { createValidatorNames } from './poll/validator-names.js';
import {
  processBody,
  type FailedPoll,
  type PollExecutor,
  type PollResult,
  type ProcessingOptions,
  type Snapshot,
} from './poll/poll.js';

/* The commands `once` and `replay`: read every document once and print the metrics. */

export interface OneShot {
  /** Metrics of the documents that were read. */
  readonly exposition: string;
  readonly warnings: readonly string[];
  /** Lines that explain exit code 1. */
  readonly failures: readonly string[];
}

type Progress = (line: string) => void;

interface PolledDocument {
  readonly processing: ProcessingOptions;
  readonly result: PollResult;
}

/** Polls that take longer are announced. */
const PROGRESS_DELAY_MS = 1_000;

/** Polls every endpoint once. */
export async function pollOnce(config: Config, executor: PollExecutor, progress: Progress): Promise<OneShot> {
  const jobs = jobsOf(config);
  const timer = setTimeout(() => {
    const timeout = formatDuration(config.poll.timeoutMs);
    progress(`polling ${formatCount(jobs.length, 'endpoint')} with a timeout of ${timeout} …`);
  }, PROGRESS_DELAY_MS);
  const names = createValidatorNames(executor, {
    onFailure: (target, { message }) => progress(`${target}: validator names cannot be read: ${message}`),
    onRecovery: () => undefined,
  });
  names.retain(jobs);
  const documents = await Promise.all(
    jobs.map(async (job) => {
      await names.refresh(job);
      return { processing: job.processing, result: await executor.poll(names.addTo(job)) };
    }),
  );
  clearTimeout(timer);
  const warnings = documents.flatMap(({ processing: { target }, result: { outcome } }) =>
    outcome.ok ? inactiveWatched(target, outcome) : [],
  );
  return { ...renderOneShot(config, documents, 'poll'), warnings };
}

interface Recorded {
  /** A file name, or `-` for standard input. */
  readonly file: string;
  readonly hubHeight: string | undefined;
}

/** Reads recorded response bodies with the settings of the first target. Rejects if a file cannot be read. */
export async function replay(
  config: Config,
  recording: Recording,
  standardInput: Readable,
  progress: Progress,
): Promise<OneShot> {
  const { bridgeFile, crosschainFile, hubHeight } = recording;
  // There is none if no target file matches.
  const [target = { name: DEFAULT_TARGET_NAME }] = config.targets;
  const base = processingOptionsBase(config, target);
  const documents: PolledDocument[] = [];
  const warnings: string[] = [];
  const read = async (processing: ProcessingOptions, { file, hubHeight: height }: Recorded): Promise<void> => {
    const name = file === STANDARD_INPUT ? 'standard input' : file;
    const body = await readBody(file, standardInput, name, config.poll, progress);
    const result = Buffer.isBuffer(body)
      ? processBody(processing, name, body, height === undefined ? undefined : asDecimalString(height))
      : { outcome: body, phaseSeconds: {} };
    documents.push({ processing, result });
    if (!result.outcome.ok) return;
    warnings.push(...unrecognizedFields(name, result.outcome), ...inactiveWatched(name, result.outcome));
  };
  if (bridgeFile !== undefined) {
    const settings = target.bridge ?? defaultBridgeSettings;
    await read({ ...base, document: 'module_state', settings }, { file: bridgeFile, hubHeight });
  }
  if (crosschainFile !== undefined) {
    const settings = target.crosschain ?? defaultCrosschainSettings;
    await read({ ...base, document: 'rate_limiter_input', settings }, { file: crosschainFile, hubHeight: undefined });
  }
  return { ...renderOneShot(config, documents, 'recorded body'), warnings };
}

function unrecognizedFields(name: string, { problems: { unrecognized } }: Snapshot): string[] {
  if (unrecognized.size === 0) return [];
  const fields = Array.from(unrecognized, (field) => sanitize(field));
  if (fields.length === MAX_UNRECOGNIZED_FIELDS) fields.push('and possibly more');
  return [`${name}: unrecognized fields are ignored: ${fields.join(', ')}`];
}

function inactiveWatched(name: string, { families }: Snapshot): string[] {
  const entries = families.find((family) => family.name === 'bridge_watched_validator_active')?.samples ?? [];
  const inactive = entries.flatMap(({ labels, value }) => (value === 0 ? (labels['address'] ?? []) : []));
  if (inactive.length === 0) return [];
  return [`${name}: no member of the newest validator set has an address of bridge.watch: ${inactive.join(', ')}`];
}

/** Files above this size take about a second to read, and are announced. */
const LARGE_FILE_BYTES = 32 * 2 ** 20;

async function readBody(
  file: string,
  standardInput: Readable,
  name: string,
  { maxBodyBytes }: Config['poll'],
  progress: Progress,
): Promise<Buffer | FailedPoll> {
  if (file === STANDARD_INPUT) return readStandardInput(standardInput, name, maxBodyBytes);
  const { size } = await explainFailure(file, stat(file));
  if (size > maxBodyBytes) {
    const limit = `${formatSize(maxBodyBytes)} (poll.max_body_size)`;
    const message = `${file}: body is larger than ${limit}: ${formatApproximateSize(size)}`;
    return { ok: false, error: { reason: 'too_large', message } };
  }
  if (size > LARGE_FILE_BYTES) progress(`reading ${file} (${formatApproximateSize(size)}) …`);
  return explainFailure(file, readFile(file));
}

async function readStandardInput(input: Readable, name: string, maxBytes: number): Promise<Buffer | FailedPoll> {
  try {
    const { bytes } = await bufferBody(input, maxBytes, undefined, new BufferPool());
    return bytes;
  } catch (cause) {
    if (!(cause instanceof RequestError)) throw new Error(describeReadError(name, cause), { cause });
    return { ok: false, error: { reason: cause.reason, message: `${name}: ${cause.message}` } };
  }
}

async function explainFailure<T>(file: string, operation: Promise<T>): Promise<T> {
  return operation.catch((cause: unknown) => {
    throw new Error(describeReadError(file, cause), { cause });
  });
}

const FILE_REMEDY = 'Check that it is the unchanged body of a response, and of the document that the flag names.';

function renderOneShot(
  { poll }: Config,
  documents: readonly PolledDocument[],
  noun: 'poll' | 'recorded body',
): Omit<OneShot, 'warnings'> {
  const endpoints = documents.map(({ processing }) => endpointOf(processing));
  const store = createEndpointStore(endpoints, poll);
  for (const { processing, result } of documents) store.record(endpointKeyOf(processing), result, clock());
  const failed = documents.flatMap(({ processing, result: { outcome } }) =>
    outcome.ok ? [] : [{ processing, error: outcome.error }],
  );
  const failures = failed.flatMap(({ processing: { target, document }, error: { reason, message } }) => [
    `${target} ${document}: ${reason}: ${message}`,
    `  ${noun === 'poll' || reason === 'too_large' ? failureReasons[reason].remedy : FILE_REMEDY}`,
  ]);
  if (failed.length > 0) failures.push(`exit 1: ${failed.length} of ${formatCount(documents.length, noun)} failed`);
  return { exposition: renderEndpoints(store, 'text', clock()), failures };
}

const plurals = { poll: 'polls', endpoint: 'endpoints', 'recorded body': 'recorded bodies' } as const;

function formatCount(count: number, noun: keyof typeof plurals): string {
  return `${count} ${count === 1 ? noun : plurals[noun]}`;
}
