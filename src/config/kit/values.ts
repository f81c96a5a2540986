import { z } from 'zod';
import { formatDuration, formatSize, parseDuration, parseSize } from './units.js';

/*
 * The kinds of values a setting can have. Numbers arrive as text (see yaml-source.ts), as do environment variables, so
 * every kind reads text. A kind states what it expects once; the message of a bad value and the reference both say it.
 */

/** `problem` says what is the matter with the text; without it the text itself is shown. */
export type ParseResult<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem?: string };

export interface Kind {
  readonly type: string;
  readonly expected: string;
}

export function kind<T>(about: Kind, read: (text: string) => ParseResult<T>, subject = describeValue) {
  return kindOfAny(about, (raw) => (typeof raw === 'string' ? read(raw) : reject()), subject);
}

/** A kind whose texts may be secrets: what is wrong with one is said without showing it. */
export const secretKind = <T>(about: Kind, read: (text: string) => ParseResult<T>) => kind(about, read, describeType);

function kindOfAny<T>({ type, expected }: Kind, read: (raw: unknown) => ParseResult<T>, subject: typeof describeValue) {
  return z
    .unknown()
    .transform((raw, context): T => {
      const reading = read(raw);
      if (reading.ok) return reading.value;
      context.addIssue(`${reading.problem ?? subject(raw)} — expected ${expected}`);
      return z.NEVER;
    })
    .meta({ type });
}

export const accept = <T>(value: T): ParseResult<T> => ({ ok: true, value });
export const reject = (problem?: string): ParseResult<never> =>
  problem === undefined ? { ok: false } : { ok: false, problem };
export const acceptIf = <T>(good: boolean, value: T): ParseResult<T> => (good ? accept(value) : reject());
const within = (value: number | undefined, smallest: number, largest: number): ParseResult<number> =>
  value !== undefined && value >= smallest && value <= largest ? accept(value) : reject();

/** The subject of a problem: a value as the reader of the message knows it from the file. */
export function describeValue(raw: unknown): string {
  if (raw === undefined) return 'is missing';
  if (raw === null || raw === '') return 'is empty';
  if (typeof raw === 'string') return JSON.stringify(raw.length > 60 ? `${raw.slice(0, 60)}…` : raw);
  if (typeof raw === 'boolean') return `is the truth value ${raw}`;
  return Array.isArray(raw) ? 'is a list' : 'is a mapping';
}

/** The same for what may be a secret, though it stands in the wrong place. */
export function describeType(raw: unknown): string {
  if (typeof raw === 'string' && raw !== '') return 'is text of another form';
  return typeof raw === 'boolean' ? 'is a truth value' : describeValue(raw);
}

export const truthValue = () =>
  kindOfAny(
    { type: 'boolean', expected: 'true or false' },
    (raw) => (typeof raw === 'boolean' ? accept(raw) : reject()),
    describeValue,
  );

export function duration(smallest: number, largest: number) {
  const expected = `a duration from ${formatDuration(smallest)} to ${formatDuration(largest)}, such as 30s, 1m30s or 500ms`;
  return kind({ type: 'duration', expected }, (text) => within(parseDuration(text), smallest, largest));
}

export function size(smallest: number, largest: number) {
  const expected = `a size from ${formatSize(smallest)} to ${formatSize(largest)}, such as 64MiB, 10MB or plain bytes`;
  return kind({ type: 'size', expected }, (text) => within(parseSize(text), smallest, largest));
}

// A leading zero would make the node read the number as octal (it parses with base 0).
const digits = /^(?:0|[1-9]\d*)$/;

export function integer(smallest: number, largest: number) {
  return kind({ type: 'integer', expected: `an integer from ${smallest} to ${largest}` }, (text) =>
    within(digits.test(text) ? Number(text) : undefined, smallest, largest),
  );
}

/** A positive integer kept as its digits, since it may be above 2^53. */
export function positiveDigits(largest: bigint, largestName: string) {
  return kind({ type: 'integer', expected: `a positive integer in decimal digits, at most ${largestName}` }, (text) =>
    // BigInt reads arbitrarily long text in quadratic time, hence the length first.
    acceptIf(digits.test(text) && text.length <= 100 && BigInt(text) >= 1n && BigInt(text) <= largest, text),
  );
}

export const maxChainIdDigits = 20;

export const chainId = () =>
  kind({ type: 'chain id', expected: `a chain id: at most ${maxChainIdDigits} decimal digits, such as 7000` }, (text) =>
    acceptIf(isChainId(text), text),
  );

export const isChainId = (text: string): boolean => digits.test(text) && text.length <= maxChainIdDigits;

export function oneOf<const T extends string>(...choices: readonly T[]) {
  return kind({ type: choices.join(' | '), expected: `one of ${choices.join(', ')}` }, (text) => {
    const choice = choices.find((candidate) => candidate === text);
    return choice === undefined ? reject() : accept(choice);
  });
}

const unprintable = /[\p{Control}\p{Surrogate}\u2028\u2029]/u;

/** Text for people and labels; half a surrogate pair could not be written as UTF-8. */
export function label(longest: number) {
  const expected = `text of 1 to ${longest} characters, none of them a control character or half a surrogate pair`;
  const rightLength = new RegExp(`^.{1,${longest}}$`, 'su');
  return kind({ type: 'text', expected }, (text) => acceptIf(rightLength.test(text) && !unprintable.test(text), text));
}

export const address = () =>
  kind({ type: 'address', expected: '0x and 40 hexadecimal digits' }, (text) =>
    acceptIf(/^0x[0-9a-f]{40}$/i.test(text), text.toLowerCase()),
  );

// Prefix, the last 1, then data and six characters of checksum; the alphabet leaves out 1, b, i and o.
const bech32 = /^[!-~]{1,83}1[02-9ac-hj-np-z]{7,}$/;

export const bech32Address = () =>
  kind({ type: 'address', expected: 'a bech32 address, such as inj1…' }, (text) => {
    const lower = text.toLowerCase();
    return acceptIf(lower.length <= 90 && bech32.test(lower), lower);
  });

/** Kept as its decimal text, because ratios are compared with it exactly. */
export const fraction = () =>
  kind({ type: 'decimal', expected: 'a decimal above 0 and at most 1, such as 0.6667' }, (text) =>
    acceptIf(text.length <= 100 && /^(?:0\.\d*[1-9]\d*|1(?:\.0+)?)$/.test(text), text),
  );

export const baseUrl = () =>
  kind(
    {
      type: 'URL',
      expected: 'an http or https address without user, query and fragment, such as https://node.example.org',
    },
    readBaseUrl,
  );

/** Never shows user, password or query: the messages end in logs. */
function readBaseUrl(text: string): ParseResult<string> {
  if (text === '') return reject();
  if (!/^https?:\/\//i.test(text)) return reject('is not an http or https address');
  if (/[\s\\\p{Control}]/u.test(text) || !URL.canParse(text)) return reject('is not a well-formed address');
  const url = new URL(text);
  const base = url.origin + url.pathname.replace(/\/+$/, '');
  if (url.username !== '' || url.password !== '') return reject(`${base} is given with a user name or password`);
  if (text.includes('?')) return reject(`${base} is given with a query`);
  if (text.includes('#')) return reject(`${base} is given with a fragment`);
  return accept(base);
}
