import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { toMilliseconds, type Clock, type Instant, type Moment } from '../clock.js';
import { readTextFile, type Result } from '../config/text-files.js';
import { createDisk, writeAtomically } from '../files.js';
import { restartedCrosschain } from '../flow/unlisted-cctxs.js';
import { alertTexts } from '../problems/alert-texts.js';
import type { ProblemMemory, RememberedProblem } from '../problems/problem-memory.js';
import { problemKey, type Problem } from '../problems/problem.js';
import { problems } from '../problems/problems.js';
import type { SubjectHistory } from '../problems/subjects.js';
import { startRepeating, withinMs, type Repeating } from '../tasks.js';
import { DAY_SECONDS, formatSize, MEBIBYTE } from '../units.js';
import {
  endpointId,
  isDocument,
  lastDocument,
  sourceInUse,
  type EndpointKey,
  type EndpointState,
  type LastDocument,
} from './endpoint-state.js';

/*
 * The state file: the memory of the endpoints for the next process. It is written beside polls and scrapes, and
 * failures are logged.
 */

export interface StateFile {
  readonly findMemory: (key: EndpointKey) => EndpointMemory | undefined;
  /** Writes the memory within a second, because a problem has begun or ended. */
  readonly writeSoon: () => void;
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

const INTERVAL_SECONDS = 30;
const SOON_MS = 1_000;
const DISK_MS = 10_000;

/** Reads the file. One that cannot be used is logged, and the memory is empty. */
export async function openStateFile(path: string, log: Logger, wallMs = Date.now()): Promise<StateFile> {
  const loaded = await load(path, log);
  const memories = new Map(loaded?.endpoints.map((endpoint) => [endpointId(endpoint), endpoint]));
  const disk = createDisk(log, DISK_MS, { failing: NOT_WRITTEN, succeeding: 'the state file is written again' });
  let write = async (): Promise<boolean> => true;
  let repeating: Repeating | undefined;
  let isSoon = false;

  return {
    clockStart: loaded && clockAfter(loaded.now, wallMs),
    findMemory: (key) => memories.get(endpointId(key)),
    start: (states, now) => {
      let writtenAt = -Infinity;
      write = async () =>
        disk.run(async () => {
          const moment = now();
          updateMemories(memories, states(), moment.at);
          await replace(path, await formatFile(Array.from(memories.values()), moment));
        });
      // First after a second, so that a file that cannot be written is reported at the start.
      repeating = startRepeating(
        async () => {
          const { at } = now();
          if (!isSoon && at - writtenAt < INTERVAL_SECONDS) return;
          isSoon = false;
          writtenAt = at;
          await write();
        },
        SOON_MS,
        { delayMs: SOON_MS },
      );
    },
    writeSoon: () => {
      isSoon = true;
    },
    problem: () => {
      const failure = disk.failure();
      return failure && `${NOT_WRITTEN}: ${failure}`;
    },
    close: async () => {
      repeating?.close();
      void write();
      await disk.close();
    },
  };
}

const NOT_WRITTEN = 'the state file cannot be written';

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
  const unread = { ok: false, problem: 'cannot be read: the disk has not responded', isMissing: false } as const;
  const file = (await withinMs(DISK_MS, readTextFile(path, MAX_BYTES))) ?? unread;
  const state = file.ok ? parseFile(file.text) : file;
  if (state.ok) {
    log.info(`read the memory of ${state.endpoints.length} endpoints from state file ${path}`);
    return state;
  }
  const level = !file.ok && file.isMissing ? 'info' : 'warn';
  log[level](`starting with an empty memory: state file ${path} ${state.problem}`);
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

async function replace(path: string, text: string): Promise<void> {
  if (Buffer.byteLength(text) > MAX_BYTES) throw new Error(`it would be larger than ${formatSize(MAX_BYTES)}`);
  await writeAtomically(path, text, { mode: 0o600 });
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
    return { ok: false, problem: 'is not a state file, or was changed by another program' };
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

/*
 * The memory of an endpoint with which its polls continue as after a gap: in another process, or after a reload has
 * changed its job. It is plain data. Counters begin anew, and what the next document or answer has anyway is left out.
 */

/** Raised when the shape of what a state file has changes: then the memory of the previous version begins empty. */
export const MEMORY_VERSION = 10;

export interface EndpointMemory extends EndpointKey {
  readonly polledAt: Instant;
  /** The last document; `undefined` before the first. */
  readonly last: LastDocument | undefined;
  readonly problems: ProblemMemory;
  /** Of several nodes, the one in use. */
  readonly nodeInUse?: string | undefined;
}

/** `undefined` before the first poll of this process. */
export function createMemory(state: EndpointState): EndpointMemory | undefined {
  const { target, document, lastPoll, problems: memory } = state;
  if (lastPoll === undefined) return undefined;
  const last = lastDocument(state);
  const stored = withHistories(memory, (history) => ({
    ...history,
    // Texts contain configured names, which are not stored. The next document provides the texts.
    summary: '',
    details: '',
    action: '',
    validators: history.validators.map((validator) => ({ ...validator, name: '' })),
    chains: undefined,
  }));
  return {
    target,
    document,
    polledAt: lastPoll.at,
    last: last && restarted(last),
    problems: stored,
    nodeInUse: sourceInUse(state),
  };
}

/** The part of the last document that another process compares its first document with. */
function restarted(last: LastDocument): LastDocument {
  const { identity, height } = last;
  if (isDocument('module_state', last)) {
    const { document, past } = last;
    // The next document provides these values.
    const nothing = { watched: [], hubCoinDenom: undefined, hubSide: undefined };
    return { document, identity, height, past: past && { ...past, ...nothing }, flow: undefined };
  }
  if (isDocument('rate_limiter_input', last)) {
    const { document, past, flow } = last;
    return { document, identity, height, past, flow: flow && restartedCrosschain(flow) };
  }
  return { document: 'external_contract', identity, height, past: undefined, flow: undefined };
}

/** A state before the first poll, with the memory of the endpoint. */
export function withMemory(state: EndpointState, memory: EndpointMemory | undefined): EndpointState {
  if (memory === undefined) return state;
  const { last, problems: stored, nodeInUse } = memory;
  const known = withHistories(stored, (history, { name, action }) => {
    const [title] = alertTexts[name as keyof typeof alertTexts];
    // The summary until the next document or answer finds the problem again.
    const summary = `${title.charAt(0).toLowerCase()}${title.slice(1, -1)} (found before the restart)`;
    return { ...history, summary, action };
  });
  return {
    ...state,
    ...(last && { restored: last }),
    ...(nodeInUse !== undefined && { nodes: [{ source: nodeInUse, isInUse: true }] }),
    problems: known,
  };
}

/** The memory with other histories. One of a problem that this version does not have is left out. */
function withHistories(
  memory: ProblemMemory,
  change: (history: SubjectHistory, problem: Problem) => SubjectHistory,
): ProblemMemory {
  const remembered = problems.flatMap((problem): readonly (readonly [string, RememberedProblem])[] => {
    const known = memory.remembered.get(problemKey(problem));
    if (known === undefined) return [];
    const histories = Array.from(known.histories, ([key, history]) => [key, change(history, problem)] as const);
    return [[problemKey(problem), { ...known, histories: new Map(histories) }]];
  });
  return { ...memory, remembered: new Map(remembered) };
}
