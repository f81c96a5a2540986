import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { writeAtomically } from '../files.js';
import { toMilliseconds, type Clock, type Instant, type Moment } from '../clock.js';
import { readTextFile } from '../config/text-files.js';
import type { Result } from '../config/text-files.js';
import { createQueue, reportSlow, withinMs } from '../tasks.js';
import { errorCode, fileErrorText } from '../text/error-text.js';
import { DAY_SECONDS, MEBIBYTE, formatDuration, formatSize } from '../units.js';
import { endpointId, type EndpointState } from './endpoint-state.js';
import type { SavedMemory } from './loop.js';
import { createMemory, MEMORY_VERSION, type EndpointMemory } from './endpoint-memory.js';

/*
 * The state file: the memory of the endpoints for the next process. It is written beside polls and scrapes, and
 * failures are logged.
 */

export interface StateFile extends SavedMemory {
  /** Where the process clock continues; `undefined` without a previous process. */
  readonly clockStart: Instant | undefined;
  /** Writes the file from now on. */
  readonly start: (states: () => readonly EndpointState[], now: Clock) => void;
  /** Why the last write failed; `undefined` when it did not. */
  readonly problem: () => string | undefined;
  /** Writes the file for the last time, and waits at most a few seconds. */
  readonly close: () => Promise<void>;
}

const MAX_BYTES = 32 * MEBIBYTE;
/** An endpoint without a poll for so long was removed or renamed. */
const MAX_AGE_SECONDS = 7 * DAY_SECONDS;

const INTERVAL_MS = 30_000;
const SOON_MS = 1_000;
const CLOSE_MS = 3_000;
/** A disk that has not responded for so long is a problem. */
const DISK_MS = 10_000;

/** Reads the file. One that cannot be used is logged, and the memory is empty. */
export async function openStateFile(path: string, log: Logger, wallMs = Date.now()): Promise<StateFile> {
  const loaded = await load(path, log);
  const memories = new Map(loaded?.endpoints.map((endpoint) => [endpointId(endpoint), endpoint]));

  let source: { readonly states: () => readonly EndpointState[]; readonly now: Clock } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isSoon = false;
  let isWriting = false;
  let isClosed = false;
  let problem: string | undefined;
  const enqueue = createQueue();

  function schedule(): void {
    clearTimeout(timer);
    if (!isClosed && !isWriting) timer = setTimeout(() => void write(), isSoon ? SOON_MS : INTERVAL_MS);
  }

  async function write(): Promise<void> {
    isSoon = false;
    isWriting = true;
    await reportSlow(
      DISK_MS,
      () => report(`${NOT_WRITTEN}: ${NO_RESPONSE}`),
      async () => enqueue(writeNow),
    );
    isWriting = false;
    schedule();
  }

  async function writeNow(): Promise<void> {
    if (source === undefined) return;
    const now = source.now();
    updateMemories(memories, source.states(), now.at);
    report(await replace(path, await formatFile(Array.from(memories.values()), now)));
  }

  /** Logs a new problem, and when the file is written again. */
  function report(found: string | undefined): void {
    if (found !== undefined && found !== problem) log.warn(found);
    if (found === undefined && problem !== undefined) log.info('the state file is written again');
    problem = found;
  }

  return {
    clockStart: loaded && clockAfter(loaded.now, wallMs),
    findMemory: (key) => memories.get(endpointId(key)),
    start: (states, now) => {
      source = { states, now };
      // Written at once, so that a file that cannot be written is reported at the start.
      isSoon = true;
      schedule();
    },
    writeSoon: () => {
      if (isSoon || source === undefined) return;
      isSoon = true;
      schedule();
    },
    problem: () => problem,
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await withinMs(CLOSE_MS, enqueue(writeNow));
    },
  };
}

const NOT_WRITTEN = 'the state file cannot be written';
const NO_RESPONSE = `the disk has not responded for ${formatDuration(DISK_MS)}`;

/** The process clock goes on by the wall clock between two processes, and stands still if that was set back. */
function clockAfter({ at, clockOffset }: Moment, wallMs: number): Instant {
  return toMilliseconds(at + Math.max(0, wallMs / 1000 - (at + clockOffset)));
}

interface StoredState {
  /** When it was written. */
  readonly now: Moment;
  readonly endpoints: readonly EndpointMemory[];
}

async function load(path: string, log: Logger): Promise<StoredState | undefined> {
  const unread = { ok: false, problem: `cannot be read: ${NO_RESPONSE}`, isMissing: false } as const;
  const file = (await withinMs(DISK_MS, readTextFile(path, MAX_BYTES))) ?? unread;
  const state = file.ok ? parseFile(file.text) : file;
  if (state.ok) {
    log.info(`the state of ${state.endpoints.length} endpoints was read from ${path}`);
    return state;
  }
  const level = !file.ok && file.isMissing ? 'info' : 'warn';
  log[level](`nothing is remembered of earlier polls: ${path}: ${state.problem}`);
  return undefined;
}

/** Replaces memories by those of the present states, and deletes those of endpoints that are not polled any more. */
function updateMemories(memories: Map<string, EndpointMemory>, states: readonly EndpointState[], at: Instant): void {
  for (const state of states) {
    const newest = createMemory(state);
    if (newest !== undefined) memories.set(endpointId(newest), newest);
  }
  for (const [key, { polledAt }] of memories) if (at - polledAt > MAX_AGE_SECONDS) memories.delete(key);
}

/** Replaces the file. Returns why it cannot be written. */
async function replace(path: string, text: string): Promise<string | undefined> {
  if (Buffer.byteLength(text) > MAX_BYTES) return `${NOT_WRITTEN}: it would be larger than ${formatSize(MAX_BYTES)}`;
  try {
    await writeAtomically(path, text, { mode: 0o600 });
    return undefined;
  } catch (error) {
    const isMissing = errorCode(error) === 'ENOENT';
    return `${NOT_WRITTEN}: ${isMissing ? `the directory ${dirname(path)} does not exist` : fileErrorText(error)}`;
  }
}

async function formatFile(endpoints: readonly EndpointMemory[], now: Moment): Promise<string> {
  const lines: string[] = [];
  for (const endpoint of endpoints) {
    lines.push(formatPlainData(endpoint));
    // oxlint-disable-next-line no-await-in-loop -- yields to scrapes in between
    await nextTurn();
  }
  return formatLines(lines, now);
}

/** The content of a file with a line for each endpoint. */
export function formatLines(lines: readonly string[], now: Moment): string {
  const state = `{"now":${formatPlainData(now)},"endpoints":[\n${lines.join(',\n')}\n]}`;
  return `{"version":${MEMORY_VERSION},"checksum":"${sha256(state)}","state":\n${state}\n}\n`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const START = /^\{"version":(\d{1,9}),"checksum":"([\da-f]{64})","state":\n/;

/** What is in a file, or why it cannot be used. */
export function parseFile(text: string): Result<StoredState, { readonly problem: string }> {
  const [start = '', version, checksum] = START.exec(text) ?? [];
  const state = text.slice(start.length).replace(/\n\}\n?$/, '');
  if (checksum === undefined || sha256(state) !== checksum)
    return { ok: false, problem: 'is not a state file, or was changed by somebody else' };
  if (version !== String(MEMORY_VERSION))
    return { ok: false, problem: `has version ${version}, and this program reads version ${MEMORY_VERSION}` };
  // The checksum proves that a process of this program has written it.
  return { ok: true, ...(parsePlainData(state) as StoredState) };
}

/*
 * Plain data as JSON: a `Map` is written as `{"$map": [[key, value]]}`, a bigint as `{"$bigint": "5"}`; a key with the
 * value `undefined` is left out.
 */

export function formatPlainData(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => {
    if (each instanceof Map) return { $map: Array.from(each) };
    return typeof each === 'bigint' ? { $bigint: String(each) } : each;
  });
}

/** Throws if the text is not JSON. */
export function parsePlainData(text: string): unknown {
  return JSON.parse(text, (_key, each: unknown) => {
    if (typeof each !== 'object' || each === null) return each;
    if ('$map' in each && Array.isArray(each.$map)) return new Map(each.$map as [unknown, unknown][]);
    return '$bigint' in each && typeof each.$bigint === 'string' ? BigInt(each.$bigint) : each;
  });
}
