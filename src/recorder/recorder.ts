import type { Logger } from 'pino';
import { isDeepStrictEqual } from 'node:util';
import { clock, isoTime, type Instant } from '../clock.js';
import type { RecorderSettings } from '../config/config.js';
import type { SideInput } from '../documents.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import type { PollRecorder, RecordedBody } from '../poll/registry.js';
import { FORMAT_VERSION, type RecordingHeader } from './recording-file.js';
import { selectPoll } from './selection.js';
import { startWriter, type RecordingWriter, type WriterReply } from './writer.js';

/*
 * The recorder: writes the responses of polls to a directory, to replay them later. What fails is counted and logged; it never affects
 * a poll.
 */

export interface RecorderStatus {
  readonly settings: ActiveSettings;
  /** Number of recorded polls since the start of the process. */
  readonly recorded: number;
  readonly failed: number;
  /** The size of all recordings; `undefined` before they were added up. */
  readonly bytes: number | undefined;
  /** Why recording fails; `undefined` if the last attempt succeeded. */
  readonly failure: { readonly since: Instant; readonly message: string } | undefined;
}

type ActiveSettings = RecorderSettings & { readonly directory: string };

export interface Recorder extends PollRecorder {
  /** Starts, stops or changes the recorder. */
  readonly configure: (settings: RecorderSettings) => void;
  /** `undefined` if nothing is recorded. */
  readonly status: () => RecorderStatus | undefined;
  /** Writes what is waiting. */
  readonly close: () => Promise<void>;
}

export function createRecorder(
  log: Logger,
  now: () => Instant = clock,
  start: typeof startWriter = startWriter,
): Recorder {
  let writer: RecordingWriter | undefined;
  let status: RecorderStatus | undefined;
  let closing: Promise<unknown> = Promise.resolve();

  function onReply(reply: WriterReply, isStart: boolean): void {
    if (status === undefined) return;
    if ('problem' in reply) return fail(reply.problem, isStart ? 0 : 1);
    if (status.failure !== undefined) log.info('polls are recorded again');
    status = { ...status, bytes: reply.bytes, failure: undefined, recorded: status.recorded + (isStart ? 0 : 1) };
  }

  /** One log line for a series of failures. */
  function fail(message: string, count: number): void {
    if (status === undefined) return;
    if (status.failure === undefined) log.warn(`polls cannot be recorded: ${message}`);
    const since = status.failure?.since ?? now();
    status = { ...status, failed: status.failed + count, failure: { since, message } };
  }

  return {
    configure: (settings) => {
      const { directory } = settings;
      const { settings: before, recorded = 0, failed = 0 } = status ?? {};
      if (isDeepStrictEqual(before, directory === undefined ? undefined : settings)) return;
      const isSameDirectory = before?.directory === directory && before?.max_size === settings.max_size;
      if (!isSameDirectory && writer !== undefined) closing = Promise.all([closing, writer.close()]);
      if (directory === undefined) {
        writer = undefined;
        status = undefined;
        return;
      }
      const active = { ...settings, directory };
      if (status !== undefined && isSameDirectory) {
        status = { ...status, settings: active };
        return;
      }
      status = { settings: active, recorded, failed, bytes: undefined, failure: undefined };
      const started: RecordingWriter = start({
        directory,
        maxBytes: settings.max_size,
        // The last replies of a writer that was replaced are of another directory.
        onReply: (reply, isStart) => (writer === started ? onReply(reply, isStart) : undefined),
      });
      writer = started;
    },
    isDue: (memory, { intervalMs: pollMs = 0, limits }) => {
      const intervalMs = status?.settings.interval ?? 0;
      const endMs = now().monotonicMs + limits.timeoutMs;
      return intervalMs > pollMs && selectPoll(memory, 'ok', endMs, intervalMs).isSelected;
    },
    record: (memory, state, body) => {
      const { last, failure } = state;
      if (writer === undefined || status === undefined || last === undefined) return memory;
      const outcome = last.ok ? 'ok' : (failure?.error.reason ?? 'internal');
      const selected = selectPoll(memory, outcome, last.at.monotonicMs, status.settings.interval);
      if (selected.isSelected) {
        const problem = writer.record(headerOf(state, body), body?.bytes ?? new Uint8Array());
        if (problem !== undefined) fail(problem, 1);
      }
      return selected.memory;
    },
    status: () => status,
    close: async () => {
      await Promise.all([closing, writer?.close()]);
      writer = undefined;
    },
  };
}

function headerOf(
  { target, document, addedAt, last, failure }: EndpointState,
  body: RecordedBody | undefined,
): RecordingHeader {
  if (last === undefined) throw new Error('an endpoint without a poll is not recorded');
  const error = last.ok ? undefined : failure?.error;
  const { calls, facts, hub, externalHeight }: SideInput = body?.sideInput ?? {};
  return {
    version: FORMAT_VERSION,
    target,
    document,
    time: isoTime(last.at.epochSeconds),
    ...(body?.height !== undefined && { height: body.height }),
    ...(body?.path !== undefined && { path: body.path }),
    ...(calls && { calls }),
    outcome: error?.reason ?? 'ok',
    ...(error && { message: error.message }),
    ...(body && { received: isoTime(body.receivedAt.epochSeconds) }),
    monotonic_ms: (body?.receivedAt ?? last.at).monotonicMs,
    added: isoTime(addedAt.epochSeconds),
    phase_seconds: last.phaseSeconds,
    ...(externalHeight !== undefined && { external_height: String(externalHeight) }),
    ...(body &&
      calls &&
      facts && { hub: { age_ms: body.receivedAt.monotonicMs - facts.at.monotonicMs, facts, reading: hub } }),
  };
}
