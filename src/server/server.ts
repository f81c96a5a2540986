import { once } from 'node:events';
import { createServer, type RequestListener, type ServerOptions as HttpOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions as TlsOptions } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { createGuard, createPasswordVerifier, type VerifyPassword } from './authentication.js';
import { type LoadedTls, watchWebConfig, type WebConfig, type WebConfigFile } from './web-config.js';
import { systemErrorText } from '../text/error-text.js';
import { withinMs } from '../tasks.js';
import { MINUTE_MS } from '../units.js';

/*
 * The HTTP server for scrapers and browsers. A request passes the limits on connections, the guard (authentication.ts)
 * and the Express application (app.ts). The web configuration (web-config.ts) sets TLS, users and headers.
 */

export interface ListenAddress {
  /** Absent for all addresses of the machine. */
  readonly host?: string;
  readonly port: number;
}

export interface WebServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Limits on clients, so that slow or hostile clients cannot occupy the server. */
export const serverLimits = {
  connections: 512,
  handshakeMs: 10_000,
  headersMs: 10_000,
  requestMs: 15_000,
  /** The time from a request to the last byte of the response that the client receives. */
  responseMs: MINUTE_MS,
  /** Longer than the usual scrape interval, so that scrapers reuse their connection. */
  keepAliveMs: 65_000,
  /** The time for responses in flight when the server is closed. */
  drainMs: 4_000,
};

export type ServerLimits = Readonly<typeof serverLimits>;

const MAX_HEADER_BYTES = 16 * 1024;

/** How often Node.js checks the time limits. */
const CHECK_INTERVAL_MS = 1_000;

export interface ServerOptions {
  readonly log: Logger;
  /** Absent for plain HTTP without authentication. */
  readonly webConfig?: WebConfigFile | undefined;
  readonly limits?: ServerLimits;
  readonly verify?: VerifyPassword;
}

/** Without a file: plain HTTP without authentication. */
const openConfig: WebConfig = { headers: {}, users: new Map() };

/** Serves the application behind the guard. Rejects with a one-line message when it cannot listen. */
export async function startWebServer(
  app: RequestListener,
  { host, port }: ListenAddress,
  { log, webConfig, limits = serverLimits, verify = createPasswordVerifier() }: ServerOptions,
): Promise<WebServer> {
  let tls = webConfig?.config.tls;
  const watch = webConfig && watchWebConfig(webConfig, log, (config) => reloadTls(config.tls));
  const guard = createGuard(watch?.current ?? (() => openConfig), verify, log);
  /** TCP connections, also those without a finished TLS handshake. */
  const connections = new Set<Socket>();
  const inFlight = new Map<Socket, ServerResponse>();
  let isClosing = false;
  const destroyAll = (): void => {
    for (const connection of connections) connection.destroy();
  };
  const listener: RequestListener = (request, response) => {
    const { socket } = request;
    // Scrapers and browsers do not pipeline. Node.js would emit 'close' for the first of the requests only, and
    // limitRequests (app.ts) would count the others forever.
    if (inFlight.has(socket)) {
      socket.destroy();
      return;
    }
    inFlight.set(socket, response);
    // Node.js limits only the time of requests.
    const deadline = setTimeout(() => socket.destroy(), limits.responseMs).unref();
    response.once('close', () => {
      clearTimeout(deadline);
      inFlight.delete(socket);
      if (isClosing && inFlight.size === 0) destroyAll();
    });
    if (isClosing) announceClose(response);
    guard(request, response, () => app(request, response));
  };
  const tlsServer = tls && createTlsServer(tlsOptions(tls, limits), listener);
  const server = tlsServer ?? createServer(httpOptions(limits), listener);
  server.maxConnections = limits.connections;
  server.on('connection', (connection: Socket) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
  });
  // A reload can require certificates that the handshake does not request.
  tlsServer?.prependListener('secureConnection', (socket) => {
    if (tls?.verifiesClients === true && !socket.authorized) socket.destroy();
  });

  function reloadTls(reloaded: LoadedTls | undefined): void {
    if (tls && reloaded) {
      if (tls.verifiesClients !== reloaded.verifiesClients) {
        log.warn('the changed client_auth_type takes full effect after a restart');
      }
      tls = reloaded;
      tlsServer?.setSecureContext(reloaded.context);
    } else if (tls ?? reloaded) {
      log.warn('switching TLS on or off takes effect after a restart');
    }
  }

  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    watch?.close();
    throw new Error(`cannot listen on ${host ?? ''}:${port} (--web.listen-address): ${systemErrorText(error)}`, {
      cause: error,
    });
  }
  server.on('error', (error) => log.error({ err: error }, 'cannot accept a connection'));
  return {
    url: formatUrl(server.address() as AddressInfo, tls ? 'https' : 'http'),
    close: async () => {
      watch?.close();
      isClosing = true;
      // The `close` of HTTP servers would cut off a response that is buffered, which counts as finished, while the
      // client still reads it.
      const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
      for (const response of inFlight.values()) announceClose(response);
      if (inFlight.size > 0) await withinMs(limits.drainMs, closed);
      destroyAll();
      await closed;
      // Clears the timer of Node.js that checks for slow requests.
      server.close();
    },
  };
}

function announceClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

function httpOptions({ headersMs, requestMs, keepAliveMs }: ServerLimits): HttpOptions {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
}

function tlsOptions({ context, verifiesClients }: LoadedTls, limits: ServerLimits): TlsOptions {
  return {
    ...httpOptions(limits),
    ...context,
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: limits.handshakeMs,
    requestCert: verifiesClients,
    rejectUnauthorized: verifiesClients,
  };
}

function formatUrl({ address, family, port }: AddressInfo, scheme: 'http' | 'https'): string {
  if (address === '::' || address === '0.0.0.0') return `${scheme}://localhost:${port}`;
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
