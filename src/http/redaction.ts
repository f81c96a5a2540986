import { REDACTED_PATH, requestUrl, type EndpointUrl } from '../config/urls.js';
import { REDACTED } from '../config/secret.js';

/**
 * A longer secret is matched by its beginning, and all text after it is replaced as well: V8 rejects very long patterns, with an error message that
 * contains them.
 */
const MAX_PATTERN_CHARACTERS = 64;

/** Replaces secrets in untrusted text, also in the usual encodings: a node may send back the headers of a request. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  return (text) =>
    longestFirst(secrets).reduce(
      (redacted, secret) => redacted.replaceAll(new RegExp(patternOf(secret), 'gi'), REDACTED),
      text,
    );
}

/** A shorter part of a path may be within a word. */
const MIN_DISTINCTIVE_CHARACTERS = 8;

/**
 * Replaces the path of a URL in untrusted text, and every part of it that may be an API key: gateways quote the path of the request, and
 * name the key that they reject. `documentPath` is the path that is appended, which is not secret.
 */
export function createPathRedactor(url: EndpointUrl, documentPath: string): (text: string) => string {
  const regExpOf = (part: string): RegExp => {
    const pattern = patternOf(part);
    const isDistinctive = part.length >= MIN_DISTINCTIVE_CHARACTERS || part.includes('/');
    return new RegExp(isDistinctive ? pattern : `(?<![a-z\\d])(?:${pattern})(?![a-z\\d])`, 'gi');
  };
  const ellipsis = (match: string): string => {
    if (match.startsWith(url.origin)) return url.origin + REDACTED_PATH;
    return match.startsWith('/') ? REDACTED_PATH : '…';
  };
  return (text) =>
    longestFirst(secretParts(url, documentPath)).reduce(
      (redacted, part) => redacted.replaceAll(regExpOf(part), ellipsis),
      text,
    );
}

/** Usual parts of a path before that of the document. */
const PUBLIC_PART = /^(?:api|lcd|rest|rpc|v\d{1,3}|.)$/i;

function secretParts(url: EndpointUrl, documentPath: string): string[] {
  if (url.path === undefined) return [];
  const { origin, pathname, search, searchParams } = requestUrl(url);
  const publicSegments = new Set(documentPath.split('/'));
  const segments = pathname.split('/').filter((part) => !PUBLIC_PART.test(part) && !publicSegments.has(part));
  const parameters = Array.from(searchParams).map(([name, value]) => (value === '' ? name : value));
  const whole = [pathname + search, pathname].filter((part) => part !== '/');
  const withoutSlash = whole.map((part) => part.slice(1)).filter((part) => part.includes('/'));
  const withOrigin = whole.map((part) => origin + part);
  const parts = [...withOrigin, ...whole, ...withoutSlash, search.slice(1), ...segments, ...parameters];
  return parts.flatMap((part) => [part, decoded(part)]);
}

/** The part of a path without percent-encoding, if that is valid. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Longest first: a secret that is the beginning of another would leave the rest of the other. */
function longestFirst(secrets: readonly string[]): readonly string[] {
  return [...new Set(secrets)].filter((secret) => secret !== '').toSorted((left, right) => right.length - left.length);
}

/** Matches a secret as it is and in every encoding. */
function patternOf(secret: string): string {
  const bytes = Buffer.from(secret);
  const inBase64 = (encoding: 'base64' | 'base64url'): string => {
    const encoded = bytes.toString(encoding).replace(/=+$/, '');
    // The last character depends on what follows the secret.
    return bytes.length < MIN_DISTINCTIVE_CHARACTERS ? encoded : encoded.slice(0, Math.floor((bytes.length * 8) / 6));
  };
  const encodings = [inBase64('base64'), inBase64('base64url'), bytes.toString('hex')];
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

const HTML_ESCAPES: Readonly<Record<string, readonly string[]>> = {
  '&': ['&amp;'],
  '<': ['&lt;'],
  '>': ['&gt;'],
  '"': ['&quot;', '&#34;'],
  "'": ['&#39;', '&#x27;', '&apos;'],
  '+': ['&#43;'],
};

/** Encoders differ in the characters they replace, so each may be plain, percent-encoded, or escaped as in JSON or HTML. */
function characterPattern(character: string): string {
  const percentEncoded = Buffer.from(character).toString('hex').replaceAll(/../g, '%$&');
  const jsonEscaped = JSON.stringify(character).slice(1, -1);
  const htmlEscaped = HTML_ESCAPES[character] ?? [];
  const forms = new Set([character, percentEncoded, jsonEscaped, ...htmlEscaped, ...(character === ' ' ? ['+'] : [])]);
  return `(?:${[...forms].map(escapePattern).join('|')})`;
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
