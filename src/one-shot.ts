import { readFile, stat } from 'node:fs/promises';
import { trustedDigits } from './json/scalars.js';
import { clock } from './poll/clock.js';
import { readBody, type PollResult, type DocumentSource } from './poll/collect.js';
import type { Collector } from './poll/collector.js';
import { neutralBridge, neutralCrosschain, type Config } from './config/config.js';
import type { Recording } from './cli/flags.js';
import { unreadable } from './config/kit/small-file.js';
import { formatDuration, formatSize, roughSize } from './config/kit/units.js';
import { renderExposition } from './exposition/exposition.js';
import { jobsOf, endpointKeyOf, documentSourceBase } from './poll/jobs.js';
import { failureReasons } from './http/errors.js';
import { createSnapshots } from './poll/snapshots.js';

/** What `once` and `replay` print: the exposition of what succeeded, and what failed in lines that explain the exit code. */
export interface OneShot {
  readonly exposition: string;
  readonly failures: readonly string[];
}

/** Tells a person who waits what is under way. */
type Progress = (line: string) => void;

interface Read {
  readonly reading: DocumentSource;
  readonly outcome: PollResult;
}

/** A person wonders after about so long. */
const PATIENCE_MS = 1_000;

/** Polls every endpoint once. */
export async function once(config: Config, collector: Collector, progress: Progress): Promise<OneShot> {
  const jobs = jobsOf(config);
  const waiting = setTimeout(() => {
    const deadline = formatDuration(config.poll.timeoutMs);
    progress(`polling ${counted(jobs.length, 'endpoint')}, each for at most ${deadline} …`);
  }, PATIENCE_MS);
  const polls = jobs.map(async (job) => ({ reading: job.source, outcome: await collector.collect(job) }));
  const read = await Promise.all(polls);
  clearTimeout(waiting);
  return shown(config, read, 'poll');
}

/** Treats recorded bodies as the answers of the first target of the configuration. Rejects when a file cannot be read. */
export async function replay(config: Config, recording: Recording, progress: Progress): Promise<OneShot> {
  const { bridgeFile, crosschainFile, hubHeight } = recording;
  const [target] = config.targets;
  if (target === undefined) throw new Error('a configuration has at least one target');
  const base = documentSourceBase(config, target);
  const read: Read[] = [];
  if (bridgeFile !== undefined) {
    const reading: DocumentSource = { ...base, document: 'module_state', settings: target.bridge ?? neutralBridge };
    read.push({ reading, outcome: await recorded(config, reading, bridgeFile, hubHeight, progress) });
  }
  if (crosschainFile !== undefined) {
    const settings = target.crosschain ?? neutralCrosschain;
    const reading: DocumentSource = { ...base, document: 'rate_limiter_input', settings };
    read.push({ reading, outcome: await recorded(config, reading, crosschainFile, undefined, progress) });
  }
  return shown(config, read, 'recorded body');
}

/** Reading holds up everything else, so that it is said before; as much as this takes about a second. */
const LARGE_BYTES = 32 * 2 ** 20;

async function recorded(
  { poll: { maxBodyBytes } }: Config,
  reading: DocumentSource,
  file: string,
  height: string | undefined,
  progress: Progress,
): Promise<PollResult> {
  const { size } = await orSay(file, stat(file));
  if (size > maxBodyBytes) {
    const message = `${file} is over ${formatSize(maxBodyBytes)} (poll.max_body_size): it has ${roughSize(size)}`;
    return { result: { ok: false, error: { reason: 'too_large', message } }, seconds: {} };
  }
  if (size > LARGE_BYTES) progress(`reading ${file} (${roughSize(size)}) …`);
  const body = await orSay(file, readFile(file));
  return readBody(reading, file, body, height === undefined ? undefined : trustedDigits(height));
}

/** What a file gives, or a sentence about why it gives nothing. */
async function orSay<T>(file: string, reading: Promise<T>): Promise<T> {
  return reading.catch((cause: unknown) => {
    throw new Error(unreadable(file, cause), { cause });
  });
}

function shown({ poll }: Config, read: readonly Read[], kind: 'poll' | 'recorded body'): OneShot {
  const keys = read.map(({ reading }) => endpointKeyOf(reading));
  const snapshots = createSnapshots(keys, poll);
  for (const { reading, outcome } of read) snapshots.record(endpointKeyOf(reading), outcome, clock());
  const failures = read.flatMap(({ reading, outcome: { result } }) =>
    result.ok
      ? []
      : [
          `${reading.target} ${reading.document}: ${result.error.reason}: ${result.error.message}`,
          `  ${failureReasons[result.error.reason].remedy}`,
        ],
  );
  const failed = read.filter(({ outcome }) => !outcome.result.ok).length;
  const verdict = failed === 0 ? [] : [`exit 1: ${failed} of ${counted(read.length, kind)} failed`];
  return { exposition: renderExposition(snapshots, 'text', clock()), failures: [...failures, ...verdict] };
}

const plurals = { poll: 'polls', endpoint: 'endpoints', 'recorded body': 'recorded bodies' } as const;

function counted(count: number, kind: keyof typeof plurals): string {
  return `${count} ${count === 1 ? kind : plurals[kind]}`;
}
