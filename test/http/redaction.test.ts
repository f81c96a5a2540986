import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPathRedactor, createRedactor } from '../../src/http/redaction.js';
import { endpointUrl } from '../support/config.js';
import { fuzzRuns } from '../support/fuzz.js';
import { createCanary, tracesOf } from '../e2e/canaries.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('the redactor', () => {
  it('leaves text without secrets unchanged', () => {
    expect(createRedactor([])('window must be positive')).toBe('window must be positive');
    expect(createRedactor([''])('window must be positive')).toBe('window must be positive');
    expect(createRedactor(['hunter2'])('window must be positive')).toBe('window must be positive');
  });

  it('redacts secrets that are prefixes of each other or contain regular expression syntax', () => {
    expect(createRedactor(['abc', 'abcdef'])('abcdef abc ABCDE')).toBe('<secret> <secret> <secret>DE');
    expect(createRedactor(['a.c', '$&', '\\d'])(String.raw`abc a.c $& \d 1`)).toBe('abc <secret> <secret> <secret> 1');
  });

  const encodings: readonly ((text: string) => string)[] = [
    (text) => text,
    (text) => text.toUpperCase(),
    base64,
    (text) => Buffer.from(text).toString('base64url'),
    (text) => Buffer.from(text).toString('hex'),
    encodeURIComponent,
    (text) => encodeURIComponent(text).toLowerCase(),
    (text) => new URLSearchParams({ text }).toString().slice('text='.length),
    (text) => JSON.stringify(text).slice(1, -1),
    (text) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&'),
  ];

  it.each(['pa/ss+wörd "1"', 'tok3n/+=~(x)'])('redacts %s in every encoding', (secret) => {
    for (const encode of encodings) {
      expect(createRedactor([secret])(`who is ${encode(secret)}? ${encode(secret)}`)).toMatch(
        /^who is <secret>=*\? <secret>=*$/,
      );
    }
  });

  it('redacts all text after the beginning of a very long secret', () => {
    const long = Array.from({ length: 8192 }, (_, index) => String.fromCodePoint(0x100 + index)).join('');
    expect(createRedactor([long, 'u'])(`you are u:${long.slice(0, 100)}…`)).toBe('yo<secret> are <secret>:<secret>');
    expect(createRedactor([long])(`you are ${encodeURIComponent(long)}!`)).toBe('you are <secret>');
    expect(createRedactor([long])(`you are ${base64(long)}!`)).toBe('you are <secret>');
  });

  it('never lets a secret through, whatever the secret and its context', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), fc.string(), fc.string(), (secret, before, after) => {
        const rest = createRedactor([secret])(`${before}${secret}${after}`).replaceAll('<secret>', '');
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
  ['the path in the query of a link', (path) => encodeURIComponent(path)],
  ['the key', (_path, key) => key],
  ['the key in a path of its own', (_path, key) => `/keys/${encodeURIComponent(key)}/usage`],
  ['the path in base64', (path) => base64(path)],
  ['the URL in base64', (path) => Buffer.from(`https://node.example${path}`).toString('base64url')],
  ['the URL in hexadecimal digits', (path) => Buffer.from(`https://node.example${path}`).toString('hex')],
  ['the key in base64', (_path, key) => base64(key)],
  ['the key in hexadecimal digits', (_path, key) => Buffer.from(key).toString('hex')],
];

describe('the redactor of a path', () => {
  it.each(quotes)('leaves no trace of a key when a node quotes %s', (_title, quoteOf) => {
    // Most keys have only characters that no encoder changes. The position of a key decides how it looks in base64.
    for (const [prefix, key] of [
      ['/lcd/v1/', createCanary()],
      ['/lcd/v1/', randomBytes(12).toString('hex')],
      ['/lc/v1/', randomBytes(12).toString('hex')],
    ] as const) {
      const path = prefix + encodeURIComponent(key);
      const redact = createPathRedactor(endpointUrl(`https://node.example${path}`), PATH);
      const message = redact(`Cannot GET ${quoteOf(path + PATH, key)}`);
      for (const trace of ['lcd', '/lc', ...tracesOf(key)]) expect(message).not.toContain(trace);
    }
  });

  it.each([
    ['/lcd/v1/KEY', 'KEY is invalid, as a key of /lcd/v1/key/x', '… is invalid, as a … of /…/x'],
    ['/lcd/v1/abcd', 'abcdefgh is not abcd', 'abcdefgh is not …'],
    ['/lcd/v1/abcdefgh', 'x-abcdefghi', 'x-…i'],
    ['/lcd/v1', 'no lcd at /lcd/v1/peggy/v1/module_state', 'no lcd at /…/peggy/v1/module_state'],
    ['/peggy/0123456789', `GET /peggy/0123456789${PATH}`, `GET /…${PATH}`],
    ['', `GET ${PATH}`, `GET ${PATH}`],
  ])('of %s replaces the path and its distinctive parts', (path, text, expected) => {
    expect(createPathRedactor(endpointUrl(`https://node.example${path}`), PATH)(text)).toBe(expected);
  });
});
