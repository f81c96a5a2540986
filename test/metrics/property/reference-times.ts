import {
  add,
  compare,
  decimal,
  divide,
  equal,
  field,
  floor,
  integer,
  isGreater,
  list,
  lowest,
  multiply,
  number,
  orUndefined,
  string,
  subtract,
  sum,
  Withdrawn,
  type Rational,
  type SeriesCollector,
} from './exact.js';
import { eventNonce } from './reference-claims.js';
import { lastObserved } from './reference-orchestrators.js';

/** A document of an endpoint, with the time at which it was received. */
export interface TimedDocument {
  readonly state: unknown;
  readonly height?: string | undefined;
  readonly atMs: number;
}

export interface TimeOptions {
  /** In milliseconds, or `auto`. */
  readonly blockTime?: number | 'auto';
  readonly externalBlockTime?: number | 'auto';
  /** The document and those before it, oldest first. */
  readonly documents: readonly TimedDocument[];
}

const SECOND = 1000;

/** For each document, whether its height is below that of the last sample; and the samples after all documents. */
export function heightHistory(documents: readonly TimedDocument[]) {
  const rolledBack: boolean[] = [];
  let samples: { readonly atMs: number; readonly height: Rational }[] = [];
  for (const { height: text, atMs } of documents) {
    const height = text === undefined ? undefined : decimal(text);
    const newest = samples.at(-1);
    const isBack = height !== undefined && newest !== undefined && compare(height, newest.height) < 0;
    rolledBack.push(isBack);
    if (isBack) samples = [];
    if (height === undefined) continue;
    samples = samples.filter((sample) => atMs - sample.atMs <= 3600 * SECOND);
    const last = samples.at(-1);
    if (last === undefined || atMs - last.atMs >= 30 * SECOND) samples.push({ atMs, height });
  }
  return { rolledBack, samples };
}

function measured(documents: readonly TimedDocument[]): Rational | undefined {
  const { samples } = heightHistory(documents);
  const growing = samples.flatMap((sample, index) => {
    const next = samples[index + 1];
    return next !== undefined && isGreater(next.height, sample.height) ? [{ from: sample, to: next }] : [];
  });
  const ms = growing.reduce((total, { from, to }) => total + to.atMs - from.atMs, 0);
  const blocks = sum(growing.map(({ from, to }) => subtract(to.height, from.height)));
  if (ms < 600 * SECOND || compare(blocks, integer(100)) < 0) return undefined;
  const microseconds = divide(integer(ms * 1000), blocks);
  if (microseconds === undefined) return undefined;
  return divide(floor(add(microseconds, { numerator: 1n, denominator: 2n })), integer(1000));
}

function hubMs(state: unknown, { blockTime = 'auto', documents }: TimeOptions): Rational {
  if (blockTime !== 'auto') return integer(blockTime);
  return measured(documents) ?? number(field(state, 'params', 'average_block_time'));
}

function externalMs(state: unknown, { externalBlockTime = 'auto' }: TimeOptions): Rational {
  if (externalBlockTime !== 'auto') return integer(externalBlockTime);
  const id = field(state, 'params', 'bridge_chain_id');
  const chain = typeof id === 'number' ? id.toString() : string(id);
  if (chain === '1' || chain === '11155111') return integer(12_000);
  return number(field(state, 'params', 'average_external_block_time'));
}

/** When the last event became observed, if that was seen. */
function eventSeenAtMs(documents: readonly TimedDocument[]): number | undefined {
  const readings = documents.flatMap(({ state, atMs }) => {
    const nonce = orUndefined(() => number(field(state, 'last_observed_nonce')));
    return nonce === undefined ? [] : [{ nonce, atMs }];
  });
  const last = readings.at(-1);
  if (last === undefined) return undefined;
  const change = readings.findLastIndex(({ nonce }) => !equal(nonce, last.nonce));
  const [before, after] = [readings[change], readings[change + 1]];
  if (before === undefined || after === undefined || !isGreater(after.nonce, before.nonce)) return undefined;
  return after.atMs - before.atMs <= 300 * SECOND ? after.atMs : undefined;
}

/** The estimated external height of the last document. */
export function projectedHeight(
  state: unknown,
  height: Rational | undefined,
  options: TimeOptions,
): Rational | undefined {
  const base = number(field(state, 'last_observed_external_height'));
  const external = externalMs(state, options);
  number(field(state, 'last_observed_nonce'));
  for (const attestation of list(field(state, 'attestations'))) eventNonce(attestation);
  const seen = eventSeenAtMs(options.documents);
  const now = options.documents.at(-1);
  const elapsed = (): Rational | undefined => {
    if (seen !== undefined && now !== undefined) return integer(now.atMs - seen);
    const first = lowest(lastObserved(state).map((attestation) => number(field(attestation, 'height'))));
    if (first === undefined) return undefined;
    if (height === undefined) throw new Withdrawn('no hub height');
    return multiply(subtract(height, first), hubMs(state, options));
  };
  const ms = elapsed();
  const blocks = ms && divide(ms, external);
  return blocks && floor(add(base, blocks));
}

export function referenceTimes(state: unknown, options: TimeOptions, out: SeriesCollector): void {
  out.gauge('bridge_block_time_seconds', () => divide(hubMs(state, options), integer(SECOND)));
  out.gauge('bridge_external_block_time_seconds', () => divide(externalMs(state, options), integer(SECOND)));
}
