import { readFile, stat } from 'node:fs/promises';
import type { Recording } from './cli/flags.js';
import type { Config } from './config/config.js';
import { describeReadError } from './config/kit/small-file.js';
import { formatApproximateSize, formatDuration, formatSize } from './config/kit/units.js';
import { defaultBridgeSettings, defaultCrosschainSettings } from './config/schema.js';
import { renderEndpoints } from './exposition/exposition.js';
import { failureReasons } from './http/errors.js';
import { asDecimalString } from './json/numeral.js';
import { clock } from './poll/clock.js';
import { createEndpointStore } from './poll/endpoint-store.js';
import { processingOptionsBase, endpointKeyOf, jobsOf } from './poll/jobs.js';
import { createValidatorNames } from './poll/validator-names.js';
import { processBody, type ProcessingOptions, type PollExecutor, type PollResult } from './poll/poll.js';

/* The commands `once` and `replay`: read every document once and print the metrics. */

export interface OneShot {
  /** Metrics of the documents that were read. */
  readonly exposition: string;
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
  return renderOneShot(config, documents, 'poll');
}

/** Reads recorded response bodies with the settings of the first target. Rejects if a file cannot be read. */
export async function replay(config: Config, recording: Recording, progress: Progress): Promise<OneShot> {
  const { bridgeFile, crosschainFile, hubHeight } = recording;
  const [target] = config.targets;
  if (target === undefined) throw new Error('a configuration has at least one target');
  const base = processingOptionsBase(config, target);
  const documents: PolledDocument[] = [];
  if (bridgeFile !== undefined) {
    const settings = target.bridge ?? defaultBridgeSettings;
    const processing: ProcessingOptions = { ...base, document: 'module_state', settings };
    documents.push({ processing, result: await readRecording(config, processing, bridgeFile, hubHeight, progress) });
  }
  if (crosschainFile !== undefined) {
    const settings = target.crosschain ?? defaultCrosschainSettings;
    const processing: ProcessingOptions = { ...base, document: 'rate_limiter_input', settings };
    documents.push({
      processing,
      result: await readRecording(config, processing, crosschainFile, undefined, progress),
    });
  }
  return renderOneShot(config, documents, 'recorded body');
}

/** Files above this size take about a second to read, and are announced. */
const LARGE_FILE_BYTES = 32 * 2 ** 20;

async function readRecording(
  { poll: { maxBodyBytes } }: Config,
  processing: ProcessingOptions,
  file: string,
  height: string | undefined,
  progress: Progress,
): Promise<PollResult> {
  const { size } = await explainFailure(file, stat(file));
  if (size > maxBodyBytes) {
    const limit = `${formatSize(maxBodyBytes)} (poll.max_body_size)`;
    const message = `${file}: body is larger than ${limit}: ${formatApproximateSize(size)}`;
    return { outcome: { ok: false, error: { reason: 'too_large', message } }, phaseSeconds: {} };
  }
  if (size > LARGE_FILE_BYTES) progress(`reading ${file} (${formatApproximateSize(size)}) …`);
  const body = await explainFailure(file, readFile(file));
  return processBody(processing, file, body, height === undefined ? undefined : asDecimalString(height));
}

async function explainFailure<T>(file: string, operation: Promise<T>): Promise<T> {
  return operation.catch((cause: unknown) => {
    throw new Error(describeReadError(file, cause), { cause });
  });
}

function renderOneShot(
  { poll }: Config,
  documents: readonly PolledDocument[],
  noun: 'poll' | 'recorded body',
): OneShot {
  const keys = documents.map(({ processing }) => endpointKeyOf(processing));
  const store = createEndpointStore(keys, poll);
  for (const { processing, result } of documents) store.record(endpointKeyOf(processing), result, clock());
  const failed = documents.flatMap(({ processing, result: { outcome } }) =>
    outcome.ok ? [] : [{ processing, error: outcome.error }],
  );
  const failures = failed.flatMap(({ processing: { target, document }, error: { reason, message } }) => [
    `${target} ${document}: ${reason}: ${message}`,
    `  ${failureReasons[reason].remedy}`,
  ]);
  if (failed.length > 0) failures.push(`exit 1: ${failed.length} of ${formatCount(documents.length, noun)} failed`);
  return { exposition: renderEndpoints(store, 'text', clock()), failures };
}

const plurals = { poll: 'polls', endpoint: 'endpoints', 'recorded body': 'recorded bodies' } as const;

function formatCount(count: number, noun: keyof typeof plurals): string {
  return `${count} ${count === 1 ? noun : plurals[noun]}`;
}
