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

const EXPECTED = 'an http or https URL without user, query and fragment, such as https://node.example.org';

/** The base URL of a node, without a trailing slash. */
export const nodeUrl = valueType('URL', EXPECTED, (text) => parseBaseUrl(text, rejectDocumentPath));

/** The base URL of another site that the pages link to, without a trailing slash. */
export const siteUrl = valueType('URL', EXPECTED, (text) => parseBaseUrl(text));

/** No message quotes user, password or query, because messages are logged. */
function parseBaseUrl(
  text: string,
  rejectBase: (base: string) => ParseResult<never> | undefined = () => undefined,
): ParseResult<string> {
  const result = parseHttpUrl(text);
  if (!result.ok) return result;
  const { origin, pathname, username, password } = result.value;
  const base = origin + pathname.replace(/\/+$/, '');
  if (username !== '' || password !== '') return reject(`${base} has a user name or password`);
  const rejected = rejectBase(base);
  if (rejected !== undefined) return rejected;
  if (text.includes('?')) return reject(`${base} has a query`);
  if (text.includes('#')) return reject(`${base} has a fragment`);
  return accept(base);
}

function rejectDocumentPath(base: string): ParseResult<never> | undefined {
  const documentPath = documentPaths.find((path) => base.toLowerCase().endsWith(path.toLowerCase()));
  return documentPath === undefined ? undefined : reject(`${base} ends with the path of a document, which is appended`);
}

const documentPaths: readonly string[] = [bridgeDialects, crosschainDialects].flatMap((dialects) =>
  Object.values<{ readonly path: string }>(dialects).map(({ path }) => path),
);

/** The URL of a JSON-RPC endpoint. Providers put the API key into the path or the query, so only the origin may be shown. */
export interface RpcUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query; absent if there are none. */
  readonly path?: Secret;
}

const EXPECTED_RPC = 'an http or https URL without user and fragment, such as https://ethereum.example.org';

export const rpcUrl: ValueType<RpcUrl> = {
  ...secretValueType('URL', EXPECTED_RPC, parseRpcUrl),
  format: (url: RpcUrl) => (url.path === undefined ? url.origin : `${url.origin}/${REDACTED}`),
};

/** No message quotes more than the origin. */
function parseRpcUrl(text: string): ParseResult<RpcUrl> {
  const result = parseHttpUrl(text);
  if (!result.ok) return result;
  const { origin, pathname, search, username, password, hash } = result.value;
  if (username !== '' || password !== '') return reject(`${origin} has a user name or password`);
  if (hash !== '') return reject(`${origin} has a fragment`);
  const path = pathname + search;
  return accept(path === '/' ? { origin } : { origin, path: createSecret(path) });
}

/** The whole URL, for the request only. */
export function requestUrl({ origin, path }: RpcUrl): URL {
  return new URL(path === undefined ? origin : origin + reveal(path));
}
