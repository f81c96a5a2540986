import type { Result } from '../result.js';
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
export type ParseResult<T> = Result<{ readonly value: T }, { readonly problem?: string }>;

type Parse<T> = (text: string) => ParseResult<T>;

/** A type of strings. `expected` completes "expected …" in messages. */
export function valueType<T>(
  name: string,
  expected: string,
  parse: Parse<T>,
  describe?: (raw: unknown) => string,
): ValueType<T> {
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
  describe: (raw: unknown) => string = describeValue,
): ValueType<T> {
  return {
    name,
    parse: (raw) => {
      const result = parse(raw);
      return result.ok ? result : { ok: false, problem: `${result.problem ?? describe(raw)} — expected ${expected}` };
    },
  };
}

export const accept = <T>(value: T) => ({ ok: true, value }) as const;
export const reject = (problem?: string): Result<never, { readonly problem?: string }> => ({
  ok: false,
  ...(problem !== undefined && { problem }),
});
/** Accepts the result of a parser that returns `undefined` for an invalid text. */
const acceptParsed = <T>(value: T | undefined): ParseResult<T> => (value === undefined ? reject() : accept(value));
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

export const boolean = typeOfAnyValue('boolean', 'true or false', (raw) =>
  typeof raw === 'boolean' ? accept(raw) : reject(),
);

/** A boolean of the command line, where every value is a string. */
export const booleanFlag = valueType('boolean', 'true or false', (text) =>
  acceptIf(text === 'true' || text === 'false', text === 'true'),
);

export const fileName = valueType('file', 'a file name', (text) => acceptIf(text !== '', text));

/** In milliseconds. */
export function duration(smallest: number, largest: number): ValueType<number> {
  const expected = `a duration from ${formatDuration(smallest)} to ${formatDuration(largest)}, such as 30s, 1m30s or 500ms`;
  const type = valueType('duration', expected, (text) => acceptParsed(within(parseDuration(text), smallest, largest)));
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

/** In bytes. */
export function size(smallest: number, largest: number): ValueType<number> {
  const expected = `a size from ${formatSize(smallest)} to ${formatSize(largest)}, such as 64MiB, 10MB or plain bytes`;
  const type = valueType('size', expected, (text) => acceptParsed(within(parseSize(text), smallest, largest)));
  return { ...type, format: formatSize };
}

// No leading zeros: a node would parse them as an octal number.
const digits = /^(?:0|[1-9]\d*)$/;

export function integer(smallest: number, largest: number) {
  return valueType('integer', `an integer from ${smallest} to ${largest}`, (text) =>
    acceptParsed(within(digits.test(text) ? Number(text) : undefined, smallest, largest)),
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
  return valueType('integer', expected, (text) => acceptIf(isValid(text), text));
}

export const maxChainIdDigits = 20;

export const chainId = valueType(
  'chain id',
  `a chain id: at most ${maxChainIdDigits} decimal digits, such as 7000`,
  (text) => acceptIf(isChainId(text), text),
);

export const isChainId = (text: string): boolean => digits.test(text) && text.length <= maxChainIdDigits;

export function oneOf<const T extends string>(...choices: readonly T[]) {
  return valueType(choices.join(' | '), `one of ${choices.join(', ')}`, (text) =>
    acceptParsed(choices.find((choice) => choice === text)),
  );
}

/** Text for label values and pages. `noun` completes "expected a … of 1 to 128 characters". */
export function label(longest: number, noun = 'text', example = '') {
  const expected = `${noun} of 1 to ${longest} characters${example === '' ? '' : `, such as ${example}`}`;
  return typeOfAnyValue('text', expected, (raw) => parseLabel(raw, longest));
}

function parseLabel(raw: unknown, longest: number): ParseResult<string> {
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
  acceptIf(text.length <= 100 && fractionPattern.test(text), text),
);

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
  if (/^https?:\/\/\[[^\]]*%/i.test(text)) return reject('has a zone in its IPv6 address, which no URL can have');
  if (/[\s\\\p{Control}]/u.test(text) || !URL.canParse(text)) return reject('is not a valid URL');
  return accept(new URL(text));
}
