import { failureReasonNames } from '../http/failure-reasons.js';
import type { Phase } from '../poll/step.js';
import { isMapping } from '../settings/value-types.js';
import { parseContractKeys } from './contract-context.js';
import { FORMAT_VERSION, type RecordingHeader } from './recording-file.js';

/* Reads a recorded poll, which another program may have written. */

export interface DecodedRecording {
  readonly header: RecordingHeader;
  /** Empty for a poll without a body. */
  readonly body: Buffer;
}

/** Reads what `encodeRecording` or another program has written. Throws if it is not a recorded poll. */
export function decodeRecording(content: Buffer): DecodedRecording {
  const end = content.indexOf('\n');
  if (end === -1) throw new Error('has no header line');
  return { header: parseHeader(content.toString('utf8', 0, end)), body: content.subarray(end + 1) };
}

function parseHeader(line: string): RecordingHeader {
  let header: unknown;
  try {
    header = JSON.parse(line);
  } catch (cause) {
    throw new Error('the header line is not JSON', { cause });
  }
  if (!isMapping(header)) throw new Error('the header line is not an object');
  const { version, target, document, time, outcome, height, path, message, received, added, external_height } = header;
  if (version !== FORMAT_VERSION) throw new Error(`the version of the header is not ${FORMAT_VERSION}`);
  const wrong = Object.entries({ target, document, time, outcome }).find(([, value]) => typeof value !== 'string');
  if (wrong !== undefined) throw new Error(`the header has no ${wrong[0]}`);
  const optional = Object.entries({ height, path, message, received, added, external_height });
  const invalid = optional.find(([, value]) => value !== undefined && typeof value !== 'string');
  if (invalid !== undefined) throw new Error(`${invalid[0]} of the header is not a string`);
  if (!isOutcome(outcome)) throw new Error('the outcome of the header is neither ok nor a reason of a failure');
  const { monotonic_ms: monotonicMs, phase_seconds: phaseSeconds, calls, hub, ...others } = header;
  return {
    ...others,
    ...(typeof monotonicMs === 'number' && { monotonic_ms: monotonicMs }),
    ...(isMapping(phaseSeconds) && { phase_seconds: numbersOf(phaseSeconds) }),
    ...parseContractKeys({ calls, hub }),
    // The strings and the outcome were checked above.
  } as RecordingHeader;
}

const outcomes: ReadonlySet<unknown> = new Set(['ok', ...failureReasonNames]);

function isOutcome(value: unknown): value is RecordingHeader['outcome'] {
  return outcomes.has(value);
}

const PHASES: readonly Phase[] = ['fetch', 'decode', 'derive'];

function numbersOf(phaseSeconds: Readonly<Record<string, unknown>>): Partial<Record<Phase, number>> {
  return Object.fromEntries(
    PHASES.map((phase) => [phase, phaseSeconds[phase]]).filter(([, value]) => typeof value === 'number'),
  ) as Partial<Record<Phase, number>>;
}
