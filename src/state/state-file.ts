import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import { writeAtomically } from '../atomic-write.js';
import { withoutBigint } from '../chain/numeral.js';
import { ageSeconds, clock, type Instant } from '../clock.js';
import { endpointId, type EndpointState } from '../poll/endpoint-state.js';
import type { SavedMemory } from '../poll/loop.js';
import { rememberedOf, rememberedSchema, type Remembered } from '../poll/remembered.js';
import { createQueue, withinMs } from '../tasks.js';
import type { Result } from '../result.js';
import { readSmallFile } from '../config/text-file.js';
import { fileErrorText } from '../text/system-error.js';
import { DAY_SECONDS, MEBIBYTE, formatSize } from '../units.js';
import { lock } from './lock.js';

/*
 * The state file: the memory of the endpoints for the next process, with a line for each endpoint. It is written beside polls and scrapes, and failures
 * are logged.
 */

export interface StateFile extends SavedMemory {
  /** Writes the file from now on. */
  readonly start: (states: () => readonly EndpointState[]) => void;
  /** Writes the file for the last time, and waits at most a few seconds. */
  readonly close: () => Promise<void>;
}

const MAX_BYTES = 32 * MEBIBYTE;
/** An endpoint without a poll for so long was removed or renamed. */
const MAX_AGE_SECONDS = 7 * DAY_SECONDS;

const INTERVAL_MS = 30_000;
const SOON_MS = 1_000;
const CLOSE_MS = 3_000;

/** Fails when another process uses the file. A file that cannot be read is logged, and the memory is empty. */
export async function openStateFile(
  path: string,
  log: Logger,
  now: () => Instant = clock,
): Promise<Result<{ readonly stateFile: StateFile }>> {
  const locked = await lock(`${path}.lock`);
  if (!locked.ok && locked.isInUse) {
    return { ok: false, problems: [`${path}: is used by another process — expected a --state.file of its own`] };
  }
  if (!locked.ok) log.warn(`another process with the same state file would not be noticed: ${locked.problem}`);
  const remembered = new Map((await load(path, log, now())).map((endpoint) => [endpointId(endpoint), endpoint]));

  let states: (() => readonly EndpointState[]) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isSoon = false;
  let isWriting = false;
  let isClosed = false;
  let last: Written = { isWritten: true, problems: [] };
  const enqueue = createQueue();

  function schedule(): void {
    clearTimeout(timer);
    if (!isClosed && !isWriting) timer = setTimeout(() => void write(), isSoon ? SOON_MS : INTERVAL_MS);
  }

  async function write(): Promise<void> {
    isSoon = false;
    isWriting = true;
    await enqueue(writeNow);
    isWriting = false;
    schedule();
  }

  /** Logs new problems, and when the file is written again. */
  async function writeNow(): Promise<void> {
    const before = last;
    const at = now();
    updateMemory(remembered, states?.() ?? [], at);
    last = await writeMemory(path, Array.from(remembered.values()), at);
    for (const problem of last.problems) if (!before.problems.includes(problem)) log.warn(problem);
    if (last.isWritten && !before.isWritten) log.info('the state file is written again');
  }

  const stateFile: StateFile = {
    rememberedOf: (key) => remembered.get(endpointId(key)),
    start: (current) => {
      states = current;
      schedule();
    },
    writeSoon: () => {
      if (isSoon || states === undefined) return;
      isSoon = true;
      schedule();
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      const written = states === undefined ? Promise.resolve() : enqueue(writeNow);
      // Until the file is written, no other process may use it.
      await withinMs(CLOSE_MS, locked.ok ? written.then(locked.release) : written);
    },
  };
  return { ok: true, stateFile };
}

async function load(path: string, log: Logger, now: Instant): Promise<readonly Remembered[]> {
  const file = await readSmallFile(path, MAX_BYTES);
  const endpoints = file.ok ? parseFile(file.text, now) : undefined;
  if (endpoints !== undefined) {
    log.info(`the state of ${endpoints.length} endpoints was read from ${path}`);
    return endpoints;
  }
  const problem = file.ok ? `is not a state file of version ${FORMAT_VERSION}` : file.problem;
  const level = !file.ok && file.isMissing ? 'info' : 'warn';
  log[level](`nothing is remembered of earlier polls: ${path}: ${problem}`);
  return [];
}

interface Written {
  readonly isWritten: boolean;
  /** Why the file was not written, or not all of it. */
  readonly problems: readonly string[];
}

/** Replaces memory by that of the present states, and deletes the memory of endpoints that are not polled any more. */
function updateMemory(remembered: Map<string, Remembered>, states: readonly EndpointState[], at: Instant): void {
  for (const state of states) {
    const newest = rememberedOf(state);
    if (newest !== undefined) remembered.set(endpointId(newest), newest);
  }
  for (const [key, { polledAt }] of remembered) {
    if (ageSeconds(polledAt, at) > MAX_AGE_SECONDS) remembered.delete(key);
  }
}

async function writeMemory(path: string, endpoints: readonly Remembered[], at: Instant): Promise<Written> {
  const { lines, problems } = await formatEndpoints(endpoints, at);
  try {
    await writeAtomically(path, formatFile(lines, at), { mode: 0o600 });
    return { isWritten: true, problems };
  } catch (error) {
    return { isWritten: false, problems: [...problems, `the state file cannot be written: ${fileErrorText(error)}`] };
  }
}

/** A line for each endpoint, the last polled first. Lines above the size limit of the file are left out. */
async function formatEndpoints(endpoints: readonly Remembered[], at: Instant) {
  const lines: string[] = [];
  const invalid: string[] = [];
  let bytes = Buffer.byteLength(formatFile([], at));
  let leftOut = 0;
  for (const endpoint of endpoints.toSorted((a, b) => b.polledAt.monotonicMs - a.polledAt.monotonicMs)) {
    const line = formatEndpoint(endpoint);
    const added = Buffer.byteLength(SEPARATOR + line);
    if (line === undefined) invalid.push(`${endpoint.document} of ${endpoint.target}`);
    else if (bytes + added > MAX_BYTES) leftOut += 1;
    else {
      lines.push(line);
      bytes += added;
    }
    // oxlint-disable-next-line no-await-in-loop -- yields to scrapes in between
    await nextTurn();
  }
  const problems: string[] = [];
  if (leftOut > 0) {
    const limit = formatSize(MAX_BYTES);
    problems.push(`the state file would be larger than ${limit}: ${leftOut} endpoints are not in it`);
  }
  if (invalid.length > 0) problems.push(`the state of ${invalid.join(', ')} cannot be written`);
  return { lines, problems };
}

/** A change of the content is another version. */
const FORMAT_VERSION = 1;

const fileSchema = z.object({
  version: z.literal(FORMAT_VERSION),
  writtenAt: z.object({ epochSeconds: z.number(), monotonicMs: z.number() }),
  endpoints: z.unknown(),
});

const SEPARATOR = ',\n';

/** The content of the file: an object of JSON with the lines of the endpoints as its last value. */
export function formatFile(lines: readonly string[], writtenAt: Instant): string {
  const start = JSON.stringify({ version: FORMAT_VERSION, writtenAt, endpoints: [] }).slice(0, -']}'.length);
  return `${start}\n${lines.join(SEPARATOR)}\n]}\n`;
}

const REMEMBERED = rememberedSchema();

/** `undefined` for invalid memory. */
export function formatEndpoint(remembered: Remembered): string | undefined {
  const { data } = z.safeEncode(REMEMBERED, remembered);
  return data && JSON.stringify(data, withoutBigint);
}

/** `undefined` if the text is not a state file of this version. */
export function parseFile(text: string, now: Instant): readonly Remembered[] | undefined {
  const { data: file } = fileSchema.safeParse(parseJson(text));
  if (file === undefined) return undefined;
  // Between two processes, only the wall clock has gone on, unless it was set back.
  const pauseMs = Math.max(0, now.epochSeconds - file.writtenAt.epochSeconds) * 1000;
  const shiftMs = now.monotonicMs - file.writtenAt.monotonicMs - pauseMs;
  return z.array(rememberedSchema(shiftMs, now.epochSeconds)).safeParse(file.endpoints).data;
}

/** `undefined` for a text that is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
