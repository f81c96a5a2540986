import { open, rename, rm, writeFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
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
 * The state file: what is remembered of the endpoints, for the next process, with a line for each. It is written beside polls and scrapes, and
 * what fails is logged.
 */

export interface StateFile extends SavedMemory {
  /** Writes the file from now on. */
  readonly start: (states: () => readonly EndpointState[]) => void;
  /** Writes it for the last time, for a few seconds. */
  readonly close: () => Promise<void>;
}

const MAX_BYTES = 32 * MEBIBYTE;
/** An endpoint without a poll for so long is forgotten: it was removed or renamed. */
const MAX_AGE_SECONDS = 7 * DAY_SECONDS;

const INTERVAL_MS = 30_000;
const SOON_MS = 1_000;
const CLOSE_MS = 3_000;

/** Fails when another process uses the file. A file that cannot be read is logged, and nothing is remembered. */
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
    last = await replace(path, remembered, states?.() ?? [], now());
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

/** Writes what is remembered, with the present states. */
async function replace(
  path: string,
  remembered: Map<string, Remembered>,
  states: readonly EndpointState[],
  at: Instant,
): Promise<Written> {
  for (const state of states) {
    const newest = rememberedOf(state);
    if (newest !== undefined) remembered.set(endpointId(newest), newest);
  }
  for (const [key, { polledAt }] of remembered) {
    if (ageSeconds(polledAt, at) > MAX_AGE_SECONDS) remembered.delete(key);
  }
  const { parts, problems } = await serialized(Array.from(remembered.values()), at);
  try {
    await writeAtomically(path, parts);
    return { isWritten: true, problems };
  } catch (error) {
    return { isWritten: false, problems: [...problems, `the state file cannot be written: ${fileErrorText(error)}`] };
  }
}

/** The parts of the file. The endpoints that were polled last come first, and what does not fit is left out. */
async function serialized(endpoints: readonly Remembered[], at: Instant) {
  const parts = [formatBegin(at)];
  const invalid: string[] = [];
  let bytes = Buffer.byteLength(parts.join() + END);
  let leftOut = 0;
  for (const endpoint of endpoints.toSorted((a, b) => b.polledAt.monotonicMs - a.polledAt.monotonicMs)) {
    const text = formatEndpoint(endpoint);
    const part = `${parts.length === 1 ? '' : SEPARATOR}${text}`;
    const added = Buffer.byteLength(part);
    if (text === undefined) invalid.push(`${endpoint.document} of ${endpoint.target}`);
    else if (bytes + added > MAX_BYTES) leftOut += 1;
    else {
      parts.push(part);
      bytes += added;
    }
    // oxlint-disable-next-line no-await-in-loop -- scrapes are answered in between
    await nextTurn();
  }
  const problems: string[] = [];
  if (leftOut > 0) {
    const limit = formatSize(MAX_BYTES);
    problems.push(`the state file would be larger than ${limit}: ${leftOut} endpoints are not in it`);
  }
  if (invalid.length > 0) problems.push(`the state of ${invalid.join(', ')} cannot be written`);
  return { parts: [...parts, END], problems };
}

/** The file is the old one or the new one, also after a crash of the process or of the machine. */
async function writeAtomically(path: string, parts: readonly string[]): Promise<void> {
  const temporary = `${path}.tmp`;
  // Left by a process that was killed while it wrote.
  await rm(temporary, { force: true });
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await writeFile(file, parts);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** A change of what is written is another version. */
export const FORMAT_VERSION = 1;

const fileSchema = z.object({
  version: z.literal(FORMAT_VERSION),
  writtenAt: z.object({ epochSeconds: z.number(), monotonicMs: z.number() }),
  endpoints: z.unknown(),
});

export const SEPARATOR = ',\n';
export const END = '\n]}\n';

/** The beginning of the file. */
export function formatBegin(writtenAt: Instant): string {
  return `${JSON.stringify({ version: FORMAT_VERSION, writtenAt }).slice(0, -1)},"endpoints":[\n`;
}

const REMEMBERED = rememberedSchema();

/** What is remembered of an endpoint; `undefined` if it is invalid. */
export function formatEndpoint(remembered: Remembered): string | undefined {
  const { data } = z.safeEncode(REMEMBERED, remembered);
  return data && JSON.stringify(data);
}

/** Reads a file; `undefined` if it is not one of this version. */
export function parseFile(text: string, now: Instant): readonly Remembered[] | undefined {
  const { data: file } = fileSchema.safeParse(parseJson(text));
  if (file === undefined) return undefined;
  // While nothing runs, the wall clock goes on, unless it was set back.
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
