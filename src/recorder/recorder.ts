import { mkdir } from 'node:fs/promises';
import type { Logger } from 'pino';
import { isoTime, wallSeconds, type Clock, type Moment } from '../clock.js';
import type { RecorderSettings } from '../config/config.js';
import { createDisk } from '../files.js';
import type { FailureReason } from '../http/failure-reasons.js';
import { endpointId, type EndpointState } from '../engine/endpoint-state.js';
import type { Received, ReceivedDocument } from '../engine/source.js';
import type { PollRecorder } from '../engine/loop.js';
import { MEBIBYTE, formatSize } from '../units.js';
import { FORMAT_VERSION, openDirectory, type RecordingDirectory, type RecordingHeader } from './directory.js';

/*
 * The recorder: writes the responses of polls to a directory, to replay them later. Failures are counted and logged,
 * and never affect a poll.
 */

type ActiveSettings = RecorderSettings & { readonly directory: string };

export interface Recorder extends PollRecorder {
  /** Starts, stops or changes the recorder. */
  readonly configure: (settings: RecorderSettings) => void;
  /** `undefined` without a configured directory. */
  readonly status: () => RecorderStatus | undefined;
  /** Writes the waiting polls, for at most a few seconds. */
  readonly close: () => Promise<void>;
}

/** The memory begins anew for an endpoint that is added again, or at another address. */
function memoryKey(state: EndpointState): string {
  return JSON.stringify([endpointId(state), state.addedAt]);
}

export function createRecorder(log: Logger, now: Clock, writer = createWriter(log)): Recorder {
  let settings: ActiveSettings | undefined;
  const memories = new Map<string, RecordingMemory>();

  return {
    configure: ({ directory, ...rest }) => {
      const before = settings;
      settings = directory === undefined ? undefined : { ...rest, directory };
      if (before?.directory === directory) return;
      memories.clear();
      if (settings !== undefined) writer.open(settings);
    },
    polled: ({ after: state, received, isReprocessed }) => {
      const { lastPoll, lastFailure } = state;
      // The first document steps again with the answers to queries, which are not recorded.
      if (settings === undefined || lastPoll === undefined || isReprocessed) return;
      const key = memoryKey(state);
      const before = memories.get(key) ?? { target: state.target };
      const outcome = lastPoll.ok ? 'ok' : (lastFailure?.error.reason ?? 'internal');
      const { isSelected, memory } = selectPoll(before, outcome, lastPoll.at * 1000, settings.interval);
      memories.set(key, memory);
      if (!isSelected) return;
      const header = createHeader(state, received, now());
      const body = received.ok ? received.bytes : (received.body ?? new Uint8Array());
      // After a failed write, the next poll is selected.
      void writer.write(settings, header, body, () => memories.delete(key));
    },
    recordNext: (target) => {
      for (const [key, memory] of memories)
        if (memory.target === target) memories.set(key, { ...memory, hasNewProblem: true });
    },
    forgetOthers: (states) => {
      const keys = new Set(states.map(memoryKey));
      for (const key of memories.keys()) if (!keys.has(key)) memories.delete(key);
    },
    status: () => settings && writer.status(),
    close: async () => writer.close(),
  };
}

function createHeader(state: EndpointState, received: Received, now: Moment): RecordingHeader {
  const { target, document, lastPoll, lastFailure } = state;
  if (lastPoll === undefined) throw new Error('an endpoint without a poll is not recorded');
  const error = lastPoll.ok ? undefined : lastFailure?.error;
  const { height, servedPath, additionalInput = {} }: Partial<ReceivedDocument> = received.ok ? received : {};
  const call = 'call' in additionalInput ? additionalInput.call : undefined;
  return {
    version: FORMAT_VERSION,
    target,
    document,
    time: isoTime(wallSeconds(lastPoll.at, now)),
    ...(height !== undefined && { height }),
    ...(servedPath && { path: servedPath.path }),
    ...(call && { call }),
    outcome: error?.reason ?? 'ok',
    ...(error && { message: error.message }),
  };
}

/** The memory of an endpoint for the selection of its polls. Times are in milliseconds of the process clock. */
export interface RecordingMemory {
  readonly target: string;
  /** The outcome of the last poll; `undefined` before the first. */
  readonly outcome?: 'ok' | FailureReason;
  /** The last recorded successful poll. */
  readonly okAtMs?: number;
  /** The last recorded body that is not a document. */
  readonly failedBodyAtMs?: number;
  /** Whether a problem of the target has begun or ended since the last successful poll. */
  readonly hasNewProblem?: boolean;
}

type Outcome = NonNullable<RecordingMemory['outcome']>;

/** The failures of a response that has a body. */
const FAILURES_WITH_BODY: ReadonlySet<Outcome> = new Set(['not_json', 'schema', 'regression']);

/**
 * Selects a successful poll when the interval has passed, after a failure, and when a problem of the target has begun
 * or ended. Selects the first of equal failures, and failures with a body when the interval has passed. Without an
 * interval, selects every poll.
 */
export function selectPoll(
  before: RecordingMemory,
  outcome: Outcome,
  nowMs: number,
  intervalMs: number,
): { readonly isSelected: boolean; readonly memory: RecordingMemory } {
  const isOk = outcome === 'ok';
  const lastAt = isOk ? 'okAtMs' : 'failedBodyAtMs';
  const hasBody = isOk || FAILURES_WITH_BODY.has(outcome);
  const isDue = intervalMs === 0 || (hasBody && nowMs - (before[lastAt] ?? -Infinity) >= intervalMs);
  const isSelected = before.outcome !== outcome || isDue || (isOk && before.hasNewProblem === true);
  const memory = { ...before, outcome, ...(isOk && { hasNewProblem: false }) };
  return { isSelected, memory: isSelected && hasBody ? { ...memory, [lastAt]: nowMs } : memory };
}

/* Writing of recorded polls. */

export interface RecorderStatus {
  /** Numbers of polls since the start of the process. */
  readonly recorded: number;
  readonly failed: number;
  /** The size of all recordings; `undefined` before they were added up. */
  readonly bytes: number | undefined;
  /** `undefined` if the last attempt succeeded. */
  readonly failure: string | undefined;
}

type WriterSettings = Pick<ActiveSettings, 'directory' | 'max_size'>;

/** Bodies that wait for the disk take memory. A larger body is accepted when no other is waiting. */
const MAX_WAITING_BYTES = 64 * MEBIBYTE;
/** A poll that waits takes so much memory besides its body. */
const POLL_BYTES = 64 * 1024;
/** Adding up many recordings takes less. */
const DISK_MS = 60_000;

export function createWriter(log: Pick<Logger, 'info' | 'warn'>) {
  const disk = createDisk(log, DISK_MS, {
    failing: 'polls cannot be recorded',
    succeeding: 'polls are recorded again',
  });
  let [recorded, failed, waitingBytes] = [0, 0, 0];
  let bytes: number | undefined;
  /** Opened again after a failure: another volume may be mounted there. */
  let opened: { readonly root: string; readonly directory: RecordingDirectory } | undefined;

  const run = async (
    root: string,
    action: (directory: RecordingDirectory) => Promise<void>,
    makesRoot = false,
  ): Promise<boolean> =>
    disk.run(async () => {
      try {
        // Opening a directory that cannot be made fails with the same reason.
        if (makesRoot) await mkdir(root, { recursive: true }).catch(() => undefined);
        if (opened?.root !== root) opened = { root, directory: await openDirectory(root) };
        await action(opened.directory);
        bytes = opened.directory.bytes();
      } catch (error) {
        opened = undefined;
        throw error;
      }
    });

  return {
    /**
     * Creates the directory if it is missing, and adds up the polls that are there. A directory that disappears later
     * is not created again, because it may be a volume that is not mounted.
     */
    open: ({ directory: root }: WriterSettings): void => void run(root, async () => undefined, true),
    /** Queues a poll. Failures are counted, and the first of successive failures is logged. */
    write: async (
      { directory: root, max_size: maxBytes }: WriterSettings,
      header: RecordingHeader,
      body: Uint8Array,
      onFailure: () => void,
    ): Promise<void> => {
      const size = body.length + POLL_BYTES;
      const isTooSlow = waitingBytes > 0 && waitingBytes + size > MAX_WAITING_BYTES;
      if (isTooSlow) disk.fail(`the disk is too slow: ${formatSize(waitingBytes)} wait to be written`);
      waitingBytes += size;
      const hasSucceeded =
        !isTooSlow && (await run(root, async (directory) => directory.write(header, body, maxBytes)));
      waitingBytes -= size;
      if (hasSucceeded) recorded += 1;
      else {
        failed += 1;
        onFailure();
      }
    },
    status: (): RecorderStatus => ({ recorded, failed, bytes, failure: disk.failure() }),
    /** Resolves when the waiting polls are written, or after a few seconds. */
    close: disk.close,
  };
}
