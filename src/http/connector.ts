import { request } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { checkServerIdentity, createSecureContext, type SecureVersion } from 'node:tls';
import { callbackify } from 'node:util';
import { buildConnector, errors } from 'undici';
import type { ResolvedHttpConfig, ResolvedProxy, ResolvedTls } from '../config/resolved-http-config.js';
import type { TlsVersion } from '../config/http-client-config.js';
import { proxyHeaders } from './credentials.js';
import type { FailureReason } from './errors.js';
import { ConnectFailure, RequestFailure } from './failure.js';
import { reasonForStatus } from './error-response.js';

/** The way to a node: all that decides how a connection to it is made. */
export type ConnectionSettings = Pick<ResolvedHttpConfig, 'tls' | 'proxy'>;

type Connect = (options: buildConnector.Options) => Promise<Socket>;

/** What undici, too, gives a connection. */
const TUNNEL_TIMEOUT_MS = 10_000;

/**
 * Connects to nodes by a route. undici's own ProxyAgent is not used: it opens tunnels without a deadline and tells neither
 * what a proxy answered nor whether proxy, tunnel or handshake failed.
 */
export function createConnector({ tls, proxy }: ConnectionSettings): buildConnector.connector {
  const secure = tls === undefined ? {} : secureOptions(tls);
  const toNode = connectorToNode(secure, tls?.serverName);
  const open = proxy === undefined ? toNode : throughProxy(proxy, secure, toNode);
  const connect = callbackify(open);
  return (options, callback) => {
    connect(options, (error: Error | null, socket) => {
      if (error === null) callback(null, socket);
      else callback(error, null);
    });
  };
}

function connectorToNode(secure: buildConnector.BuildOptions, serverName: string | undefined): Connect {
  if (serverName === undefined) return connectorTo('', secure);
  const connect = connectorTo('', {
    ...secure,
    checkServerIdentity: (_host, certificate) => checkServerIdentity(serverName, certificate),
  });
  // An address is no name to indicate (RFC 6066).
  return isIP(serverName) > 0 ? connect : (options) => connect({ ...options, servername: serverName });
}

/** `what` is what messages call the other side. */
function connectorTo(what: string, options: buildConnector.BuildOptions): Connect {
  const connect = buildConnector(options);
  return (to) =>
    new Promise((resolve, reject) => {
      connect(to, (error, socket) => {
        if (error === null) resolve(keepingFirstError(socket));
        else reject(connectFailure(what, error, to.protocol));
      });
    });
}

/**
 * A node that speaks TLS 1.3 refuses a client certificate with an alert after the handshake, and ends the connection. That it
 * ended is what undici would report.
 */
function keepingFirstError(socket: Socket): Socket {
  return socket.once('error', (error) => socket.destroy(error));
}

function connectFailure(what: string, error: Error, protocol: string): ConnectFailure {
  // Trying several addresses gives an AggregateError, without a message; they failed alike.
  const [first]: unknown[] = error instanceof AggregateError ? error.errors : [error];
  const cause = first instanceof Error ? first : error;
  return new ConnectFailure(connectReason(cause, protocol), what + cause.message);
}

function connectReason(error: Error, protocol: string): FailureReason {
  if (error instanceof errors.ConnectTimeoutError) return 'timeout';
  const syscall = 'syscall' in error ? error.syscall : undefined;
  if (syscall === 'getaddrinfo') return 'dns';
  return syscall === 'connect' || protocol !== 'https:' ? 'connect' : 'tls';
}

const versions: Readonly<Record<TlsVersion, SecureVersion>> = {
  TLS10: 'TLSv1',
  TLS11: 'TLSv1.1',
  TLS12: 'TLSv1.2',
  TLS13: 'TLSv1.3',
};

function secureOptions(tls: ResolvedTls): buildConnector.BuildOptions {
  const { ca, cert, key, minVersion, maxVersion, insecureSkipVerify } = tls;
  const options = {
    ca,
    cert,
    key,
    minVersion: versions[minVersion],
    maxVersion: versions[maxVersion],
    // OpenSSL 3 speaks the old versions at this level only.
    ...(minVersion < 'TLS12' && { ciphers: 'DEFAULT:@SECLEVEL=0' }),
  };
  try {
    return { secureContext: createSecureContext(options), rejectUnauthorized: !insecureSkipVerify };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RequestFailure('bad_request', `has a tls_config that cannot be used: ${why}`);
  }
}

/** As in Prometheus, `tls_config` holds for an https proxy too; the server name in it is the node's alone. */
function throughProxy(proxy: ResolvedProxy, secure: buildConnector.BuildOptions, toNode: Connect): Connect {
  const connect = connectorTo(`proxy ${proxy.url}: `, secure);
  const { protocol, hostname, host, port } = new URL(proxy.url);
  const address = { protocol, hostname: hostname.replaceAll(/[[\]]/g, ''), host, port };
  return async (options) => {
    const socket = await connect(address);
    // What is asked of an http address is asked of the proxy itself.
    if (options.protocol === 'http:') return socket;
    await openTunnel(socket, proxy, nodeOf(options));
    return toNode({ ...options, httpSocket: socket });
  };
}

const nodeOf = ({ host = '', port }: buildConnector.Options): string => (port ? host : `${host}:443`);

/** Asks the proxy to pass on everything to the node from here on. */
async function openTunnel(socket: Socket, proxy: ResolvedProxy, node: string): Promise<void> {
  const headers = { host: node, ...proxyHeaders({ proxy }) };
  const asked = request({ method: 'CONNECT', path: node, headers, createConnection: () => socket });
  return new Promise((resolve, reject) => {
    const fail = (reason: FailureReason, what: string): void => {
      clearTimeout(deadline);
      socket.destroy();
      reject(new ConnectFailure(reason, `proxy ${proxy.url}: ${what}`));
    };
    const deadline = setTimeout(() => fail('timeout', 'opens no tunnel within 10 s'), TUNNEL_TIMEOUT_MS);
    asked.on('error', (error) => fail('aborted', `lost while it opens a tunnel: ${error.message}`));
    asked.once('connect', ({ statusCode = 0 }, _socket, head) => {
      if (statusCode < 200 || statusCode > 299) {
        fail(reasonForStatus(statusCode, undefined), `answered status ${statusCode} when asked for a tunnel`);
        return;
      }
      clearTimeout(deadline);
      if (head.length > 0) socket.unshift(head);
      resolve();
    });
    asked.end();
  });
}
