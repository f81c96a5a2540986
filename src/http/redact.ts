import { REDACTED } from '../config/kit/secret.js';

/**
 * Of a secret longer than this the beginning is looked for, and all that follows is hidden too: V8 gives up on very long
 * patterns, with an error that shows them.
 */
const MAX_PATTERN = 64;

/** Hides the secrets in a text from outside, also where it holds them encoded: a node may send back what was sent to it. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  // Longest first, or a secret that begins another one would leave the rest of it.
  const known = [...new Set(secrets)].toSorted((left, right) => right.length - left.length);
  return (text) =>
    known
      .filter((secret) => secret !== '')
      .reduce((masked, secret) => masked.replaceAll(new RegExp(anyForm(secret), 'gi'), REDACTED), text);
}

function anyForm(secret: string): string {
  const bytes = Buffer.from(secret);
  // Without the padding, which is there or not.
  const base64 = bytes.toString('base64').replace(/=+$/, '');
  const whole = [base64, bytes.toString('base64url'), bytes.toString('hex')].map((form) => Array.from(form, literally));
  return [Array.from(secret, eitherWay), ...whole].map(bounded).join('|');
}

const bounded = (pattern: readonly string[]): string =>
  pattern.slice(0, MAX_PATTERN).join('') + (pattern.length > MAX_PATTERN ? '[^]*' : '');

/** Encoders differ in which characters they replace, so each may be as it is, percent-encoded or escaped as in JSON. */
function eitherWay(character: string): string {
  const percentEncoded = Buffer.from(character).toString('hex').replaceAll(/../g, '%$&');
  const escaped = JSON.stringify(character).slice(1, -1);
  const forms = new Set([character, percentEncoded, escaped, ...(character === ' ' ? ['+'] : [])]);
  return `(?:${[...forms].map(literally).join('|')})`;
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
