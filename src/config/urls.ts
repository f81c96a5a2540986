import * as z from 'zod';
import { bridgeDialects, crosschainDialects } from '../chain/dialects.js';
import { createSecret, precondition, REDACTED, reveal, type Secret, stringSetting } from './values.js';

/** A string that is an http or https URL. */
const httpUrl = (expected: string, isExpected: (url: URL, text: string) => boolean, base = stringSetting) =>
  base
    .check(
      precondition(
        (text) => /^https?:\/\/[^\s\\\p{Cc}]+$/iu.test(text) && URL.canParse(text) && isExpected(new URL(text), text),
        `expected ${expected}`,
      ),
    )
    .meta({ title: 'URL' });

const hasUser = ({ username, password }: URL): boolean => username !== '' || password !== '';

/** Where user and password of a node are configured. */
const withoutUser = stringSetting.check(
  precondition(
    (text) => !/^(?:https?:\/\/)?[^/?#]*@/i.test(text),
    'user and password belong to basic_auth, in a configuration file',
  ),
);

const baseUrl = (base = stringSetting) =>
  httpUrl(
    'an http or https URL without user, query and fragment, such as https://node.example.org',
    (url, text) => !hasUser(url) && !/[?#]/.test(text),
    base,
  );

/**
 * The URL of a node. Hosted nodes have the API key in the path, JSON-RPC providers also in the query: only the origin
 * may be shown.
 */
export interface EndpointUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path without a trailing slash, and query; absent if there are none. */
  readonly path?: Secret;
}

const endpointUrl = (schema: z.ZodString, readPath: (url: URL) => string) =>
  z.codec(schema, z.custom<EndpointUrl>(), {
    decode: (text): EndpointUrl => {
      const url = new URL(text);
      const path = readPath(url);
      return path === '' || path === '/' ? { origin: url.origin } : { origin: url.origin, path: createSecret(path) };
    },
    encode: ({ origin, path }) => (path === undefined ? origin : `${origin}/${REDACTED}`),
  });

const pathWithoutSlash = ({ pathname }: URL): string => pathname.replace(/\/+$/, '');

const documentPaths: readonly string[] = [bridgeDialects, crosschainDialects].flatMap((dialects) =>
  Object.values<{ readonly path: string }>(dialects).map(({ path }) => path.toLowerCase()),
);

function isDocumentUrl(text: string): boolean {
  const path = pathWithoutSlash(new URL(text)).toLowerCase();
  return documentPaths.some((known) => path.endsWith(known));
}

/** The base URL of a node, to which the path of a document is appended. */
export const nodeUrl = endpointUrl(
  baseUrl(withoutUser).refine((text) => !isDocumentUrl(text), 'ends with the path of a document, which is appended'),
  pathWithoutSlash,
);

/** The URL of a JSON-RPC endpoint. */
export const rpcUrl = endpointUrl(
  httpUrl(
    'an http or https URL without user and fragment, such as https://ethereum.example.org',
    (url) => url.hash === '',
    withoutUser,
  ),
  ({ pathname, search }) => pathname + search,
);

/** The base URL of another site that the pages link to, without a trailing slash. */
export const siteUrl = baseUrl().overwrite((text) => {
  const url = new URL(text);
  return url.origin + pathWithoutSlash(url);
});

/** The URL of an item on another site. The host is fixed: an id from a chain must not choose it. */
export const urlTemplate = (placeholder: string) =>
  httpUrl(
    `an http or https URL with ${placeholder} in its path, query or fragment, such as https://explorer.example.org/${placeholder}`,
    (url, text) => {
      // The URL parser encodes braces in a path, so the text is inspected.
      const [, authority = '', rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(text) ?? [];
      const isKnown = rest.includes(placeholder) && !/[{}]/.test(authority + rest.replaceAll(placeholder, ''));
      return isKnown && !hasUser(url);
    },
  ).meta({ title: 'URL template' });

export interface Proxy {
  /** Scheme, host and port. */
  readonly url: string;
  /** `user:password`, percent-decoded. */
  readonly userInfo?: Secret;
}

function decodedUserInfo({ username, password }: URL): string | undefined {
  try {
    return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    return undefined;
  }
}

/** As in Prometheus, the URL may contain a user and a password. */
export const proxyUrl = z.codec(
  httpUrl(
    'an http or https URL such as http://user:password@proxy.example.org:3128, with user and password percent-encoded',
    (url, text) => url.pathname === '/' && !/[?#]/.test(text) && decodedUserInfo(url) !== undefined,
  ),
  z.custom<Proxy>(),
  {
    decode: (text): Proxy => {
      const url = new URL(text);
      const userInfo = hasUser(url) ? decodedUserInfo(url) : undefined;
      return { url: url.origin, ...(userInfo !== undefined && { userInfo: createSecret(userInfo) }) };
    },
    encode: ({ url, userInfo }) => (userInfo === undefined ? url : url.replace('//', `//${REDACTED}@`)),
  },
);

/** Replaces a path that may be an API key. */
export const REDACTED_PATH = '/…';

/** The whole URL, for the request only. */
export function requestUrl({ origin, path }: EndpointUrl, documentPath = ''): URL {
  return new URL(origin + (path === undefined ? '' : reveal(path)) + documentPath);
}

/**
 * Host and path of a request, as messages, logs and pages show it: of the path only the part that is appended to the
 * configured URL. Nothing is appended to that of a JSON-RPC endpoint.
 */
export function formatSource({ origin, path }: EndpointUrl, documentPath: string): string {
  const { host, pathname } = new URL(origin + documentPath);
  if (documentPath === '') return host;
  return host + (path === undefined ? '' : REDACTED_PATH) + pathname;
}

/** Usual ports of a node, without that of the REST API. */
const PORTS: Readonly<Record<string, string>> = {
  '26656': 'the P2P port',
  '26657': 'the RPC port',
  '9090': 'the gRPC port',
  '8545': 'the EVM JSON-RPC port',
  '8546': 'the EVM WebSocket port',
};

/** A hint for a URL that is most likely not that of the REST API; `undefined` for an unknown port. */
export function portHint({ origin }: EndpointUrl): string | undefined {
  const { port } = new URL(origin);
  const name = Object.hasOwn(PORTS, port) ? PORTS[port] : undefined;
  return (
    name && `${port} is usually ${name} of a node; the REST API is usually on port 1317, of Injective on port 10337`
  );
}
