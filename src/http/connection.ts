import { createHash } from 'node:crypto';
import dns, { type LookupAddress } from 'node:dns';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import {
  checkServerIdentity,
  connect as connectTls,
  type ConnectionOptions,
  createSecureContext,
  type SecureContext,
} from 'node:tls';
import { callbackify } from 'node:util';
import type { ResolvedHttpConfig, ResolvedProxy, ResolvedTls } from '../config/http-client-config.js';
import { reasonForStatus } from './response.js';
import { ConnectError, type PollError, RequestError } from './failure-reasons.js';

interface ConnectOptions {
  readonly tls: ResolvedTls | undefined;
  /** Closes every socket, in every phase. */
  readonly signal: AbortSignal;
  /** The maximum time for an address of a host, except for the last one. */
  readonly attemptMs: number;
}

/**
 * Opens a connection for one HTTP request: TCP, then a CONNECT tunnel if an https node is behind a proxy, then TLS.
 * Rejects with a ConnectError, or with a RequestError for certificates that cannot be used.
 */
export async function openConnection(
  url: URL,
  proxy: ResolvedHttpConfig['proxy'],
  options: ConnectOptions,
): Promise<Socket> {
  const serverName = options.tls?.server_name;
  if (proxy === undefined) return connect(url, options, serverName);
  const socket = await connectProxy(url, proxy, options).catch((error: unknown) => {
    if (!(error instanceof ConnectError)) throw error;
    throw new ConnectError(error.reason, `proxy ${proxy.url}: ${error.message}`);
  });
  return url.protocol === 'http:' ? socket : connect(url, options, serverName, socket);
}

/** As in Prometheus, tls_config applies to an https proxy too. The server name in it is that of the node. */
async function connectProxy(url: URL, proxy: ResolvedProxy, options: ConnectOptions): Promise<Socket> {
  const socket = await connect(new URL(proxy.url), options);
  if (url.protocol === 'https:') await openTunnel(socket, url, proxy);
  return socket;
}

/**
 * The host of a URL as names are resolved and certificates are checked: without the brackets of IPv6 addresses, which
 * only URLs have.
 */
function readHost({ hostname }: URL): string {
  return hostname.replaceAll(/[[\]]/g, '');
}

/** Connects to the host of a URL, or continues on the socket of a tunnel. */
function connect(
  url: URL,
  { tls, signal, attemptMs }: ConnectOptions,
  serverName?: string,
  tunnel?: Socket,
): Promise<Socket> {
  const isSecure = url.protocol === 'https:';
  const address = {
    host: readHost(url),
    port: Number(url.port) || (isSecure ? 443 : 80),
    lookup: lookUp,
    autoSelectFamily: true,
    // The default of Node.js is too short for a distant node.
    autoSelectFamilyAttemptTimeout: Math.max(1, Math.floor(attemptMs)),
  };
  const target = tunnel === undefined ? address : { socket: tunnel };
  const socket = isSecure ? connectTls({ ...target, ...tlsOptions(url, tls, serverName) }) : connectTcp(address);
  addAbortSignal(signal, socket);
  let phase: 'dns' | 'connect' | 'tls' = tunnel !== undefined ? 'tls' : isIP(address.host) > 0 ? 'connect' : 'dns';
  socket.on('lookup', (error: Error | null) => (phase = error === null ? 'connect' : phase));
  socket.once('connect', () => (phase = 'tls'));
  const describeError = (error: Error): string => {
    if (error instanceof AggregateError) return error.errors.map((each: Error) => each.message).join(', ');
    if (!signal.aborted) return error.message;
    return phase === 'dns' ? `the name ${address.host} was not resolved` : `no response from ${url.host}`;
  };
  return new Promise((resolve, reject) => {
    socket.once(isSecure ? 'secureConnect' : 'connect', () => resolve(socket));
    // The user of an established connection reports its errors.
    socket.on('error', (error) => {
      // With TLS 1.3 a node can reject the client certificate after the handshake and close the connection. Without
      // this, undici reports only that it was closed.
      socket.destroy(error);
      reject(new ConnectError(phase, phase === 'tls' ? error.message : describeError(error)));
    });
  });
}

/**
 * Node.js cannot cancel a lookup, and runs two at a time: without these, the polls of a name that resolves slowly would
 * delay those of others.
 */
const pendingLookups = new Map<string, Promise<LookupAddress[]>>();

/** The addresses of a host name. It can be one of a file or of another service, not only of DNS. */
const lookUp = callbackify(async (host: string, _options: unknown): Promise<LookupAddress[]> => {
  const pending =
    pendingLookups.get(host) ?? dns.promises.lookup(host, { all: true }).finally(() => pendingLookups.delete(host));
  pendingLookups.set(host, pending);
  return pending;
});

function tlsOptions(url: URL, tls: ResolvedTls | undefined, serverName: string | undefined): ConnectionOptions {
  // Certificates have names without the dot at the end.
  const host = readHost(url).replace(/\.$/, '');
  return {
    ...(tls && { secureContext: secureContext(tls) }),
    // Always set: the default is that of NODE_TLS_REJECT_UNAUTHORIZED.
    rejectUnauthorized: tls?.insecure_skip_verify !== true,
    ALPNProtocols: ['http/1.1'],
    // SNI carries host names only (RFC 6066).
    servername: [serverName, host].find((name) => name !== undefined && isIP(name) === 0) ?? '',
    checkServerIdentity: (_host, certificate) => checkServerIdentity(serverName ?? host, certificate),
  };
}

/** Cached by a hash of the settings, because parsing a bundle of 140 CA certificates takes 35 ms. */
const secureContexts = new Map<string, SecureContext>();
const MAX_SECURE_CONTEXTS = 100;

function secureContext(tls: ResolvedTls): SecureContext {
  const hash = createHash('sha256').update(JSON.stringify(tls)).digest('base64');
  const cached = secureContexts.get(hash);
  if (cached !== undefined) return cached;
  try {
    const { ca, cert, key } = tls;
    const context = createSecureContext({ ca, cert, key });
    // Certificates that are renewed leave entries that are not used again.
    if (secureContexts.size >= MAX_SECURE_CONTEXTS) secureContexts.clear();
    secureContexts.set(hash, context);
    return context;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new RequestError('bad_request', `invalid tls_config: ${message}`);
  }
}

/** The response to CONNECT, after interim responses such as `100 Continue`. */
const CONNECT_RESPONSE = /^(?:HTTP\/1\.\d 1\d\d.*\r\n(?:.+\r\n)*\r\n)*HTTP\/1\.\d ([2-9]\d\d).*\r\n(?:.+\r\n)*\r\n/;

export const MAX_HEADER_BYTES = 16 * 1024;

/** Sends CONNECT, after which the proxy forwards everything on the socket to the node. */
function openTunnel(socket: Socket, url: URL, proxy: ResolvedProxy): Promise<void> {
  const authority = url.port === '' ? `${url.host}:443` : url.host;
  const headers = Object.entries({ host: authority, ...proxy.headers }).map(([name, value]) => `${name}: ${value}`);
  socket.write([`CONNECT ${authority} HTTP/1.1`, ...headers, '', ''].join('\r\n'));
  return new Promise((resolve, reject) => {
    let received = '';
    const end = (error?: ConnectError): void => {
      socket.off('data', read).off('close', fail).pause();
      if (error === undefined) resolve();
      else reject(error);
    };
    const fail = (): void => end(new ConnectError('aborted', 'connection lost during CONNECT'));
    const read = (chunk: Buffer): void => {
      received += chunk.toString('latin1');
      const [, status] = CONNECT_RESPONSE.exec(received) ?? [];
      if (received.length > MAX_HEADER_BYTES || !'HTTP/1.'.startsWith(received.slice(0, 7))) {
        end(new ConnectError('aborted', 'invalid HTTP response to CONNECT'));
      } else if (status?.startsWith('2') === true) end();
      else if (status !== undefined) {
        end(new ConnectError(reasonForStatus(Number(status)), `responded to CONNECT with status ${status}`));
      }
    };
    socket.on('data', read).once('close', fail);
  });
}

/**
 * Whether a request has failed because no socket or file can be opened: EMFILE is the limit of the process, ENFILE that
 * of the system. A lookup of a name can end with EBUSY instead.
 */
export function isOutOfFiles({ reason, message }: RequestError): boolean {
  return (
    ['dns', 'connect', 'bad_request'].includes(reason) && /\bE(?:MFILE|NFILE|BUSY)\b|too many open files/.test(message)
  );
}

export const OUT_OF_FILES: PollError = {
  reason: 'internal',
  message: 'no file or socket can be opened: the limit of open files of this process is reached',
  remedy:
    'Raise the limit of open files: LimitNOFILE in the systemd unit, --ulimit nofile of the container, or ulimit -n. process_max_fds is the limit, process_open_fds its use.',
};
