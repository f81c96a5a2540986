import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import { checkServerIdentity, connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import type { ResolvedHttpConfig, ResolvedProxy, ResolvedTls } from '../config/resolved-http-config.js';
import { tlsVersions } from '../settings/tls.js';
import { reasonForStatus } from './error-response.js';
import { ConnectError, RequestError, type FailureReason } from './failure-reasons.js';

/**
 * Opens a connection for one HTTP request: TCP, then a CONNECT tunnel if an https node is behind a proxy, then TLS. Every socket is
 * closed when the signal is aborted, in every phase. Rejects with a ConnectError.
 */
export async function openConnection(
  url: URL,
  { tls, proxy }: ResolvedHttpConfig,
  signal: AbortSignal,
): Promise<Socket> {
  if (proxy === undefined) return connect({ url, tls, serverName: tls?.serverName, signal });
  const proxyUrl = new URL(proxy.url);
  const messagePrefix = `proxy ${proxy.url}: `;
  // As in Prometheus, tls_config applies to an https proxy too. The server name in it is that of the node.
  const socket = await connect({ url: proxyUrl, tls, signal, messagePrefix });
  if (url.protocol === 'http:') return socket;
  await openTunnel(socket, url, proxy, messagePrefix);
  return connect({ url, tls, serverName: tls?.serverName, signal, socket });
}

interface ConnectOptions {
  readonly url: URL;
  readonly tls: ResolvedTls | undefined;
  /** The name to expect in the certificate instead of that in the URL. */
  readonly serverName?: string | undefined;
  readonly signal: AbortSignal;
  /** A connection to use for TLS, instead of a new one. */
  readonly socket?: Socket;
  readonly messagePrefix?: string;
}

function connect({
  url,
  tls,
  serverName,
  signal,
  socket: tunnel,
  messagePrefix = '',
}: ConnectOptions): Promise<Socket> {
  const isTls = url.protocol === 'https:';
  // IPv6 addresses have brackets in URLs only.
  const host = url.hostname.replaceAll(/[[\]]/g, '');
  const address = { host, port: Number(url.port) || (isTls ? 443 : 80) };
  const socket = isTls
    ? connectTls({
        ...address,
        ...(tunnel && { socket: tunnel }),
        ...(tls && { secureContext: secureContext(tls), rejectUnauthorized: !tls.insecureSkipVerify }),
        ALPNProtocols: ['http/1.1'],
        // SNI carries host names only (RFC 6066).
        servername: [serverName, host].find((name) => name !== undefined && isIP(name) === 0) ?? '',
        checkServerIdentity: (_host, certificate) => checkServerIdentity(serverName ?? host, certificate),
      })
    : connectTcp(address);
  addAbortSignal(signal, socket);
  return new Promise((resolve, reject) => {
    socket.once(isTls ? 'secureConnect' : 'connect', () => resolve(socket));
    socket.on('error', (error) => {
      reject(connectError(error, isTls, messagePrefix));
      // With TLS 1.3 a node can reject the client certificate after the handshake and close the connection. Without this,
      // undici reports only that it was closed.
      socket.destroy(error);
    });
  });
}

function connectError(error: Error, isTls: boolean, messagePrefix: string): ConnectError {
  // Trying several addresses fails with an AggregateError, which has no message.
  const [first]: unknown[] = error instanceof AggregateError ? error.errors : [error];
  const cause = first instanceof Error ? first : error;
  return new ConnectError(connectReason(cause, isTls), messagePrefix + describeConnectError(cause));
}

/** OpenSSL reports a response in clear text as a wrong version or length of a TLS record. */
function describeConnectError(error: Error): string {
  const code = 'code' in error ? error.code : undefined;
  const isClearText = code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG';
  return isClearText || /wrong version number|packet length too long/.test(error.message)
    ? 'the server does not use TLS on this port: is this port http?'
    : error.message;
}

function connectReason(error: Error, isTls: boolean): FailureReason {
  const syscall = 'syscall' in error ? error.syscall : undefined;
  if (syscall === 'getaddrinfo') return 'dns';
  return syscall === 'connect' || !isTls ? 'connect' : 'tls';
}

/** Cached by a hash of the settings, because parsing a bundle of 140 CA certificates takes 35 ms. */
const secureContexts = new Map<string, SecureContext>();
const MAX_SECURE_CONTEXTS = 100;

function secureContext(tls: ResolvedTls): SecureContext {
  const key = createHash('sha256').update(JSON.stringify(tls)).digest('base64');
  const cached = secureContexts.get(key);
  if (cached !== undefined) return cached;
  const context = newSecureContext(tls);
  // Certificates that are renewed leave entries that are not used again.
  if (secureContexts.size >= MAX_SECURE_CONTEXTS) secureContexts.clear();
  secureContexts.set(key, context);
  return context;
}

function newSecureContext({ ca, cert, key, minVersion, maxVersion }: ResolvedTls): SecureContext {
  try {
    return createSecureContext({
      ca,
      cert,
      key,
      minVersion: tlsVersions[minVersion],
      maxVersion: tlsVersions[maxVersion],
      // OpenSSL 3 permits versions before TLS 1.2 only at security level 0.
      ...(minVersion < 'TLS12' && { ciphers: 'DEFAULT:@SECLEVEL=0' }),
    });
  } catch (error) {
    throw new RequestError(
      'bad_request',
      `invalid tls_config: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Sends CONNECT, after which the proxy forwards everything on the socket to the node. */
function openTunnel(socket: Socket, url: URL, proxy: ResolvedProxy, messagePrefix: string): Promise<void> {
  const authority = url.port === '' ? `${url.host}:443` : url.host;
  const headers = { host: authority, ...proxy.headers };
  const tunnel = request({ method: 'CONNECT', path: authority, headers, createConnection: () => socket });
  return new Promise((resolve, reject) => {
    const fail = (reason: FailureReason, message: string): void =>
      reject(new ConnectError(reason, messagePrefix + message));
    tunnel.on('error', (error) => fail('aborted', `connection lost during CONNECT: ${error.message}`));
    tunnel.once('connect', ({ statusCode = 0 }) => {
      if (statusCode >= 200 && statusCode < 300) resolve();
      else fail(reasonForStatus(statusCode), `responded to CONNECT with status ${statusCode}`);
    });
    tunnel.end();
  });
}
