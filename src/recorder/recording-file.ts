import { z } from 'zod';
import { numeralSchema, type Numeral } from '../chain/numeral.js';
import { recordingDirectoryOf } from '../config/config.js';
import type { HubSide } from '../facts/contract/hub-side.js';
import type { HubReading } from '../facts/contract/reading.js';
import type { DocumentName } from '../document-types.js';
import { documentNames } from '../documents.js';
import { failureReasonNames } from '../http/failure-reasons.js';

/*
 * A recorded poll: `DIR/TARGET/DOCUMENT/YYYY-MM-DD/HHMMSS.mmmZ.json.gz`. The file is gzip of a header, which is a line of JSON, and of the decoded
 * response body. docs/backtesting.md describes the format, because other programs can write such files too.
 */

export const FORMAT_VERSION = 1;

/** `undefined` is written as `null`. */
function maybe<Value extends z.ZodType>(value: Value) {
  return z.codec(z.nullable(value), z.custom<z.output<Value> | undefined>(), {
    decode: (present) => present ?? undefined,
    encode: (present) => (present ?? null) as z.output<Value> | null,
  });
}

/** A list of pairs. */
const supplies = z.codec(z.array(z.tuple([z.string(), numeralSchema])), z.custom<ReadonlyMap<string, Numeral>>(), {
  decode: (pairs) => new Map(pairs),
  encode: (entries): [string, Numeral][] => Array.from(entries),
});

/** The module state and the answers of the hub with which a contract was compared. The module state need not be recorded. */
const comparedWith = z.object({
  /** Age of the module state when the answers were received. */
  age_ms: z.number(),
  facts: z.object({
    height: maybe(numeralSchema),
    contract: z.string(),
    chainId: z.string(),
    lastObservedNonce: maybe(numeralSchema),
    newestValsetNonce: maybe(numeralSchema),
    lastBatchNonce: maybe(numeralSchema),
    externalBlockMs: maybe(z.number()),
    powerThreshold: z.string(),
    batchTokens: z.array(z.object({ contract: z.string(), denom: z.string() })).readonly(),
    backing: z
      .array(
        z.object({
          contract: z.string(),
          unbatched: maybe(numeralSchema),
          batches: maybe(z.array(z.object({ nonce: maybe(numeralSchema), amount: numeralSchema })).readonly()),
        }),
      )
      .readonly(),
  }) satisfies z.ZodType<Omit<HubSide, 'at'>>,
  /** Absent without a query of the hub. */
  reading: z.object({ blockSeconds: maybe(z.number()), supplies }).optional() satisfies z.ZodType<
    HubReading | undefined
  >,
});

/** In UTC, such as 2026-01-02T03:04:05.678Z. */
const utcTime = z.iso.datetime();
/** The number of a block, as JSON-RPC writes it. */
const blockNumber = z.string().regex(/^0x[\da-f]{1,16}$/i);

/** The first line of a file. Unknown keys are ignored. */
const headerSchema = z
  .object({
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
    /** The calls of a contract; the body has their results. */
    calls: z
      .array(z.object({ id: z.number(), to: z.string(), data: z.string(), block: blockNumber }))
      .readonly()
      .optional(),
    /** When the response was complete. With this key and the following keys, which are optional, a replay is exact. */
    received: utcTime.optional(),
    /** The monotonic clock of the process at `received`, else at `time`, in milliseconds. */
    monotonic_ms: z.number().optional(),
    /** When the process began to poll the endpoint. After a later time, its counters began anew. */
    added: utcTime.optional(),
    phase_seconds: z.partialRecord(z.enum(['fetch', 'decode', 'derive']), z.number()).optional(),
    /** The height of the contract when the module state was polled. */
    external_height: z.string().optional(),
    hub: comparedWith.optional(),
  })
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
export function pathOf({ target, document, time }: Pick<RecordingHeader, 'target' | 'document' | 'time'>): string {
  return [
    recordingDirectoryOf(target),
    document,
    time.slice(0, 10),
    `${time.slice(11).replaceAll(':', '')}.json.gz`,
  ].join('/');
}

/** A name with a dot at its beginning is that of an incomplete file, or of no recorded poll. */
const PATH = /^([^./][^/]*)\/([a-z_]+)\/(\d{4}-\d\d-\d\d)\/(\d\d)(\d\d)(\d\d\.\d{3}Z)\.json\.gz$/;

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
  let json: unknown;
  try {
    json = JSON.parse(content.toString('utf8', 0, end));
  } catch (cause) {
    throw new Error('the header line is not JSON', { cause });
  }
  const parsed = headerSchema.safeParse(json);
  if (!parsed.success) {
    const [{ path, message } = { path: [], message: '' }] = parsed.error.issues;
    throw new Error(`${['header', ...path].join('.')}: ${message}`);
  }
  return { header: parsed.data, body: content.subarray(end + 1) };
}
