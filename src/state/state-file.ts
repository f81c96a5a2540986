import { open, rename, rm, writeFile } from 'node:fs/promises';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import { ageSeconds, clock, type Instant } from '../clock.js';
import { endpointId, type KnownEndpoint } from '../poll/endpoint-state.js';
import type { SavedMemory } from '../poll/registry.js';
import { rememberedOf, type Remembered } from '../poll/remembered.js';
import { createQueue } from '../queue.js';
import type { Result } from '../result.js';
import { readSmallFile } from '../config/small-file.js';
import { DAY_MS, formatSize, MEBIBYTE } from '../config/units.js';
import { lock } from './lock.js';
import { createSchema, FORMAT_VERSION } from './schema.js';
import { fileErrorText } from '../text/system-error.js';

/*
 * The state file: what is remembered of the endpoints, for the next process. It is written beside polls and scrapes, and what fails is logged.
 */

export interface StateFile extends SavedMemory {
  /** Writes the file from now on. */
  readonly start: (endpoints: () => readonly KnownEndpoint[]) => void;
  /** Writes it for the last time, for a few seconds. */
  readonly close: () => Promise<void>;
}

export const MAX_BYTES = 32 * MEBIBYTE;
/** An endpoint without a poll for so long is forgotten: it was removed or renamed. */
const MAX_AGE_SECONDS = (7 * DAY_MS) / 1000;

const INTERVAL_MS = 30_000;
const SOON_MS = 1_000;
const CLOSE_MS = 3_000;

const [BEGIN, END] = [`{"version":${FORMAT_VERSION},"endpoints":[\n`, '\n]}\n'];
const SEPARATOR = ',\n';

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
  const release = locked.ok ? locked.release : async () => undefined;
  const schema = createSchema(now());
  const remembered = new Map<string, Remembered>();
  const loaded = await load(path, schema);
  if (loaded.ok) log.info(`the state of ${loaded.endpoints.length} endpoints was read from ${path}`);
  else log[loaded.isMissing ? 'info' : 'warn'](`nothing is remembered of earlier polls: ${path}: ${loaded.problem}`);
  for (const endpoint of loaded.ok ? loaded.endpoints : []) remembered.set(endpointId(endpoint), endpoint);

  let endpoints: (() => readonly KnownEndpoint[]) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isSoon = false;
  let isWriting = false;
  let isClosed = false;
  let isFailing = false;
  let isTooLarge = false;
  let isUnwritable = false;
  const enqueue = createQueue();

  function schedule(): void {
    clearTimeout(timer);
    if (!isClosed && !isWriting) timer = setTimeout(() => void write(), isSoon ? SOON_MS : INTERVAL_MS);
  }

  async function write(): Promise<void> {
    isSoon = false;
    isWriting = true;
    await enqueue(attempt);
    isWriting = false;
    schedule();
  }

  async function attempt(): Promise<void> {
    try {
      await replace(path, await serialized());
      if (isFailing) log.info('the state file is written again');
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn(`the state file cannot be written: ${fileErrorText(error)}`);
      isFailing = true;
    }
  }

  /** The parts of the file. Those that were polled last come first, and what does not fit is left out. */
  async function serialized(): Promise<readonly string[]> {
    const at = now();
    for (const endpoint of endpoints?.() ?? []) {
      const newest = rememberedOf(endpoint);
      if (newest !== undefined) remembered.set(endpointId(newest), newest);
    }
    for (const [key, { polledAt }] of remembered) {
      if (ageSeconds(polledAt, at) > MAX_AGE_SECONDS) remembered.delete(key);
    }
    const latestFirst = Array.from(remembered.values()).toSorted(
      (a, b) => b.polledAt.monotonicMs - a.polledAt.monotonicMs,
    );
    const texts: string[] = [];
    let bytes = BEGIN.length + END.length;
    let leftOut = 0;
    const unwritable: string[] = [];
    for (const endpoint of latestFirst) {
      const encoded = z.safeEncode(schema.endpoint, endpoint);
      if (!encoded.success) {
        unwritable.push(`${endpoint.document} of ${endpoint.target}`);
        continue;
      }
      const text = JSON.stringify(encoded.data);
      const added = Buffer.byteLength(text) + SEPARATOR.length;
      if (bytes + added <= MAX_BYTES) {
        texts.push(text);
        bytes += added;
      } else leftOut += 1;
      // oxlint-disable-next-line no-await-in-loop -- scrapes are answered in between
      await nextTurn();
    }
    if (leftOut > 0 && !isTooLarge) {
      log.warn(`the state file would be larger than ${formatSize(MAX_BYTES)}: ${leftOut} endpoints are not in it`);
    }
    isTooLarge = leftOut > 0;
    if (unwritable.length > 0 && !isUnwritable) log.warn(`the state of ${unwritable.join(', ')} cannot be written`);
    isUnwritable = unwritable.length > 0;
    return texts;
  }

  const stateFile: StateFile = {
    rememberedOf: (key) => remembered.get(endpointId(key)),
    start: (current) => {
      endpoints = current;
      schedule();
    },
    writeSoon: () => {
      if (isSoon || endpoints === undefined) return;
      isSoon = true;
      schedule();
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      const timeout = new AbortController();
      if (endpoints !== undefined) {
        await Promise.race([
          enqueue(attempt),
          delay(CLOSE_MS, undefined, { signal: timeout.signal }).catch(() => undefined),
        ]);
      }
      timeout.abort();
      await release();
    },
  };
  return { ok: true, stateFile };
}

type Loaded = Result<
  { readonly endpoints: readonly Remembered[] },
  { readonly problem: string; readonly isMissing: boolean }
>;

async function load(path: string, schema: ReturnType<typeof createSchema>): Promise<Loaded> {
  const file = await readSmallFile(path, MAX_BYTES);
  if (!file.ok) return { ok: false, problem: file.problem, isMissing: file.isMissing };
  const read = schema.file.safeParse(parsed(file.text));
  return read.success
    ? { ok: true, endpoints: read.data.endpoints }
    : { ok: false, problem: `is not a state file of version ${FORMAT_VERSION}`, isMissing: false };
}

/** `undefined` for a text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The file is the old one or the new one, also after a crash of the process or of the machine. */
async function replace(path: string, texts: readonly string[]): Promise<void> {
  const temporary = `${path}.tmp`;
  // Left by a process that was killed while it wrote.
  await rm(temporary, { force: true });
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      const parts = texts.map((text, index) => (index === 0 ? text : SEPARATOR + text));
      await writeFile(file, [BEGIN, ...parts, END]);
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
