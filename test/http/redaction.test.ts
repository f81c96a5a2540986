import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/http/redaction.js';
import { endpointUrl } from '../support/config.js';
import { fuzzRuns } from '../support/fuzz.js';
import { createCanary, tracesOf } from '../e2e/canaries.js';

const withSecrets = (...secrets: readonly string[]) =>
  createRedactor(secrets, endpointUrl('https://node.example'), PATH);

describe('the redactor of secrets', () => {
  it('leaves text without secrets unchanged', () => {
    expect(withSecrets()('window must be positive')).toBe('window must be positive');
    expect(withSecrets('')('window must be positive')).toBe('window must be positive');
    expect(withSecrets('hunter2')('window must be positive')).toBe('window must be positive');
  });

  it('redacts secrets that are prefixes of each other or contain syntax of regular expressions and replacements', () => {
    expect(withSecrets('abc', 'abcdef')('abcdef abc ABCDE')).toBe('<secret> <secret> ABCDE');
    expect(withSecrets('a.c', '$&', '\\d')(String.raw`abc a.c $& \d 1`)).toBe('abc <secret> <secret> <secret> 1');
  });

  it('redacts a secret of the maximum length', () => {
    const long = Array.from({ length: 8192 }, (_, index) => String.fromCodePoint(0x100 + index)).join('');
    expect(withSecrets(long)(`you are ${long}!`)).toBe('you are <secret>!');
  });

  it('never lets a secret through, whatever the secret and its context', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), fc.string(), fc.string(), (secret, before, after) => {
        const rest = withSecrets(secret)(`${before}${secret}${after}`).replaceAll('<secret>', '');
        return secret.length < 2 || !rest.includes(secret) || `${before}${after}`.includes(secret);
      }),
      { numRuns: fuzzRuns(50) },
    );
  });
});

const PATH = '/peggy/v1/module_state';

/** What servers quote of a request. */
const quotes: readonly (readonly [string, (path: string, key: string) => string])[] = [
  ['the path', (path) => path],
  ['the path without its first slash', (path) => path.slice(1)],
  ['the decoded path', (path) => decodeURIComponent(path)],
  ['the key', (_path, key) => key],
  ['the key in a path of its own', (_path, key) => `/keys/${encodeURIComponent(key)}/usage`],
];

describe('the redactor of a path', () => {
  it.each(quotes)('leaves no trace of a key when a node quotes %s', (_title, quoteOf) => {
    // Most keys have only characters that no encoder changes.
    for (const [prefix, key] of [
      ['/lcd/v1/', createCanary()],
      ['/lcd/v1/', randomBytes(12).toString('hex')],
      ['/lc/v1/', randomBytes(12).toString('hex')],
    ] as const) {
      const path = prefix + encodeURIComponent(key);
      const redact = createRedactor([], endpointUrl(`https://node.example${path}`), PATH);
      const message = redact(`Cannot GET ${quoteOf(path + PATH, key)}`);
      for (const trace of ['/lc', ...tracesOf(key)]) expect(message).not.toContain(trace);
    }
  });

  it.each([
    ['/lcd/v1/KEY', 'KEY is invalid, as a key of /lcd/v1/KEY/x', '… is invalid, as a key of /…/x'],
    ['/lcd/v1/abcd', 'abcdefgh is not abcd', 'abcdefgh is not …'],
    ['/lcd/v1/abcdefgh', 'x-abcdefghi', 'x-…i'],
    ['/lcd/v1', 'no lcd at /lcd/v1/peggy/v1/module_state', 'no lcd at /…/peggy/v1/module_state'],
    ['/peggy/0123456789', `GET /peggy/0123456789${PATH}`, `GET /…${PATH}`],
    ['', `GET ${PATH}`, `GET ${PATH}`],
  ])('of %s replaces the path and its distinctive parts', (path, text, expected) => {
    expect(createRedactor([], endpointUrl(`https://node.example${path}`), PATH)(text)).toBe(expected);
  });
});
