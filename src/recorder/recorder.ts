import { mkdir } from 'node:fs/promises';
import type { Logger } from 'pino';
import { isoTime, wallSeconds, type Clock, type Instant, type Moment } from '../clock.js';
import type { RecorderSettings } from '../config/config.js';
import type { FailureReason } from '../http/failure-reasons.js';
import { endpointId, type EndpointState } from '../engine/endpoint-state.js';
import type { ReceivedDocument } from '../engine/source.js';
import type { PollRecorder } from '../engine/loop.js';
import { createQueue, reportSlow, withinMs } from '../tasks.js';
import { fileErrorText } from '../text/error-text.js';
import { MEBIBYTE, formatDuration, formatSize } from '../units.js';
import { FORMAT_VERSION, openDirectory, type RecordingDirectory, type RecordingHeader } from './directory.js';

/*
 * The recorder: writes the responses of polls to a directory, to replay them later. Failures are counted and logged,
 * and never affect a poll.
 */

export interface RecorderStatus extends WriterStatus {
  readonly settings: ActiveSettings;
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

/** The memory begins anew for an endpoint that is added again, or at another address. */
interface RecordedEndpoint extends Pick<EndpointState, 'target' | 'addedAt'> {
  readonly memory: RecordingMemory;
}

export function createRecorder(log: Logger, now: Clock, writer = createWriter(log, now)): Recorder {
  let settings: ActiveSettings | undefined;
  const endpoints = new Map<string, RecordedEndpoint>();

  function findEndpoint(state: EndpointState): RecordedEndpoint {
    const { target, addedAt } = state;
    const known = endpoints.get(endpointId(state));
    return known?.addedAt === addedAt ? known : { target, addedAt, memory: {} };
  }

  function forget(id: string): void {
    const endpoint = endpoints.get(id);
    if (endpoint !== undefined) endpoints.set(id, { ...endpoint, memory: {} });
  }

  return {
    configure: ({ directory, ...rest }) => {
      const before = settings;
      settings = directory === undefined ? undefined : { ...rest, directory };
      if (before?.directory === directory) return;
      endpoints.clear();
      if (settings !== undefined) writer.open(settings);
    },
    polled: ({ after: state, received, isAgain }) => {
      const { lastPoll, lastFailure } = state;
      // The first document steps again with the answers to queries, which are not recorded.
      if (settings === undefined || lastPoll === undefined || isAgain) return;
      const id = endpointId(state);
      const endpoint = findEndpoint(state);
      const outcome = lastPoll.ok ? 'ok' : (lastFailure?.error.reason ?? 'internal');
      const { isSelected, memory } = selectPoll(endpoint.memory, outcome, lastPoll.at * 1000, settings.interval);
      endpoints.set(id, { ...endpoint, memory });
      if (!isSelected) return;
      const header = createHeader(state, received.ok ? received : undefined, now());
      const body = received.ok ? received.bytes : (received.body ?? new Uint8Array());
      // After a failed write, the next poll is selected.
      writer.write(settings, header, body, () => forget(id));
    },
    recordNext: (target) => {
      for (const [id, endpoint] of endpoints) {
        if (endpoint.target !== target) continue;
        endpoints.set(id, { ...endpoint, memory: { ...endpoint.memory, hasNewVerdict: true } });
      }
    },
    forgetOthers: (states) => {
      const ids = new Set(states.map(endpointId));
      for (const id of endpoints.keys()) if (!ids.has(id)) endpoints.delete(id);
    },
    status: () => settings && { ...writer.status(), settings },
    close: async () => writer.close(),
  };
}

function createHeader(state: EndpointState, received: ReceivedDocument | undefined, now: Moment): RecordingHeader {
  const { target, document, lastPoll, lastFailure } = state;
  if (lastPoll === undefined) throw new Error('an endpoint without a poll is not recorded');
  const error = lastPoll.ok ? undefined : lastFailure?.error;
  return {
    version: FORMAT_VERSION,
    target,
    document,
    time: isoTime(wallSeconds(lastPoll.at, now)),
    ...(received && responseHeader(received)),
    outcome: error?.reason ?? 'ok',
    ...(error && { message: error.message }),
  };
}

function responseHeader({ height, servedPath, additionalInput = {} }: ReceivedDocument) {
  const call = 'call' in additionalInput ? additionalInput.call : undefined;
  return {
    ...(height !== undefined && { height }),
    ...(servedPath && { path: servedPath.path }),
    ...(call && { call }),
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
  const isSelected = before.outcome !== outcome || isDue || (isOk && before.hasNewVerdict === true);
  const memory = { ...before, outcome, ...(isOk && { hasNewVerdict: false }) };
  return { isSelected, memory: isSelected && hasBody ? { ...memory, [lastAt]: nowMs } : memory };
}

/*
 * Recorded polls are written in turn: a slow disk delays neither a poll nor a scrape, and occupies one thread of
 * Node.js.
 */

interface WriterStatus {
  /** Numbers of polls since the start of the process. */
  readonly recorded: number;
  readonly failed: number;
  /** The size of all recordings; `undefined` before they were added up. */
  readonly bytes: number | undefined;
  /** `undefined` if the last attempt succeeded. */
  readonly failure: { readonly since: Instant; readonly message: string } | undefined;
}

type WriterSettings = Pick<ActiveSettings, 'directory' | 'max_size'>;

/** Bodies that wait for the disk take memory. A larger body is accepted when no other is waiting. */
const MAX_WAITING_BYTES = 64 * MEBIBYTE;
const MAX_WAITING = 1000;
/** A disk that does not respond for so long has failed; adding up many recordings takes less. */
const DISK_MS = 60_000;

const CLOSE_MS = 3_000;

export function createWriter(log: Pick<Logger, 'info' | 'warn'>, now: Clock) {
  const enqueue = createQueue();
  let status: WriterStatus = { recorded: 0, failed: 0, bytes: undefined, failure: undefined };
  let [waiting, waitingBytes, isClosed] = [0, 0, false];
  /** Opened again after a failure: another volume may be mounted there. */
  let opened: { readonly root: string; readonly directory: RecordingDirectory } | undefined;

  function fail(message: string, polls: number): void {
    if (status.failure === undefined) log.warn(`polls cannot be recorded: ${message}`);
    const since = status.failure?.since ?? now().at;
    status = { ...status, failed: status.failed + polls, failure: { since, message } };
  }

  async function attempt(
    root: string,
    polls: number,
    action: (directory: RecordingDirectory) => Promise<void>,
    onFailure?: () => void,
  ): Promise<void> {
    if (isClosed) return;
    try {
      if (opened?.root !== root) opened = { root, directory: await openDirectory(root) };
      await action(opened.directory);
      if (status.failure !== undefined) log.info('polls are recorded again');
      status = { ...status, recorded: status.recorded + polls, bytes: opened.directory.bytes(), failure: undefined };
    } catch (error) {
      opened = undefined;
      fail(fileErrorText(error), polls);
      onFailure?.();
    }
  }

  /** Reports a disk that does not respond, before too many polls wait for it. */
  const onDisk = async (root: string, task: () => Promise<void>): Promise<void> =>
    reportSlow(DISK_MS, () => fail(`${root}: the disk has not responded for ${formatDuration(DISK_MS)}`, 0), task);

  return {
    /** Creates the directory if it is missing, and adds up the polls that are there. */
    open: ({ directory: root }: WriterSettings) =>
      void enqueue(async () =>
        onDisk(root, async () => {
          // Only here: a directory that disappears later may be a volume that is not mounted. Opening it fails with the
          // same reason.
          await mkdir(root, { recursive: true }).catch(() => undefined);
          await attempt(root, 0, async () => undefined);
        }),
      ),
    /** Queues a poll. Failures are counted, and the first of successive failures is logged. */
    write: (
      { directory: root, max_size: maxBytes }: WriterSettings,
      header: RecordingHeader,
      body: Uint8Array,
      onFailure: () => void,
    ) => {
      const bytes = body.length;
      if (waiting > 0 && (waiting >= MAX_WAITING || waitingBytes + bytes > MAX_WAITING_BYTES)) {
        fail(`the disk is too slow: ${waiting} responses of ${formatSize(waitingBytes)} wait to be written`, 1);
        onFailure();
        return;
      }
      waiting += 1;
      waitingBytes += bytes;
      void enqueue(async () => {
        await onDisk(root, async () =>
          attempt(root, 1, async (directory) => directory.write(header, body, maxBytes), onFailure),
        );
        waiting -= 1;
        waitingBytes -= bytes;
      });
    },
    status: () => status,
    /** Resolves when the waiting polls are written, or after a few seconds: then they are dropped. */
    close: async () => {
      await withinMs(
        CLOSE_MS,
        enqueue(async () => undefined),
      );
      isClosed = true;
    },
  };
}
