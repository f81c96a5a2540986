import { createHash } from 'node:crypto';
import dns from 'node:dns';
import { request } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import { checkServerIdentity, connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import type { ResolvedHttpConfig, ResolvedProxy, ResolvedTls } from '../config/credentials.js';
import { withinMs } from '../tasks.js';
import { errorCode } from '../text/system-error.js';
import { reasonForStatus } from './error-response.js';
import { ConnectError, RequestError, type FailureReason } from './failure-reasons.js';

/**
 * Opens a connection for one HTTP request: TCP, then a CONNECT tunnel if an https node is behind a proxy, then TLS. Every socket is
 * closed when the signal is aborted, in every phase. Rejects with a ConnectError, or with a RequestError for certificates that cannot be used.
 */
export async function openConnection(
  url: URL,
  { tls, proxy }: ResolvedHttpConfig,
  signal: AbortSignal,
): Promise<Socket> {
  const options = { tls, serverName: tls?.server_name, signal };
  if (proxy === undefined) return connect(url, options);
  const socket = await connectProxy(url, proxy, { tls, signal }).catch((error: unknown) => {
    if (!(error instanceof ConnectError)) throw error;
    throw new ConnectError(error.reason, `proxy ${proxy.url}: ${error.message}`);
  });
  return url.protocol === 'http:' ? socket : startTls(socket, url, options);
}

interface ConnectOptions {
  readonly tls: ResolvedTls | undefined;
  /** The name to expect in the certificate instead of that in the URL. */
  readonly serverName?: string | undefined;
  readonly signal: AbortSignal;
}

/** As in Prometheus, tls_config applies to an https proxy too. The server name in it is that of the node. */
async function connectProxy(url: URL, proxy: ResolvedProxy, options: ConnectOptions): Promise<Socket> {
  const socket = await connect(new URL(proxy.url), options);
  if (url.protocol === 'https:') await openTunnel(socket, url, proxy);
  return socket;
}

async function connect(url: URL, options: ConnectOptions): Promise<Socket> {
  const socket = await connectHost(url, options);
  // The socket below TLS is closed by the TLS socket: Node.js never closes TLS in TLS if the lowest socket is closed first.
  return url.protocol === 'https:' ? startTls(socket, url, options) : addAbortSignal(options.signal, socket);
}

/** The host of a URL as names are resolved and certificates are checked: without the brackets of IPv6 addresses, which only URLs have. */
function hostOf({ hostname }: URL): string {
  return hostname.replaceAll(/[[\]]/g, '');
}

/** The delay that RFC 8305 recommends. */
const ATTEMPT_DELAY_MS = 250;

/**
 * Connects to an address of a host. The next address is tried when an attempt fails or takes longer than a moment; earlier attempts continue until the
 * signal is aborted. Node.js would give up each attempt when it begins the next.
 */
async function connectHost(url: URL, { signal }: ConnectOptions): Promise<Socket> {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const addresses = await lookUp(hostOf(url), signal);
  return new Promise((resolve, reject) => {
    const results: string[] = [];
    const pending = new Map<Socket, string>();
    let tried = 0;
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => {
      clearTimeout(timer);
      for (const socket of pending.keys()) socket.destroy();
      signal.removeEventListener('abort', fail);
    };
    const fail = (): void => {
      end();
      const waiting = Array.from(pending.values(), (address) => `no response from ${address}`);
      reject(new ConnectError('connect', [...results, ...waiting].join(', ')));
    };
    const tryNext = (): void => {
      clearTimeout(timer);
      const address = addresses[tried];
      if (address === undefined) return;
      tried += 1;
      const socket = connectTcp({ host: address, port });
      pending.set(socket, isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`);
      socket.on('error', (error) => {
        // The user of an established connection reports its errors.
        if (!pending.delete(socket)) return;
        results.push(error.message);
        if (results.length === addresses.length) fail();
        else tryNext();
      });
      socket.once('connect', () => {
        pending.delete(socket);
        end();
        resolve(socket);
      });
      timer = setTimeout(tryNext, ATTEMPT_DELAY_MS);
    };
    signal.addEventListener('abort', fail);
    tryNext();
  });
}

/** The addresses of each host name when it was resolved last. */
const lastAddresses = new Map<string, readonly string[]>();
/** Node.js cannot cancel a lookup, and runs two at a time: without these, the polls of a name that resolves slowly would delay those of others. */
const pendingLookups = new Map<string, Promise<readonly string[]>>();
const MAX_LOOKUP_MS = 2_000;

/** The addresses of a host name, or the address itself; the last ones while the lookup takes longer than usual. */
async function lookUp(host: string, signal: AbortSignal): Promise<readonly string[]> {
  const last = lastAddresses.get(host);
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new ConnectError('dns', `the name ${host} was not resolved`)));
  });
  const lookup = Promise.race([pendingLookups.get(host) ?? startLookup(host), aborted]);
  return last === undefined ? lookup : ((await withinMs(MAX_LOOKUP_MS, lookup)) ?? last);
}

/** The name can be one of a file or of another service, not only of DNS. */
async function startLookup(host: string): Promise<readonly string[]> {
  const lookup = new Promise<readonly string[]>((resolve, reject) => {
    dns.lookup(host, { all: true }, (error, results) => {
      pendingLookups.delete(host);
      if (error !== null) return reject(new ConnectError('dns', error.message));
      const addresses = results.map(({ address }) => address);
      lastAddresses.set(host, addresses);
      resolve(addresses);
    });
  });
  pendingLookups.set(host, lookup);
  return lookup;
}

function startTls(transport: Socket, url: URL, { tls, serverName, signal }: ConnectOptions): Promise<Socket> {
  // Certificates have names without the dot at the end.
  const host = hostOf(url).replace(/\.$/, '');
  const socket = connectTls({
    socket: transport,
    ...(tls && { secureContext: secureContext(tls), rejectUnauthorized: !tls.insecure_skip_verify }),
    ALPNProtocols: ['http/1.1'],
    // SNI carries host names only (RFC 6066).
    servername: [serverName, host].find((name) => name !== undefined && isIP(name) === 0) ?? '',
    checkServerIdentity: (_host, certificate) => checkServerIdentity(serverName ?? host, certificate),
  });
  addAbortSignal(signal, socket);
  return new Promise((resolve, reject) => {
    socket.once('secureConnect', () => resolve(socket));
    socket.on('error', (error) => {
      reject(new ConnectError('tls', describeTlsError(error)));
      // With TLS 1.3 a node can reject the client certificate after the handshake and close the connection. Without this,
      // undici reports only that it was closed.
      socket.destroy(error);
    });
  });
}

/** OpenSSL reports a response in clear text as a wrong version or length of a TLS record. */
function describeTlsError(error: Error): string {
  const code = errorCode(error);
  const isClearText = code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG';
  return isClearText || /wrong version number|packet length too long/.test(error.message)
    ? 'the server does not use TLS on this port: is this port http?'
    : error.message;
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

function newSecureContext({ ca, cert, key }: ResolvedTls): SecureContext {
  try {
    return createSecureContext({ ca, cert, key });
  } catch (error) {
    throw new RequestError(
      'bad_request',
      `invalid tls_config: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Sends CONNECT, after which the proxy forwards everything on the socket to the node. */
function openTunnel(socket: Socket, url: URL, proxy: ResolvedProxy): Promise<void> {
  const authority = url.port === '' ? `${url.host}:443` : url.host;
  const headers = { host: authority, ...proxy.headers };
  const tunnel = request({ method: 'CONNECT', path: authority, headers, createConnection: () => socket });
  return new Promise((resolve, reject) => {
    const fail = (reason: FailureReason, message: string): void => reject(new ConnectError(reason, message));
    tunnel.on('error', (error) => fail('aborted', `connection lost during CONNECT: ${error.message}`));
    tunnel.once('connect', ({ statusCode = 0 }) => {
      if (statusCode >= 200 && statusCode < 300) resolve();
      else fail(reasonForStatus(statusCode), `responded to CONNECT with status ${statusCode}`);
    });
    tunnel.end();
  });
}
