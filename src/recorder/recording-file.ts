import { z } from 'zod';
import { decimal, toDecimalString, type Decimal } from '../chain/decimal.js';
import type { ContractFacts } from '../facts/contract/facts.js';
import type { HubReading } from '../facts/contract/reading.js';
import { failureReasonNames } from '../http/failure-reasons.js';
import { decimalString } from '../chain/numeral.js';
import { list, map, maybe, numeral } from '../state/codecs.js';

/*
 * A recorded poll: `DIR/TARGET/DOCUMENT/YYYY-MM-DD/HHMMSS.mmmZ.json.gz`. The file is gzip of one line of JSON, the header, and of the
 * response body as it was after decoding. docs/backtesting.md describes the format for other programs, which may have written a file.
 */

export const FORMAT_VERSION = 1;

const exactDecimal = z.codec(decimalString, z.custom<Decimal>(), { decode: decimal, encode: toDecimalString });

/** What the answers of a contract were compared with: the module state of the moment and the answers of the hub, which need not be recorded. */
const comparedWith = z.object({
  /** How long before the answers the module state was received. */
  age_ms: z.number(),
  facts: z.object({
    height: maybe(numeral),
    contract: z.string(),
    chainId: z.string(),
    lastObservedNonce: maybe(numeral),
    newestValsetNonce: maybe(numeral),
    lastBatchNonce: maybe(numeral),
    externalBlockMs: maybe(z.number()),
    powerThreshold: z.string(),
    batchTokens: list(z.object({ contract: z.string(), denom: z.string() })),
    backing: list(
      z.object({
        contract: z.string(),
        unbatched: maybe(exactDecimal),
        batches: maybe(list(z.object({ nonce: maybe(numeral), amount: exactDecimal }))),
      }),
    ),
  }) satisfies z.ZodType<Omit<ContractFacts, 'at'>>,
  /** Absent unless the hub was asked. */
  reading: z
    .object({ blockSeconds: maybe(z.number()), supplies: map(z.string(), numeral) })
    .optional() satisfies z.ZodType<HubReading | undefined>,
});

/** The first line of a file. Keys that are unknown are ignored. */
const headerSchema = z
  .object({
    version: z.literal(FORMAT_VERSION),
    target: z.string(),
    document: z.string(),
    /** When the poll ended, in UTC with milliseconds, as in the name of the file. */
    time: z.string(),
    /** Hub height as in the response header, also an invalid one; absent without one. */
    height: z.string().optional(),
    /** Where the document was found. Absent for a contract, because the path may be an API key. */
    path: z.string().optional(),
    outcome: z.enum(['ok', ...failureReasonNames]),
    /** Why the poll has failed. */
    message: z.string().optional(),
    /** The calls of a contract of which the body has the results. */
    calls: list(z.object({ id: z.number(), to: z.string(), data: z.string(), block: z.string() })).optional(),
    /** When the response was complete. This key and those that follow are optional: with them, a replay is exact. */
    received: z.string().optional(),
    /** The monotonic clock of the process at `received`, or without it at `time`, in milliseconds. */
    monotonic_ms: z.number().optional(),
    /** Since when the process polls the endpoint. A later time means that its counters began anew. */
    added: z.string().optional(),
    phase_seconds: z.partialRecord(z.enum(['fetch', 'decode', 'derive']), z.number()).optional(),
    /** The external height that was read of the contract before a module state. */
    external_height: z.string().optional(),
    /** What the answers of a contract were compared with. */
    hub: comparedWith.optional(),
  })
  .readonly();

export type RecordingHeader = z.output<typeof headerSchema>;

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
