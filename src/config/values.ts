import { bech32 } from '@scure/base';
import * as z from 'zod';
import { createSecretKey, type KeyObject } from 'node:crypto';
import { formatDuration, formatSize, parseDuration, parseSize } from '../units.js';

/*
 * Values of the configuration file. All values except booleans are strings: numbers in YAML stay strings, so that they
 * keep every digit (see yaml.ts). A schema that converts its value is a codec, so that `z.encode` prints the value.
 * `regex` becomes a pattern of the JSON schema, which has no flags. No message quotes a value, because a secret may be
 * under the wrong key. The title is the type in docs/configuration.md.
 */

/** Skips later checks after a failure; with `abort`, zod would also skip the checks of the mappings around it. */
export const precondition =
  (isValid: (text: string) => boolean, message: string): z.core.CheckFn<string> =>
  ({ value: input, issues }) => {
    if (!isValid(input)) issues.push({ code: 'custom', message, input });
  };

/** Environment variables are not expanded. Without this check, the reference would be sent to nodes. */
export const stringSetting = z
  .string()
  .check(
    precondition(
      (text) => !/\$\{\w+\}/.test(text),
      'environment variables ${…} are not expanded; a secret can be read from a file, for example with password_file',
    ),
  );

/** A number in a range, written with a unit. */
function numberSetting(
  title: string,
  expected: string,
  [smallest, largest]: readonly [number, number],
  parse: (text: string) => number | undefined,
  print: (value: number) => string,
) {
  return z
    .codec(stringSetting, z.number(`expected ${expected}`), {
      decode: (text) => {
        const value = parse(text);
        return value !== undefined && value >= smallest && value <= largest ? value : Number.NaN;
      },
      encode: print,
    })
    .meta({ title });
}

const durationRange = (smallest: number, largest: number): string =>
  `a duration from ${formatDuration(smallest)} to ${formatDuration(largest)}, such as 30s, 1m30s or 500ms`;

/** A duration in milliseconds. */
export const durationSetting = (...range: readonly [smallest: number, largest: number]) =>
  numberSetting('duration', durationRange(...range), range, parseDuration, formatDuration);

/** A duration, or `auto` if the program determines it. */
export const durationOrAutoSetting = (...range: readonly [smallest: number, largest: number]) =>
  z.union([z.literal('auto'), durationSetting(...range)], { error: `expected auto or ${durationRange(...range)}` });

/** A size in bytes. */
export const sizeSetting = (smallest: number, largest: number) => {
  const expected = `a size from ${formatSize(smallest)} to ${formatSize(largest)}, such as 64MiB, 10MB or plain bytes`;
  return numberSetting('size', expected, [smallest, largest], parseSize, formatSize).meta({
    type: ['string', 'integer'],
  });
};

// No leading zeros: a node would parse them as an octal number.
const digits = /^(?:0|[1-9]\d*)$/;

export const integerSetting = (smallest: number, largest: number) => {
  const parse = (text: string) => (digits.test(text) ? Number(text) : undefined);
  const expected = `an integer from ${smallest} to ${largest}`;
  return numberSetting('integer', expected, [smallest, largest], parse, String).meta({ type: ['string', 'integer'] });
};

/** An integer that may be above 2^53: its decimal digits. */
export const bigIntegerSetting = (smallest: bigint, largest: bigint, largestName = String(largest)) =>
  stringSetting
    .refine(
      // BigInt parses in quadratic time, so the length is checked first.
      (text) => digits.test(text) && text.length <= 78 && BigInt(text) >= smallest && BigInt(text) <= largest,
      `expected an integer in decimal digits from ${smallest} to ${largestName}`,
    )
    .meta({ title: 'integer', type: ['string', 'integer'] });

/** An amount in the smallest units of a coin. */
export const amountSetting = bigIntegerSetting(0n, 2n ** 256n - 1n, '2^256 - 1');

/** Greater than 0 and at most 1; a decimal string, because ratios are compared with it exactly. */
export const fractionSetting = stringSetting
  .max(100)
  .regex(/^(?:0\.\d*[1-9]\d*|1(?:\.0+)?)$/, 'expected a decimal greater than 0 and at most 1, such as 0.66')
  .meta({ title: 'decimal', type: ['string', 'number'] });

export const chainIdSetting = stringSetting
  .regex(/^(?:0|[1-9]\d{0,19})$/, 'expected a chain id of at most 20 decimal digits, such as 7000')
  .meta({ title: 'chain id', type: ['string', 'integer'] });

/** Text for label values and pages. UTF-8 cannot encode lone surrogates. */
export const textSetting = (longest: number) =>
  stringSetting
    .refine(
      (value) => /^[^\p{Cc}\p{Cs}\u2028\u2029]+$/u.test(value) && Array.from(value).length <= longest,
      `expected a text of 1 to ${longest} characters, without control characters`,
    )
    .meta({ title: 'text' });

export const fileNameSetting = stringSetting
  .refine((name) => /^\P{Cc}{1,4096}$/u.test(name), 'expected a file name')
  .meta({ title: 'file' });

export const contractAddressSetting = stringSetting
  .regex(/^0x[0-9a-fA-F]{40}$/, 'expected 0x followed by 40 hexadecimal digits')
  .toLowerCase()
  .meta({ title: 'address' });

function isValidatorAddress(address: string): boolean {
  const lower = address.toLowerCase();
  return /^0x[0-9a-f]{40}$/.test(lower) || bech32.decodeUnsafe(lower) !== undefined;
}

/** An address of a validator: account, operator or external. */
export const validatorAddressSetting = stringSetting
  .refine(
    isValidatorAddress,
    'expected a bech32 address with a correct checksum, such as inj1…, or 0x followed by 40 hexadecimal digits',
  )
  .refine(
    (address) => !/(?:valcons|pub)1[^1]*$/i.test(address),
    'is a consensus address or a public key — expected the orchestrator, operator or external address of a validator',
  )
  .toLowerCase()
  .meta({ title: 'address' });

/*
 * Checks of mappings and lists. They run even if other values are invalid, so that all problems are reported at once.
 * Their input may therefore be of another type.
 */

type Mapping = Readonly<Record<string, unknown>>;

export const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const whenMapping = { when: ({ value }: { readonly value: unknown }) => isMapping(value) };
const whenList = { when: ({ value }: { readonly value: unknown }) => Array.isArray(value) };

export const notBoth = (first: string, second: string) =>
  z.refine<Mapping>((mapping) => mapping[first] === undefined || mapping[second] === undefined, {
    error: `cannot be combined with ${first}`,
    path: [second],
    ...whenMapping,
  });

export const atLeastOne = (...keys: readonly string[]) =>
  z.refine<Mapping>((mapping) => keys.some((key) => mapping[key] !== undefined), {
    error: `expected ${keys.join(' or ')}`,
    ...whenMapping,
  });

/** Rejects entries with the same value of a key. */
export const unique = (key: string) =>
  z.superRefine<readonly unknown[]>((entries, context) => {
    const seen = new Set<unknown>();
    for (const [index, entry] of entries.entries()) {
      const value = isMapping(entry) ? entry[key] : undefined;
      if (seen.has(value)) context.addIssue({ code: 'custom', path: [index, key], message: 'is not unique' });
      else if (typeof value === 'string') seen.add(value);
    }
  }, whenList);

/**
 * A string that must not be printed. JSON, template literals, logs and `inspect` do not show the content of a
 * `KeyObject`; only `reveal` does. Secrets of equal content are equal for `isDeepStrictEqual`, with which a reload
 * compares configurations.
 */
export type Secret = KeyObject;

export const createSecret = (text: string): Secret => createSecretKey(text, 'utf8');

export const reveal = (secret: Secret): string => secret.export().toString('utf8');

/** Replaces secrets in output, as in Prometheus. */
export const REDACTED = '<secret>';

/** Servers reject longer headers. */
const MAX_LENGTH = 8192;

/* Checks of credentials, in a file or not. They return a problem that does not quote the value. */

export function checkSecret(text: string): string | undefined {
  if (text === '') return 'is empty';
  return text.length > MAX_LENGTH ? `is longer than ${MAX_LENGTH} characters` : undefined;
}

/** A line break would start another header. */
export function checkHeaderValue(text: string): string | undefined {
  if (/[^\t\x20-\x7e]/.test(text)) return 'has characters that are not visible ASCII characters, spaces or tabs';
  return checkSecret(text);
}

/** RFC 7617: the first colon ends the user name, and control characters are not allowed. */
export function checkUsername(text: string): string | undefined {
  return /[:\p{Control}]/u.test(text) ? 'has a colon or a control character' : checkSecret(text);
}
