import { bridgeDialects, crosschainDialects } from '../chain/dialects.js';
import { createSecret, REDACTED, reveal, type Secret } from '../settings/secret.js';
import {
  accept,
  parseHttpUrl,
  reject,
  secretValueType,
  valueType,
  type ParseResult,
  type ValueType,
} from '../settings/value-types.js';

/** The URL of a node. Hosted nodes have the API key in the path, JSON-RPC providers also in the query: only the origin may be shown. */
export interface EndpointUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path without a trailing slash, and query; absent if there are none. */
  readonly path?: Secret;
}

const EXPECTED = 'an http or https URL without user, query and fragment, such as https://node.example.org';

/** The base URL of a node, to which the path of a document is appended. */
export const nodeUrl = endpointUrl(EXPECTED, (text) => {
  const result = parseBaseUrl(text, rejectDocumentPath);
  return result.ok ? accept(endpointUrlOf(result.value)) : result;
});

/** The base URL of another site that the pages link to, without a trailing slash. */
export const siteUrl = valueType('URL', EXPECTED, (text) => parseBaseUrl(text));

function endpointUrl(expected: string, parse: (text: string) => ParseResult<EndpointUrl>): ValueType<EndpointUrl> {
  return {
    ...secretValueType('URL', expected, parse),
    format: ({ origin, path }: EndpointUrl) => (path === undefined ? origin : `${origin}/${REDACTED}`),
  };
}

function endpointUrlOf(url: string): EndpointUrl {
  const { origin } = new URL(url);
  const path = url.slice(origin.length);
  return path === '' || path === '/' ? { origin } : { origin, path: createSecret(path) };
}

/** What is shown of a path that may be an API key. */
export const REDACTED_PATH = '/…';

/** No message quotes user, password, path or query, because messages are logged. */
function parseBaseUrl(
  text: string,
  rejectBase: (origin: string, path: string) => ParseResult<never> | undefined = () => undefined,
): ParseResult<string> {
  const result = parseHttpUrl(text);
  if (!result.ok) return result;
  const { origin, pathname, username, password } = result.value;
  const path = pathname.replace(/\/+$/, '');
  if (username !== '' || password !== '') return reject(`${origin} has a user name or password`);
  const rejected = rejectBase(origin, path);
  if (rejected !== undefined) return rejected;
  if (text.includes('?')) return reject(`${origin} has a query`);
  if (text.includes('#')) return reject(`${origin} has a fragment`);
  return accept(origin + path);
}

function rejectDocumentPath(origin: string, path: string): ParseResult<never> | undefined {
  const documentPath = knownPaths.find((known) => path.toLowerCase().endsWith(known.toLowerCase()));
  if (documentPath === undefined) return undefined;
  const base = origin + (path.length > documentPath.length ? REDACTED_PATH : '');
  return reject(`${base}${documentPath} ends with the path of a document, which is appended`);
}

const knownPaths: readonly string[] = [bridgeDialects, crosschainDialects].flatMap((dialects) =>
  Object.values<{ readonly path: string }>(dialects).map(({ path }) => path),
);

const EXPECTED_RPC = 'an http or https URL without user and fragment, such as https://ethereum.example.org';

/** The URL of a JSON-RPC endpoint. */
export const rpcUrl = endpointUrl(EXPECTED_RPC, (text) => {
  const result = parseHttpUrl(text);
  if (!result.ok) return result;
  const { origin, pathname, search, username, password, hash } = result.value;
  if (username !== '' || password !== '') return reject(`${origin} has a user name or password`);
  if (hash !== '') return reject(`${origin} has a fragment`);
  return accept(endpointUrlOf(origin + pathname + search));
});

/** The whole URL, for the request only. */
export function requestUrl({ origin, path }: EndpointUrl, documentPath = ''): URL {
  return new URL(origin + (path === undefined ? '' : reveal(path)) + documentPath);
}

/**
 * Host and path of a request, as messages, logs and pages show it: of the path only the part that is appended to the configured URL. Nothing
 * is appended to that of a JSON-RPC endpoint.
 */
export function sourceOf({ origin, path }: EndpointUrl, documentPath: string): string {
  const { host, pathname } = new URL(origin + documentPath);
  if (documentPath === '') return host;
  return host + (path === undefined ? '' : REDACTED_PATH) + pathname;
}
