import { REDACTED_PATH, requestUrl, type EndpointUrl } from '../config/urls.js';
import { REDACTED } from '../config/values.js';

/**
 * Replaces in untrusted text the secrets of a request, and the path of its URL with every part of it that may be an API
 * key, as they are sent: nodes send back headers, and gateways quote the path or name the key that they reject.
 * `documentPath` is the path that is appended, which is not secret.
 */
export function createRedactor(
  secrets: readonly string[],
  url: EndpointUrl,
  documentPath: string,
): (text: string) => string {
  const replacements = new Map([
    ...pathReplacements(url, documentPath),
    ...secrets.map((each) => [each, REDACTED] as const),
  ]);
  replacements.delete('');
  // Longest first: a secret that is the beginning of another would leave the rest of the other.
  const ordered = Array.from(replacements).toSorted(([left], [right]) => right.length - left.length);
  return (text) =>
    ordered.reduce(
      (redacted, [part, replacement]) => redacted.replaceAll(createPattern(part, replacement), () => replacement),
      text,
    );
}

/** Usual parts of a path before that of the document. */
const PUBLIC_PART = /^(?:api|lcd|rest|rpc|v\d{1,3}|.)$/i;

const ELLIPSIS = '…';

function pathReplacements(url: EndpointUrl, documentPath: string): (readonly [part: string, replacement: string])[] {
  if (url.path === undefined) return [];
  const { pathname, search, searchParams } = requestUrl(url);
  const publicSegments = new Set(documentPath.split('/'));
  const segments = pathname.split('/').filter((part) => !PUBLIC_PART.test(part) && !publicSegments.has(part));
  const parameters = Array.from(searchParams, ([name, value]) => (value === '' ? name : value));
  const paths = [pathname + search, pathname].filter((part) => part !== '/');
  return [
    ...[search.slice(1), ...segments, ...parameters].flatMap(withDecoded).map((part) => [part, ELLIPSIS] as const),
    ...paths.flatMap(withDecoded).map((part) => [part, REDACTED_PATH] as const),
  ];
}

/** The part of a path, and without its percent-encoding if that is valid. */
function withDecoded(part: string): readonly string[] {
  try {
    return [part, decodeURIComponent(part)];
  } catch {
    return [part];
  }
}

/** A short part of a path may occur within other words, so it is replaced only as a whole word. */
function createPattern(part: string, replacement: string): string | RegExp {
  return replacement === ELLIPSIS && /^\w{1,7}$/.test(part) ? new RegExp(String.raw`\b${part}\b`, 'g') : part;
}
