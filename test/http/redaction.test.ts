import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/http/redaction.js';
import { fuzzRuns } from '../support/fuzz.js';

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
      { numRuns: fuzzRuns(100) },
    );
  });
});
