import { readFile, stat } from 'node:fs/promises';
import { configured } from './chain/scalars.js';
import { clock } from './clock.js';
import { readBody, type Outcome, type Reading } from './collect/collect.js';
import type { Collector } from './collect/collector.js';
import { neutralBridge, neutralCrosschain, type Config } from './config.js';
import { formatSize } from './config/units.js';
import type { Recording } from './config/flags.js';
import { createExposition } from './exposition.js';
import { jobsOf, keyOf, readingBase } from './jobs.js';
import { createSnapshots } from './snapshots.js';

/** What `once` and `replay` print: the exposition of what succeeded, and a line for each endpoint that failed. */
export interface OneShot {
  readonly exposition: string;
  readonly failures: readonly string[];
}

interface Read {
  readonly reading: Reading;
  readonly outcome: Outcome;
}

/** Polls every endpoint once. */
export async function once(config: Config, collector: Collector): Promise<OneShot> {
  const polls = jobsOf(config).map(async (job) => ({ reading: job.reading, outcome: await collector.collect(job) }));
  return shown(config, await Promise.all(polls));
}

/** Treats recorded bodies as the answers of the first target of the configuration. Rejects when a file cannot be read. */
export async function replay(config: Config, { bridgeFile, crosschainFile, hubHeight }: Recording): Promise<OneShot> {
  const [target] = config.targets;
  if (target === undefined) throw new Error('a configuration has at least one target');
  const base = readingBase(config, target);
  const read: Read[] = [];
  if (bridgeFile !== undefined) {
    const reading: Reading = { ...base, document: 'module_state', settings: target.bridge ?? neutralBridge };
    read.push({ reading, outcome: await recorded(config, reading, bridgeFile, hubHeight) });
  }
  if (crosschainFile !== undefined) {
    const settings = target.crosschain ?? neutralCrosschain;
    const reading: Reading = { ...base, document: 'rate_limiter_input', settings };
    read.push({ reading, outcome: await recorded(config, reading, crosschainFile, undefined) });
  }
  return shown(config, read);
}

async function recorded(
  { poll: { maxBodyBytes } }: Config,
  reading: Reading,
  file: string,
  height: string | undefined,
): Promise<Outcome> {
  const { size } = await stat(file);
  if (size > maxBodyBytes) {
    const message = `${file} is over ${formatSize(maxBodyBytes)} (poll.max_body_size)`;
    return { result: { ok: false, error: { reason: 'too_large', message } }, seconds: {} };
  }
  return readBody(reading, file, await readFile(file), height === undefined ? undefined : configured(height));
}

function shown({ poll }: Config, read: readonly Read[]): OneShot {
  const keys = read.map(({ reading }) => keyOf(reading));
  const snapshots = createSnapshots(keys, poll);
  for (const { reading, outcome } of read) snapshots.record(keyOf(reading), outcome, clock());
  const failures = read.flatMap(({ reading, outcome: { result } }) =>
    result.ok ? [] : [`${reading.target} ${reading.document}: ${result.error.reason}: ${result.error.message}`],
  );
  return { exposition: createExposition(snapshots)('text', clock()), failures };
}
