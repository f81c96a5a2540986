import type { FailureReason } from '../http/failure-reasons.js';
import type { ContractCall } from '../queries/contract-calls.js';
import type { Phase } from '../poll/step.js';
import type { RecordedHub } from './contract-context.js';

/*
 * A recorded poll: `DIR/TARGET/DOCUMENT/YYYY-MM-DD/HHMMSS.mmmZ.json.gz`. The file is gzip of one line of JSON, the header, and of the
 * response body as it was after decoding. docs/backtesting.md describes the format for other programs.
 */

export const FORMAT_VERSION = 1;

/** The first line of a file. Keys that are unknown are ignored. */
export interface RecordingHeader {
  readonly version: typeof FORMAT_VERSION;
  readonly target: string;
  readonly document: string;
  /** When the poll ended, in UTC with milliseconds, as in the name of the file. */
  readonly time: string;
  /** Hub height as in the response header, also an invalid one; absent without one. */
  readonly height?: string;
  /** Where the document was found. Absent for a contract, because the path may be an API key. */
  readonly path?: string;
  readonly outcome: 'ok' | FailureReason;
  /** Of a failed poll. */
  readonly message?: string;
  /** Of a contract: the calls of which the body has the results. */
  readonly calls?: readonly ContractCall[];
  /** When the response was complete. This key and those that follow are optional: with them, a replay is exact. */
  readonly received?: string;
  /** The monotonic clock of the process at `received`, or without it at `time`, in milliseconds. */
  readonly monotonic_ms?: number;
  /** Since when the process polls the endpoint. A later time means that its counters began anew. */
  readonly added?: string;
  readonly phase_seconds?: Partial<Record<Phase, number>>;
  /** Of a module state: the external height that was read of the contract. */
  readonly external_height?: string;
  /** Of a contract: what the answers were compared with. */
  readonly hub?: RecordedHub;
}

/** The end of the name of every recorded poll. */
const SUFFIX = '.json.gz';

/** Names of directories and files begin with a dot only if they are not recordings. */
export const TEMPORARY_SUFFIX = '.tmp';

/** The name of the directory of a target. A name of dots, such as `..`, would be another directory. */
export function directoryName(target: string): string {
  return encodeURIComponent(target).replace(/^\.+/, (dots) => '%2E'.repeat(dots.length));
}

/** The target of a directory; `undefined` if it is not the name of one. */
export function targetOf(directory: string): string | undefined {
  try {
    const target = decodeURIComponent(directory);
    return target !== '' && !directory.startsWith('.') ? target : undefined;
  } catch {
    // Not percent-encoded, so it is not of a recorder.
    return undefined;
  }
}

/** The directory and the name of the file of a poll, relative to the directory of its document. */
export function fileNameOf(time: string): { readonly day: string; readonly name: string } {
  return { day: time.slice(0, 10), name: `${time.slice(11).replaceAll(':', '')}${SUFFIX}` };
}

/** The time of a poll by the name of its file, in milliseconds since 1970; `undefined` if it is not that of a recorded poll. */
export function timeOf(day: string, name: string): number | undefined {
  const [, hour, minute, rest] = /^(\d\d)(\d\d)(\d\d\.\d{3}Z)\.json\.gz$/.exec(name) ?? [];
  if (hour === undefined || !isDay(day)) return undefined;
  const text = `${day}T${hour}:${minute}:${rest}`;
  const time = Date.parse(text);
  return Number.isNaN(time) || new Date(time).toISOString() !== text ? undefined : time;
}

export function isDay(name: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(name);
}

/** The content of a file before it is compressed. */
export function encodeRecording(header: RecordingHeader, body: Uint8Array = new Uint8Array()): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), body]);
}
