import * as z from 'zod';
import { nameRecordingDirectory } from '../config/config.js';
import { documentNames, type DocumentName } from '../document-types.js';
import { failureReasonNames } from '../http/failure-reasons.js';
import { tryParseJson } from '../text/error-text.js';

/*
 * A recorded poll: `DIR/TARGET/DOCUMENT/YYYY-MM-DD/HHMMSS.mmmZ.json.gz`. The file is gzip of a header, which is a line
 * of JSON, and of the decoded response body. docs/backtesting.md describes the format, because other programs can write
 * such files too.
 */

export const FORMAT_VERSION = 1;

/** In UTC, such as 2026-01-02T03:04:05.678Z. */
const utcTime = z.iso.datetime();

/** The first line of a file. Unknown keys are ignored. */
const headerSchema = z
  .object(
    {
      version: z.literal(FORMAT_VERSION),
      target: z.string(),
      document: z.enum(documentNames),
      /** The end of the poll, with milliseconds, as in the name of the file. */
      time: utcTime,
      /** Hub height as in the response header, valid or not; absent without the header. */
      height: z.string().optional(),
      /** Absent for a contract, because the path may be an API key. */
      path: z.string().optional(),
      outcome: z.enum(['ok', ...failureReasonNames]),
      message: z.string().optional(),
      /** The call of a contract; the body has its result. */
      call: z.object({ to: z.string(), data: z.string(), block: z.string() }).readonly().optional(),
    },
    'is not a JSON object',
  )
  .readonly();

export type RecordingHeader = z.output<typeof headerSchema>;

export interface RecordedFile {
  readonly target: string;
  readonly document: DocumentName;
  /** The end of the poll, in milliseconds since 1970. */
  readonly timeMs: number;
  /** The path below the directory of the recording. */
  readonly path: string;
}

/** The path of a poll below the directory of the recording. */
export function formatPath({ target, document, time }: Pick<RecordingHeader, 'target' | 'document' | 'time'>): string {
  return [
    nameRecordingDirectory(target),
    document,
    time.slice(0, 10),
    `${time.slice(11).replaceAll(':', '')}.json.gz`,
  ].join('/');
}

/** A name with a dot at its beginning is that of an incomplete file, or of no recorded poll. */
const PATH = /^([^./][^/]*)\/([a-z_]+)\/(\d{4}-\d\d-\d\d)\/(\d\d)(\d\d)(\d\d\.\d{3}Z)\.json\.gz$/;

/**
 * The hour of a file, such as `2026-01-02/03`, also of an incomplete one; `undefined` if the path is not that of a
 * recorded poll.
 */
export function readHour(path: string): string | undefined {
  const [, , , day, hour] = PATH.exec(path.replace(/\/\.([^/]*)\.tmp$/, '/$1')) ?? [];
  return day && `${day}/${hour}`;
}

/** `undefined` if the path is not that of a recorded poll. */
export function fileAt(path: string): RecordedFile | undefined {
  const [, target = '', directory, day, hour, minute, second] = PATH.exec(path) ?? [];
  const document = documentNames.find((name) => name === directory);
  const time = `${day}T${hour}:${minute}:${second}`;
  const timeMs = Date.parse(time);
  if (document === undefined || Number.isNaN(timeMs) || new Date(timeMs).toISOString() !== time) return undefined;
  try {
    return { target: decodeURIComponent(target), document, timeMs, path };
  } catch {
    // Invalid percent-encoding.
    return undefined;
  }
}

/** The content of a file before compression. */
export function encodeRecording(header: RecordingHeader, body: Uint8Array = new Uint8Array()): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(z.encode(headerSchema, header))}\n`), body]);
}

export interface DecodedRecording {
  readonly header: RecordingHeader;
  /** Empty for a poll without a body. */
  readonly body: Buffer;
}

/** Throws if the content is not a recorded poll. */
export function decodeRecording(content: Buffer): DecodedRecording {
  const end = content.indexOf('\n');
  if (end === -1) throw new Error('has no header line');
  const { data: header, error } = headerSchema.safeParse(tryParseJson(content.toString('utf8', 0, end)));
  const [issue] = error?.issues ?? [];
  if (header === undefined) throw new Error(`${['header', ...(issue?.path ?? [])].join('.')}: ${issue?.message}`);
  return { header, body: content.subarray(end + 1) };
}
