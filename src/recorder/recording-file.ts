import { z } from 'zod';
import { decimal, toDecimalString, type Decimal } from '../chain/decimal.js';
import { recordingDirectoryOf } from '../config/config.js';
import type { ContractFacts } from '../facts/contract/hub-side.js';
import type { HubReading } from '../facts/contract/reading.js';
import type { DocumentName } from '../document-types.js';
import { documentNames } from '../documents.js';
import { failureReasonNames } from '../http/failure-reasons.js';
import { decimalString, numeralSchema, type Numeral } from '../chain/numeral.js';

/*
 * A recorded poll: `DIR/TARGET/DOCUMENT/YYYY-MM-DD/HHMMSS.mmmZ.json.gz`. The file is gzip of one line of JSON, the header, and of the
 * response body as it was after decoding. docs/backtesting.md describes the format for other programs, which may have written a file.
 */

export const FORMAT_VERSION = 1;

/* Values that JSON does not have. */

/** `undefined` is written as null. */
function maybe<Value extends z.ZodType>(value: Value) {
  return z.codec(z.nullable(value), z.custom<z.output<Value> | undefined>(), {
    decode: (found) => found ?? undefined,
    encode: (found) => (found ?? null) as z.output<Value> | null,
  });
}

function list<Value extends z.ZodType>(value: Value) {
  return z.array(value).readonly();
}

const exactDecimal = z.codec(decimalString, z.custom<Decimal>(), { decode: decimal, encode: toDecimalString });

/** A list of pairs. */
const supplies = z.codec(z.array(z.tuple([z.string(), numeralSchema])), z.custom<ReadonlyMap<string, Numeral>>(), {
  decode: (pairs) => new Map(pairs),
  encode: (known): [string, Numeral][] => Array.from(known),
});

/** What the answers of a contract were compared with: the module state of the moment and the answers of the hub, which need not be recorded. */
const comparedWith = z.object({
  /** How long before the answers the module state was received. */
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
    batchTokens: list(z.object({ contract: z.string(), denom: z.string() })),
    backing: list(
      z.object({
        contract: z.string(),
        unbatched: maybe(exactDecimal),
        batches: maybe(list(z.object({ nonce: maybe(numeralSchema), amount: exactDecimal }))),
      }),
    ),
  }) satisfies z.ZodType<Omit<ContractFacts, 'at'>>,
  /** Absent unless the hub was asked. */
  reading: z.object({ blockSeconds: maybe(z.number()), supplies }).optional() satisfies z.ZodType<
    HubReading | undefined
  >,
});

/** In UTC, such as 2026-01-02T03:04:05.678Z. */
const utcTime = z.iso.datetime();
/** The number of a block, as JSON-RPC writes it. */
const blockNumber = z.string().regex(/^0x[\da-f]{1,16}$/i);

/** The first line of a file. Keys that are unknown are ignored. */
const headerSchema = z
  .object({
    version: z.literal(FORMAT_VERSION),
    target: z.string(),
    document: z.enum(documentNames),
    /** When the poll ended, with milliseconds, as in the name of the file. */
    time: utcTime,
    /** Hub height as in the response header, also an invalid one; absent without one. */
    height: z.string().optional(),
    /** Where the document was found. Absent for a contract, because the path may be an API key. */
    path: z.string().optional(),
    outcome: z.enum(['ok', ...failureReasonNames]),
    /** Why the poll has failed. */
    message: z.string().optional(),
    /** The calls of a contract of which the body has the results. */
    calls: list(z.object({ id: z.number(), to: z.string(), data: z.string(), block: blockNumber })).optional(),
    /** When the response was complete. This key and those that follow are optional: with them, a replay is exact. */
    received: utcTime.optional(),
    /** The monotonic clock of the process at `received`, or without it at `time`, in milliseconds. */
    monotonic_ms: z.number().optional(),
    /** Since when the process polls the endpoint. A later time means that its counters began anew. */
    added: utcTime.optional(),
    phase_seconds: z.partialRecord(z.enum(['fetch', 'decode', 'derive']), z.number()).optional(),
    /** The external height that was read of the contract before a module state. */
    external_height: z.string().optional(),
    /** What the answers of a contract were compared with. */
    hub: comparedWith.optional(),
  })
  .readonly();

export type RecordingHeader = z.output<typeof headerSchema>;

/** Where a recorded poll is. */
export interface RecordedFile {
  readonly target: string;
  readonly document: DocumentName;
  /** When the poll ended, in milliseconds since 1970. */
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

/** No name begins with a dot: such files are not recorded polls, or not complete. */
const PATH = /^([^./][^/]*)\/([a-z_]+)\/(\d{4}-\d\d-\d\d)\/(\d\d)(\d\d)(\d\d\.\d{3}Z)\.json\.gz$/;

/** The recorded poll that has this path; `undefined` if it is another file. */
export function fileAt(path: string): RecordedFile | undefined {
  const [, target = '', directory, day, hour, minute, second] = PATH.exec(path) ?? [];
  const document = documentNames.find((name) => name === directory);
  const time = `${day}T${hour}:${minute}:${second}`;
  const timeMs = Date.parse(time);
  if (document === undefined || Number.isNaN(timeMs) || new Date(timeMs).toISOString() !== time) return undefined;
  try {
    return { target: decodeURIComponent(target), document, timeMs, path };
  } catch {
    // Not percent-encoded, so it is not of a recorder.
    return undefined;
  }
}

/** The content of a file before it is compressed. */
export function encodeRecording(header: RecordingHeader, body: Uint8Array = new Uint8Array()): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(z.encode(headerSchema, header))}\n`), body]);
}

export interface DecodedRecording {
  readonly header: RecordingHeader;
  /** Empty for a poll without a body. */
  readonly body: Buffer;
}

/** Reads the content of a file. Throws if it is not a recorded poll. */
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
