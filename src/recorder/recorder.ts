import type { Logger } from 'pino';
import { isoTime, wallSeconds, type Clock, type Instant, type Moment } from '../clock.js';
import type { RecorderSettings } from '../config/config.js';
import type { FailureReason } from '../http/failure-reasons.js';
import { endpointId, type EndpointState } from '../engine/endpoint-state.js';
import type { ReceivedDocument } from '../engine/source.js';
import type { PollRecorder } from '../engine/loop.js';
import { createQueue, reportSlow, withinMs } from '../tasks.js';
import { fileErrorText } from '../text/system-error.js';
import { MEBIBYTE, formatDuration, formatSize } from '../units.js';
import { makeDirectory, openDirectory, type RecordingDirectory } from './directory.js';
import { linesOf, type LastBodies } from './query-lines.js';
import { FORMAT_VERSION, type RecordingHeader } from './recording-file.js';

/*
 * The recorder: writes the responses of polls to a directory, to replay them later. Failures are counted and logged, and never affect a poll.
 */

export interface RecorderStatus extends WriterStatus, PollCounts {
  readonly settings: ActiveSettings;
}

/** Numbers of polls since the start of the process. */
interface PollCounts {
  readonly recorded: number;
  readonly failed: number;
}

type ActiveSettings = RecorderSettings & { readonly directory: string };

export interface Recorder extends PollRecorder {
  /** Starts, stops or changes the recorder. */
  readonly configure: (settings: RecorderSettings) => void;
  /** `undefined` without a configured directory. */
  readonly status: () => RecorderStatus | undefined;
  /** Writes the waiting polls, for at most a few seconds. */
  readonly close: () => Promise<void>;
}

const CLOSE_MS = 3_000;

export function createRecorder(log: Logger, now: Clock, start: typeof startWriter = startWriter): Recorder {
  let settings: ActiveSettings | undefined;
  let writer: RecordingWriter | undefined;
  let counts: PollCounts = { recorded: 0, failed: 0 };
  const ending = new AbortController();
  /** Resolve when the replaced writers of a directory have written their waiting polls. */
  const closing = new Map<string, Promise<unknown>>();
  /** By endpoint. It begins anew for an endpoint that is added again, or at another address. */
  const memories = new Map<string, Pick<EndpointState, 'target' | 'addedAt'> & { readonly memory: RecordingMemory }>();
  /** By endpoint: the lines of the last answer to each request since the last recorded document. */
  const answers = new Map<
    string,
    { readonly lines: ReadonlyMap<string, string>; readonly last?: LastBodies | undefined }
  >();

  function memoryOf(state: EndpointState): RecordingMemory {
    const entry = memories.get(endpointId(state));
    return entry?.addedAt === state.addedAt ? entry.memory : {};
  }

  function count(outcome: keyof PollCounts, polls: number): void {
    counts = { ...counts, [outcome]: counts[outcome] + polls };
  }

  return {
    configure: ({ directory, ...rest }) => {
      const before = settings;
      settings = directory === undefined ? undefined : { ...rest, directory };
      if (before?.directory === directory && before?.max_size === rest.max_size) return;
      if (before !== undefined && writer !== undefined) {
        closing.set(before.directory, Promise.all([closing.get(before.directory), writer.close()]));
      }
      writer =
        settings && start(settings, log, now, { count, signal: ending.signal, after: closing.get(settings.directory) });
    },
    polled: ({ after: state, received, isAgain }) => {
      const { target, addedAt, lastPoll, lastFailure } = state;
      if (writer === undefined || settings === undefined || lastPoll === undefined) return;
      const outcome = lastPoll.ok ? 'ok' : (lastFailure?.error.reason ?? 'internal');
      const selected = selectPoll(memoryOf(state), outcome, lastPoll.at * 1000, settings.interval);
      const id = endpointId(state);
      memories.set(id, { target, addedAt, memory: selected.memory });
      if (!selected.isSelected && !isAgain) return;
      const { lines = new Map<string, string>() } = answers.get(id) ?? {};
      answers.set(id, { ...answers.get(id), lines: new Map() });
      // Then the next poll is selected.
      const onFailure = (): void => void memories.delete(id);
      const body = received.ok ? received.bytes : new Uint8Array();
      const header = {
        ...headerOf(state, received.ok ? received : undefined, now()),
        ...(isAgain && { again: true as const }),
      };
      writer.record(header, body, Array.from(lines.values()).join(''), onFailure);
    },
    answered: (round) => {
      if (writer === undefined) return;
      const id = endpointId(round.endpoint);
      const { lines: before = new Map<string, string>(), last } = answers.get(id) ?? {};
      const encoded = linesOf(round, last);
      const lines = new Map(before);
      for (const [key, text] of encoded.lines) {
        const request = `${round.after.query.name} ${key}`;
        // In the order in which they came.
        lines.delete(request);
        lines.set(request, text);
      }
      answers.set(id, { lines, last: encoded.last });
    },
    recordNext: (target) => {
      for (const [id, entry] of memories) {
        if (entry.target === target) memories.set(id, { ...entry, memory: { ...entry.memory, hasNewVerdict: true } });
      }
    },
    forgetOthers: (states) => {
      const ids = new Set(states.map(endpointId));
      for (const id of memories.keys()) if (!ids.has(id)) memories.delete(id);
      for (const id of answers.keys()) if (!ids.has(id)) answers.delete(id);
    },
    status: () => writer && settings && { ...counts, ...writer.status(), settings },
    close: async () => {
      await withinMs(CLOSE_MS, Promise.all([...closing.values(), writer?.close()]));
      ending.abort();
      writer = undefined;
    },
  };
}

function headerOf(
  { target, document, addedAt, lastPoll, lastFailure }: EndpointState,
  received: ReceivedDocument | undefined,
  now: Moment,
): RecordingHeader {
  if (lastPoll === undefined) throw new Error('an endpoint without a poll is not recorded');
  const error = lastPoll.ok ? undefined : lastFailure?.error;
  const { height, foundPath, receivedAt, otherAnswers = {} } = received ?? {};
  const call = 'call' in otherAnswers ? otherAnswers.call : undefined;
  return {
    version: FORMAT_VERSION,
    target,
    document,
    time: isoTime(wallSeconds(lastPoll.at, now)),
    ...(height !== undefined && { height }),
    ...(foundPath && { path: foundPath.path }),
    ...(call && { call }),
    outcome: error?.reason ?? 'ok',
    ...(error && { message: error.message }),
    ...(receivedAt && { received: isoTime(wallSeconds(receivedAt, now)) }),
    clock: lastPoll.at,
    added: isoTime(wallSeconds(addedAt, now)),
    phase_seconds: lastPoll.phaseSeconds,
  };
}

/** The memory of an endpoint for the selection of its polls. Times are in milliseconds of the process clock. */
export interface RecordingMemory {
  /** The outcome of the last poll; `undefined` before the first. */
  readonly outcome?: 'ok' | FailureReason;
  /** The last recorded successful poll. */
  readonly okAtMs?: number;
  /** The last recorded body that is not a document. */
  readonly failedBodyAtMs?: number;
  /** Whether a problem of the target has begun or ended since the last successful poll. */
  readonly hasNewVerdict?: boolean;
}

type Outcome = NonNullable<RecordingMemory['outcome']>;

/** The failures of a response that has a body. */
const FAILURES_WITH_BODY: ReadonlySet<Outcome> = new Set(['not_json', 'schema', 'regression']);

/**
 * Selects a successful poll when the interval has passed, after a failure, and when a problem of the target has begun or ended. Selects the first of
 * equal failures, and failures with a body when the interval has passed. Without an interval, selects every poll.
 */
export function selectPoll(
  before: RecordingMemory,
  outcome: Outcome,
  nowMs: number,
  intervalMs: number,
): { readonly isSelected: boolean; readonly memory: RecordingMemory } {
  const isDue = (atMs: number | undefined): boolean => atMs === undefined || nowMs - atMs >= intervalMs;
  const isNew = before.outcome !== outcome;
  if (outcome === 'ok') {
    const isSelected = isNew || before.hasNewVerdict === true || isDue(before.okAtMs);
    return {
      isSelected,
      memory: { ...before, outcome, hasNewVerdict: false, ...(isSelected && { okAtMs: nowMs }) },
    };
  }
  const hasBody = FAILURES_WITH_BODY.has(outcome);
  const isSelected = isNew || intervalMs === 0 || (hasBody && isDue(before.failedBodyAtMs));
  return {
    isSelected,
    memory: { ...before, outcome, ...(isSelected && hasBody && { failedBodyAtMs: nowMs }) },
  };
}

/* Recorded polls are written in turn: a slow disk delays neither a poll nor a scrape, and occupies one thread of Node.js. */

interface WriterOptions {
  readonly count: (outcome: keyof PollCounts, polls: number) => void;
  /** Aborted when the process ends: waiting polls are dropped. */
  readonly signal: AbortSignal;
  /** The end of the writer before of the same directory, whose files this writer has to add up. */
  readonly after?: Promise<unknown> | undefined;
}

interface WriterStatus {
  /** The size of all recordings; `undefined` before they were added up. */
  readonly bytes: number | undefined;
  /** `undefined` if the last attempt succeeded. */
  readonly failure: { readonly since: Instant; readonly message: string } | undefined;
}

interface RecordingWriter {
  /** Queues a poll. Failures are counted, and the first of successive failures is logged. */
  readonly record: (header: RecordingHeader, body: Uint8Array, queryLines: string, onFailure?: () => void) => void;
  readonly status: () => WriterStatus;
  /** Resolves when the waiting polls are written. */
  readonly close: () => Promise<void>;
}

/** Bodies that wait for the disk take memory. A larger body is accepted when no other is waiting. */
const MAX_WAITING_BYTES = 64 * MEBIBYTE;
const MAX_WAITING = 1000;
/** Longer than it takes to add up many recordings. */
const DISK_MS = 60_000;

export function startWriter(
  { directory: root, max_size: maxBytes }: Pick<ActiveSettings, 'directory' | 'max_size'>,
  log: Pick<Logger, 'info' | 'warn'>,
  now: Clock,
  { count, signal, after }: WriterOptions,
): RecordingWriter {
  const enqueue = createQueue();
  let status: WriterStatus = { bytes: undefined, failure: undefined };
  let waiting = 0;
  let waitingBytes = 0;
  let directory: RecordingDirectory | undefined;

  function fail(message: string, polls: number): void {
    if (status.failure === undefined) log.warn(`polls cannot be recorded: ${message}`);
    const since = status.failure?.since ?? now().at;
    count('failed', polls);
    status = { ...status, failure: { since, message } };
  }

  /** The directory is opened again after a failure: another volume may be mounted there. */
  async function attempt(
    polls: number,
    action: (opened: RecordingDirectory) => Promise<void>,
    onFailure?: () => void,
  ): Promise<void> {
    if (signal.aborted) return;
    try {
      directory ??= await openDirectory(root, maxBytes);
      await action(directory);
      if (status.failure !== undefined) log.info('polls are recorded again');
      count('recorded', polls);
      status = { bytes: directory.bytes(), failure: undefined };
    } catch (error) {
      directory = undefined;
      fail(fileErrorText(error), polls);
      onFailure?.();
    }
  }

  /** A disk that does not respond is a failure at once, and not when too many polls wait for it. */
  const onDisk = async (task: () => Promise<void>): Promise<void> =>
    reportSlow(DISK_MS, () => fail(`${root}: the disk has not responded for ${formatDuration(DISK_MS)}`, 0), task);

  void enqueue(async () =>
    onDisk(async () => {
      await after;
      // Only at the start: a directory that disappears later may be a volume that is not mounted. Opening it fails with the same reason.
      await makeDirectory(root).catch(() => undefined);
      await attempt(0, async () => undefined);
    }),
  );

  return {
    record: (header, body, queryLines, onFailure) => {
      const bytes = body.length + queryLines.length;
      if (waiting > 0 && (waiting >= MAX_WAITING || waitingBytes + bytes > MAX_WAITING_BYTES)) {
        fail(`the disk is too slow: ${waiting} responses of ${formatSize(waitingBytes)} wait to be written`, 1);
        onFailure?.();
        return;
      }
      waiting += 1;
      waitingBytes += bytes;
      void enqueue(async () => {
        await onDisk(async () => attempt(1, async (opened) => opened.write(header, body, queryLines), onFailure));
        waiting -= 1;
        waitingBytes -= bytes;
      });
    },
    status: () => status,
    close: async () => enqueue(async () => undefined),
  };
}
