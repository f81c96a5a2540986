import { createSecret, REDACTED, reveal, type Secret } from '../settings/secret.js';
import {
  accept,
  parseHttpUrl,
  reject,
  secretValueType,
  type ParseResult,
  type ValueType,
} from '../settings/value-types.js';

/** The URL of a JSON-RPC endpoint. Providers put the API key into the path or the query, so only the origin may be shown. */
export interface RpcUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query; absent if there are none. */
  readonly path?: Secret;
}

const EXPECTED = 'an http or https URL without user and fragment, such as https://ethereum.example.org';

export const rpcUrl: ValueType<RpcUrl> = {
  ...secretValueType('URL', EXPECTED, parseRpcUrl),
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
