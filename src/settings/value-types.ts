import type { Result } from '../result.js';
import { closestMatch } from './closest-match.js';
import { formatDuration, formatSize, parseDuration, parseSize } from './units.js';

/*
 * Types of values that settings and flags can have. Every type but boolean parses strings: flags and environment
 * variables are strings, and numbers in YAML stay strings (see yaml.ts). This file does not import zod, because flags are
 * parsed without it.
 */

export interface ValueType<T> {
  /** Shown in the help and in the configuration reference. */
  readonly name: string;
  /** `problem` is a complete message, with what is expected. */
  readonly parse: (raw: unknown) => ValueResult<T>;
  /** The value in the format of a file; by default, the value itself. */
  readonly format?: (value: T) => unknown;
}

export type ValueResult<T> = Result<{ readonly value: T }, { readonly problem: string }>;

/** Like `ValueResult`, but `problem` lacks the suffix "— expected …". Without `problem`, the message describes the value. */
export type ParseResult<T> = Result<{ readonly value: T }, Rejection>;

interface Rejection {
  readonly problem?: string;
  /** What was most likely meant, shown instead of "expected …". */
  readonly suggestion?: string;
}

type Parse<T> = (text: string) => ParseResult<T>;

/** A type of strings. `expected` completes "expected …" in messages. */
export function valueType<T>(name: string, expected: string, parse: Parse<T>, describe = describeValue): ValueType<T> {
  return typeOfAnyValue(name, expected, (raw) => (typeof raw === 'string' ? parse(raw) : reject()), describe);
}

/** A type whose values may be secrets: no message quotes them. */
export const secretValueType = <T>(name: string, expected: string, parse: Parse<T>) =>
  valueType(name, expected, parse, (raw) =>
    typeof raw === 'string' && raw !== '' ? 'is malformed' : describeType(raw),
  );

function typeOfAnyValue<T>(
  name: string,
  expected: string,
  parse: (raw: unknown) => ParseResult<T>,
  describe: (raw: unknown) => string,
): ValueType<T> {
  return {
    name,
    parse: (raw) => {
      const result = parse(raw);
      if (result.ok) return result;
      const advice = result.suggestion === undefined ? `expected ${expected}` : `did you mean ${result.suggestion}?`;
      return { ok: false, problem: `${result.problem ?? describe(raw)} — ${advice}` };
    },
  };
}

export const accept = <T>(value: T) => ({ ok: true, value }) as const;
export const reject = (problem?: string, suggestion?: string): Result<never, Rejection> => ({
  ok: false,
  ...(problem !== undefined && { problem }),
  ...(suggestion !== undefined && { suggestion }),
});
/** Rejects with a suggestion, if there is one. */
const suggest = (suggestion: string | undefined): Result<never, Rejection> => reject(undefined, suggestion);
/** Accepts a text that `parse` does not reject with `undefined`. Otherwise suggests a similar text, if that is valid. */
function acceptOrSuggest<T>(
  text: string,
  parse: (text: string) => T | undefined,
  similar: (text: string) => string | undefined,
): ParseResult<T> {
  const value = parse(text);
  if (value !== undefined) return accept(value);
  const meant = similar(text);
  return suggest(meant !== undefined && parse(meant) !== undefined ? meant : undefined);
}
export const acceptIf = <T>(isValid: boolean, value: T): ParseResult<T> => (isValid ? accept(value) : reject());

const within = (value: number | undefined, smallest: number, largest: number): number | undefined =>
  value !== undefined && value >= smallest && value <= largest ? value : undefined;

export const isMapping = (raw: unknown): raw is Readonly<Record<string, unknown>> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw);

/** Describes an invalid value in a message, by the value itself or by its type. */
export function describeValue(raw: unknown): string {
  if (typeof raw === 'string' && raw !== '') return JSON.stringify(raw.length > 60 ? `${raw.slice(0, 60)}…` : raw);
  return typeof raw === 'boolean' ? `is the boolean ${raw}` : describeType(raw);
}

/** Describes an invalid value that may be a secret, by its type only. */
export function describeType(raw: unknown): string {
  if (raw === undefined) return 'is missing';
  if (raw === null || raw === '') return 'is empty';
  if (typeof raw === 'string') return 'is a string';
  if (typeof raw === 'boolean') return 'is a boolean';
  return Array.isArray(raw) ? 'is a list' : 'is a mapping';
}

export const boolean = typeOfAnyValue(
  'boolean',
  'true or false',
  (raw) => (typeof raw === 'boolean' ? accept(raw) : suggest(typeof raw === 'string' ? booleanLike(raw) : undefined)),
  describeValue,
);

/** A boolean of the command line, where every value is a string. */
export const booleanFlag = valueType('boolean', 'true or false', (text) =>
  text === 'true' || text === 'false' ? accept(text === 'true') : suggest(booleanLike(text)),
);

/** Booleans of YAML 1.1 and of shells, and quoted ones. */
function booleanLike(text: string): string | undefined {
  if (/^(?:true|yes|on|y|1)$/i.test(text)) return 'true';
  return /^(?:false|no|off|n|0)$/i.test(text) ? 'false' : undefined;
}

export const fileName = valueType('file', 'a file name', (text) => acceptIf(text !== '', text));

/** In milliseconds. */
export function duration(smallest: number, largest: number): ValueType<number> {
  const expected = `a duration from ${formatDuration(smallest)} to ${formatDuration(largest)}, such as 30s, 1m30s or 500ms`;
  const parse = (text: string) => within(parseDuration(text), smallest, largest);
  const type = valueType('duration', expected, (text) => acceptOrSuggest(text, parse, durationLike));
  return { ...type, format: formatDuration };
}

/** A duration, or 0 to turn something off. */
export function optionalDuration(smallest: number, largest: number): ValueType<number> {
  const type = duration(smallest, largest);
  const isOff = (raw: unknown): boolean => typeof raw === 'string' && parseDuration(raw) === 0;
  return { ...type, parse: (raw) => (isOff(raw) ? accept(0) : orExpected('0s', type.parse(raw))) };
}

/** A duration, or `auto` for one that the program determines. */
export function durationOrAuto(smallest: number, largest: number): ValueType<number | 'auto'> {
  const { parse } = duration(smallest, largest);
  return {
    name: 'auto | duration',
    parse: (raw) => (raw === 'auto' ? accept(raw) : orExpected('auto', parse(raw))),
    format: (value) => (value === 'auto' ? value : formatDuration(value)),
  };
}

/** Names another value that is valid, too. */
function orExpected<T>(value: string, result: ValueResult<T>): ValueResult<T> {
  return result.ok ? result : { ok: false, problem: result.problem.replace('— expected ', `— expected ${value} or `) };
}

const millisecondsByUnit: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5 };

/** The correct spelling of a duration without a unit, with a fraction, or with the name of a unit: 30, 1.5s, 5 min. */
function durationLike(text: string): string | undefined {
  const [, count, unit = 's'] =
    /^(\d+(?:\.\d+)?) *(ms|s(?=$|ec)|m(?=$|in)|h(?=$|r|our)|d(?=$|ay))?(?:ecs?|econds?|ins?|inutes?|rs?|ours?|ays?)?$/i.exec(
      text,
    ) ?? [];
  const milliseconds = Number(count) * (millisecondsByUnit[unit.toLowerCase()] ?? NaN);
  return Number.isSafeInteger(milliseconds) ? formatDuration(milliseconds) : undefined;
}

/** In bytes. */
export function size(smallest: number, largest: number): ValueType<number> {
  const expected = `a size from ${formatSize(smallest)} to ${formatSize(largest)}, such as 64MiB, 10MB or plain bytes`;
  const parse = (text: string) => within(parseSize(text), smallest, largest);
  const type = valueType('size', expected, (text) => acceptOrSuggest(text, parse, sizeLike));
  return { ...type, format: formatSize };
}

/** The correct spelling of a size with another unit: 64 mb, 64M. */
function sizeLike(text: string): string | undefined {
  const [, count, prefix = ''] = /^(\d+) *([kmg])(?:i?b?|bytes)$/i.exec(text) ?? [];
  return count === undefined ? undefined : `${count}${prefix.toUpperCase()}iB`;
}

// No leading zeros: a node would parse them as an octal number.
const digits = /^(?:0|[1-9]\d*)$/;

export function integer(smallest: number, largest: number) {
  const parse = (text: string) => within(digits.test(text) ? Number(text) : undefined, smallest, largest);
  return valueType('integer', `an integer from ${smallest} to ${largest}`, (text) =>
    acceptOrSuggest(text, parse, digitsLike),
  );
}

/** A positive integer, kept as a string of digits because it may be above 2^53. */
export const positiveDigits = (largest: bigint, largestName: string) =>
  digitsFrom(1n, largest, `a positive integer in decimal digits, at most ${largestName}`);

/** An amount of at most 256 bits, kept as a string of digits. */
export const amount = digitsFrom(0n, 2n ** 256n - 1n, 'an amount in smallest units, at most 2^256 - 1');

function digitsFrom(smallest: bigint, largest: bigint, expected: string): ValueType<string> {
  // BigInt parses in quadratic time, so the length is checked first.
  const isValid = (text: string): boolean =>
    digits.test(text) && text.length <= 100 && BigInt(text) >= smallest && BigInt(text) <= largest;
  const parse = (text: string) => (isValid(text) ? text : undefined);
  return valueType('integer', expected, (text) => acceptOrSuggest(text, parse, digitsLike));
}

/** The digits of an integer in another notation: 1_000, 1,000, 1e18. */
function digitsLike(text: string): string | undefined {
  if (/^[1-9]\d{0,2}(?:[_,]\d{3})+$/.test(text)) return text.replaceAll(/[_,]/g, '');
  const [, mantissa, exponent] = /^([1-9]\d*)e\+?(\d{1,2})$/i.exec(text) ?? [];
  return mantissa === undefined ? undefined : mantissa + '0'.repeat(Number(exponent));
}

export const maxChainIdDigits = 20;

export const chainId = valueType(
  'chain id',
  `a chain id: at most ${maxChainIdDigits} decimal digits, such as 7000`,
  (text) => acceptIf(isChainId(text), text),
);

export const isChainId = (text: string): boolean => digits.test(text) && text.length <= maxChainIdDigits;

export function oneOf<const T extends string>(...choices: readonly T[]) {
  return valueType(choices.join(' | '), `one of ${choices.join(', ')}`, (text) => {
    const choice = choices.find((candidate) => candidate === text);
    return choice === undefined ? suggest(similarChoice(text, choices)) : accept(choice);
  });
}

/** The only choice that is similar to a text, contains it or is contained in it: `TLSv1.2` for `TLS12`. */
function similarChoice(text: string, choices: readonly string[]): string | undefined {
  const letters = text.replaceAll(/[^a-z\d]/gi, '').toLowerCase();
  const similar = choices.filter((choice) => {
    const name = choice.toLowerCase();
    return letters.length > 1 && (name.includes(letters) || letters.includes(name) || closestMatch(letters, [name]));
  });
  const same = similar.find((choice) => choice.toLowerCase() === letters);
  return same ?? (similar.length === 1 ? similar[0] : undefined);
}

/** Text for label values and pages. `noun` completes "expected a … of 1 to 128 characters". */
export function label(longest: number, noun = 'text', example = '') {
  const expected = `${noun} of 1 to ${longest} characters${example === '' ? '' : `, such as ${example}`}`;
  return typeOfAnyValue('text', expected, (raw) => parseLabel(raw, longest), describeValue);
}

function parseLabel(raw: unknown, longest: number): ParseResult<string> {
  if (typeof raw === 'boolean') return reject(`is the boolean ${raw}`, JSON.stringify(String(raw)));
  if (typeof raw !== 'string' || raw === '') return reject();
  // UTF-8 cannot encode lone surrogates.
  if (!raw.isWellFormed()) return reject(`${describeValue(raw)} has a lone surrogate`);
  if (/[\p{Control}\u2028\u2029]/u.test(raw)) return reject(`${describeValue(raw)} has a control character`);
  const { length } = Array.from(raw);
  return length <= longest ? accept(raw) : reject(`${describeValue(raw)} has ${length} characters`);
}

export const address = valueType('address', '0x followed by 40 hexadecimal digits', (text) =>
  acceptIf(/^0x[0-9a-f]{40}$/i.test(text), text.toLowerCase()),
);

const fractionPattern = /^(?:0\.\d*[1-9]\d*|1(?:\.0+)?)$/;

/** Kept as a decimal string, because ratios are compared with it exactly. */
export const fraction = valueType('decimal', 'a decimal greater than 0 and at most 1, such as 0.66', (text) =>
  acceptOrSuggest(text, parseFraction, fractionLike),
);

function parseFraction(text: string): string | undefined {
  return text.length <= 100 && fractionPattern.test(text) ? text : undefined;
}

/** The fraction of a percentage, or of a decimal without its zero: 66.67 %, .6667. */
function fractionLike(text: string): string | undefined {
  if (/^\.\d{1,20}$/.test(text)) return `0${text}`;
  const [, tens, decimals = ''] = /^(\d{2})(?:\.(\d{1,20}))? *%?$/.exec(text) ?? [];
  return tens === undefined ? undefined : `0.${tens}${decimals}`;
}

/** The URL of an item on another site. The host is fixed: an id from a chain must not choose it. */
export function urlTemplate(placeholder: string) {
  const expected = `an http or https URL with ${placeholder} in its path, query or fragment, such as https://explorer.example.org/${placeholder}`;
  return valueType('URL template', expected, (text): ParseResult<string> => {
    const result = parseHttpUrl(text);
    if (!result.ok) return result;
    const { username, password } = result.value;
    // The URL parser encodes braces in a path, so the text is inspected.
    const [, authority = '', rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(text) ?? [];
    if (username !== '' || password !== '') return reject('has a user name or password');
    if (/[{}]/.test(authority)) return reject(`${describeValue(text)} has a placeholder in its host`);
    const other = rest.replaceAll(placeholder, '').match(/\{[^}]*\}?/)?.[0];
    if (other !== undefined) return reject(`${describeValue(text)} has an unknown placeholder`);
    return rest.includes(placeholder) ? accept(text) : reject(`${describeValue(text)} lacks ${placeholder}`);
  });
}

export function parseHttpUrl(text: string): ParseResult<URL> {
  if (text === '') return reject();
  if (!/^https?:\/\//i.test(text)) return reject('is not an http or https URL');
  if (/[\s\\\p{Control}]/u.test(text) || !URL.canParse(text)) return reject('is not a valid URL');
  return accept(new URL(text));
}
