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
}

export type ValueResult<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** Like `ValueResult`, but `problem` lacks the suffix "— expected …". Without `problem`, the message describes the value. */
export type ParseResult<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem?: string };

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
      return result.ok ? result : { ok: false, problem: `${result.problem ?? describe(raw)} — expected ${expected}` };
    },
  };
}

export const accept = <T>(value: T) => ({ ok: true, value }) as const;
export const reject = (problem?: string): ParseResult<never> =>
  problem === undefined ? { ok: false } : { ok: false, problem };
export const acceptIf = <T>(isValid: boolean, value: T): ParseResult<T> => (isValid ? accept(value) : reject());

const within = (value: number | undefined, smallest: number, largest: number): ParseResult<number> =>
  value !== undefined && value >= smallest && value <= largest ? accept(value) : reject();

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
  (raw) => (typeof raw === 'boolean' ? accept(raw) : reject()),
  describeValue,
);

/** A boolean of the command line, where every value is a string. */
export const booleanFlag = valueType('boolean', 'true or false', (text) =>
  acceptIf(text === 'true' || text === 'false', text === 'true'),
);

export const fileName = valueType('file', 'a file name', (text) => acceptIf(text !== '', text));

export function duration(smallest: number, largest: number) {
  const expected = `a duration from ${formatDuration(smallest)} to ${formatDuration(largest)}, such as 30s, 1m30s or 500ms`;
  return valueType('duration', expected, (text) => within(parseDuration(text), smallest, largest));
}

export function size(smallest: number, largest: number) {
  const expected = `a size from ${formatSize(smallest)} to ${formatSize(largest)}, such as 64MiB, 10MB or plain bytes`;
  return valueType('size', expected, (text) => within(parseSize(text), smallest, largest));
}

// No leading zeros: a node would parse them as an octal number.
const digits = /^(?:0|[1-9]\d*)$/;

export function integer(smallest: number, largest: number) {
  return valueType('integer', `an integer from ${smallest} to ${largest}`, (text) =>
    within(digits.test(text) ? Number(text) : undefined, smallest, largest),
  );
}

/** A positive integer, kept as a string of digits because it may be above 2^53. */
export function positiveDigits(largest: bigint, largestName: string) {
  const expected = `a positive integer in decimal digits, at most ${largestName}`;
  return valueType('integer', expected, (text) =>
    // BigInt parses in quadratic time, so the length is checked first.
    acceptIf(digits.test(text) && text.length <= 100 && BigInt(text) >= 1n && BigInt(text) <= largest, text),
  );
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
    return choice === undefined ? reject() : accept(choice);
  });
}

const unprintable = /[\p{Control}\p{Surrogate}\u2028\u2029]/u;

/** Text for label values and pages. UTF-8 cannot encode lone surrogates. */
export function label(longest: number) {
  const expected = `1 to ${longest} characters without control characters and lone surrogates`;
  const hasValidLength = new RegExp(`^.{1,${longest}}$`, 'su');
  return valueType('text', expected, (text) => acceptIf(hasValidLength.test(text) && !unprintable.test(text), text));
}

export const address = valueType('address', '0x followed by 40 hexadecimal digits', (text) =>
  acceptIf(/^0x[0-9a-f]{40}$/i.test(text), text.toLowerCase()),
);

// Prefix, separator 1, data and a checksum of six characters; the alphabet has no 1, b, i and o (BIP 173).
const bech32 = /^[!-~]{1,83}1[02-9ac-hj-np-z]{7,}$/;

export const anyAddress = valueType(
  'address',
  'a bech32 address, such as inj1…, or 0x followed by 40 hexadecimal digits',
  (text) => {
    const lower = text.toLowerCase();
    return acceptIf(/^0x[0-9a-f]{40}$/.test(lower) || (lower.length <= 90 && bech32.test(lower)), lower);
  },
);

/** Kept as a decimal string, because ratios are compared with it exactly. */
export const fraction = valueType('decimal', 'a decimal greater than 0 and at most 1, such as 0.6667', (text) =>
  acceptIf(text.length <= 100 && /^(?:0\.\d*[1-9]\d*|1(?:\.0+)?)$/.test(text), text),
);

export const baseUrl = valueType(
  'URL',
  'an http or https URL without user, query and fragment, such as https://node.example.org',
  parseBaseUrl,
);

/** No message quotes user, password or query, because messages are logged. */
function parseBaseUrl(text: string): ParseResult<string> {
  const result = parseHttpUrl(text);
  if (!result.ok) return result;
  const { origin, pathname, username, password } = result.value;
  const base = origin + pathname.replace(/\/+$/, '');
  if (username !== '' || password !== '') return reject(`${base} has a user name or password`);
  if (text.includes('?')) return reject(`${base} has a query`);
  if (text.includes('#')) return reject(`${base} has a fragment`);
  return accept(base);
}

export function parseHttpUrl(text: string): ParseResult<URL> {
  if (text === '') return reject();
  if (!/^https?:\/\//i.test(text)) return reject('is not an http or https URL');
  if (/[\s\\\p{Control}]/u.test(text) || !URL.canParse(text)) return reject('is not a valid URL');
  return accept(new URL(text));
}
