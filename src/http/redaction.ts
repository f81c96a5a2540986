import { REDACTED } from '../settings/secret.js';

/**
 * A longer secret is found by its beginning, and all text after it is replaced as well: V8 rejects very long patterns, with an
 * error message that contains them.
 */
const MAX_PATTERN_CHARACTERS = 64;

/** Replaces secrets in untrusted text, also in the usual encodings: a node may send back the headers of a request. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  // Longest first: a secret that is the beginning of another would leave the rest of the other.
  const sorted = [...new Set(secrets)].toSorted((left, right) => right.length - left.length);
  return (text) =>
    sorted
      .filter((secret) => secret !== '')
      .reduce((redacted, secret) => redacted.replaceAll(new RegExp(patternOf(secret), 'gi'), REDACTED), text);
}

/** Matches a secret as it is and in every encoding. */
function patternOf(secret: string): string {
  const bytes = Buffer.from(secret);
  const base64WithoutPadding = bytes.toString('base64').replace(/=+$/, '');
  const encodings = [base64WithoutPadding, bytes.toString('base64url'), bytes.toString('hex')];
  const alternatives = [
    Array.from(secret, characterPattern),
    ...encodings.map((encoded) => Array.from(encoded, escapePattern)),
  ];
  return alternatives.map(limitPattern).join('|');
}

function limitPattern(characters: readonly string[]): string {
  const start = characters.slice(0, MAX_PATTERN_CHARACTERS).join('');
  return characters.length > MAX_PATTERN_CHARACTERS ? `${start}[^]*` : start;
}

/** Encoders differ in the characters they replace, so each may be plain, percent-encoded or escaped as in JSON. */
function characterPattern(character: string): string {
  const percentEncoded = Buffer.from(character).toString('hex').replaceAll(/../g, '%$&');
  const jsonEscaped = JSON.stringify(character).slice(1, -1);
  const forms = new Set([character, percentEncoded, jsonEscaped, ...(character === ' ' ? ['+'] : [])]);
  return `(?:${[...forms].map(escapePattern).join('|')})`;
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
