import type { Failure, PollError } from './failure-reasons.js';
import { REDACTED_PATH, requestUrl, type EndpointUrl } from '../config/urls.js';

/* Hints for a URL that is not that of the REST API. A wrong port is the usual first failure. */

/** The protocol of a server that is not the REST API. */
export type Protocol = 'json-rpc' | 'http2';

/** Usual ports of a node, without that of the REST API. */
const PORTS: Readonly<Record<string, string>> = {
  '26656': 'the P2P port',
  '26657': 'the RPC port',
  '9090': 'the gRPC port',
  '8545': 'the EVM JSON-RPC port',
  '8546': 'the EVM WebSocket port',
};

const PROTOCOLS: Readonly<Record<Protocol, string>> = {
  'json-rpc': 'the response is JSON-RPC, as of the RPC port (26657) or the EVM JSON-RPC port (8545) of a node',
  http2: 'the server speaks HTTP/2, as the gRPC port (9090) of a node does',
};

const REST_API = 'the REST API is usually on port 1317, of Injective on port 10337';

/** A hint for a response that is no document; `undefined` for an unknown port. */
export function portHint({ origin }: EndpointUrl, protocol: Protocol | undefined): string | undefined {
  const { port } = new URL(origin);
  const name = Object.hasOwn(PORTS, port) ? PORTS[port] : undefined;
  if (name !== undefined) return `${port} is usually ${name} of a node; ${REST_API}`;
  return protocol === undefined ? undefined : `${PROTOCOLS[protocol]}; ${REST_API}`;
}

/** The reverse of a hint for a server that does not use TLS, which OpenSSL reports. */
export const TLS_HINT = 'the server closed the connection without a response: is this port https?';

/** Only JSON-RPC responses begin with this key. */
export function isJsonRpc(start: string): boolean {
  return /^\s*\{\s*"jsonrpc"/.test(start);
}

/**
 * Whether a server responds to a request of HTTP/1.1 with a frame of HTTP/2, which is a SETTINGS frame: three bytes of
 * length, then type 4.
 */
export function isHttp2(start: string): boolean {
  return start.startsWith('\0\0') && start.charCodeAt(3) === 4;
}

/** A hint for a base URL that ends with the first part of the path that is appended: `https://node/peggy/v1`. */
export function repeatedPathHint(url: EndpointUrl, paths: readonly string[]): string | undefined {
  const { pathname } = requestUrl(url);
  for (const path of paths) {
    const segments = path.split('/').slice(1, -1);
    for (let count = segments.length; count > 0; count -= 1) {
      const repeated = `/${segments.slice(0, count).join('/')}`;
      if (!pathname.toLowerCase().endsWith(repeated.toLowerCase())) continue;
      const base = url.origin + (pathname.length > repeated.length ? REDACTED_PATH : '');
      return `the URL ends with ${repeated}, and ${path} is appended; did you mean ${base}?`;
    }
  }
  return undefined;
}

export function withHint(error: PollError, hint: string | undefined): Failure {
  return { ok: false, error: hint === undefined ? error : { ...error, message: `${error.message} — ${hint}` } };
}
