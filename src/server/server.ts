import { once } from 'node:events';
import { createServer, type RequestListener, type ServerOptions as HttpOptions } from 'node:http';
import {
  createServer as createTlsServer,
  type Server as TlsServer,
  type ServerOptions as TlsOptions,
} from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import { createAuthenticator } from './auth.js';
import { isClientLetIn } from './client-certificates.js';
import { trackConnections } from './connections.js';
import { createGuard } from './guard.js';
import { createPasswordThread, type PasswordThread } from './password-thread.js';
import type { Tls } from './tls-files.js';
import { watchWebConfig, type WebConfigFile } from './web-config-files.js';

export interface ListenAddress {
  /** Absent for every address of the machine. */
  readonly host?: string;
  readonly port: number;
}

export interface WebServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** What a client may take its time for, and how many there may be. */
export interface ServerLimits {
  readonly connections: number;
  readonly handshakeMs: number;
  readonly headersMs: number;
  readonly requestMs: number;
  /** From the request to the last byte of the answer that is taken. */
  readonly answerMs: number;
  /** Longer than the usual interval of scrapes, so that their connection is kept. */
  readonly idleMs: number;
  /** For answers under way when the server is closed. */
  readonly drainMs: number;
}

export const serverLimits: ServerLimits = {
  connections: 512,
  handshakeMs: 10_000,
  headersMs: 10_000,
  requestMs: 15_000,
  answerMs: 60_000,
  idleMs: 65_000,
  drainMs: 4_000,
};

const MAX_HEADER_BYTES = 16 * 1024;

/** How often Node.js looks for connections that are over their time. */
const LOOK_MS = 1_000;

export interface ServerParts {
  readonly log: Logger;
  /** Absent for plain HTTP that everybody may read. */
  readonly webConfig?: WebConfigFile | undefined;
  readonly limits?: ServerLimits;
  readonly passwords?: PasswordThread;
}

/** Listens; rejects with a sentence that says what is in the way when it cannot. */
export async function startWebServer(
  app: RequestListener,
  { host, port }: ListenAddress,
  { log, webConfig, limits = serverLimits, passwords = createPasswordThread() }: ServerParts,
): Promise<WebServer> {
  let tls = webConfig?.config.tls;
  const watch = watchWebConfig(webConfig, log, (config) => changeTls(config.tls));
  const guard = createGuard(watch.current, createAuthenticator(passwords.check), log);
  const listener: RequestListener = (request, response) => guard(request, response, () => app(request, response));
  const server = tls ? createTlsServer(tlsOptions(tls, limits), listener) : createServer(httpOptions(limits), listener);
  server.maxConnections = limits.connections;
  const connections = trackConnections(server, limits.answerMs);
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    if (tls !== undefined && !isClientLetIn(tls.clients, socket)) socket.destroy();
  });

  function changeTls(changed: Tls | undefined): void {
    if (tls && changed) {
      if (tls.clients.type !== changed.clients.type) log.warn('client_auth_type changes fully at the next start only');
      tls = changed;
      (server as TlsServer).setSecureContext(changed.context);
    } else if (tls ?? changed) {
      log.warn('TLS is switched on or off at the next start only');
    }
  }

  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    watch.close();
    throw new Error(`cannot listen on ${host ?? ''}:${port}: ${listenProblem(error)}`, { cause: error });
  }
  server.on('error', (error) => log.error({ err: error }, 'a connection could not be accepted'));
  return {
    url: urlOf(server.address() as AddressInfo, tls ? 'https' : 'http'),
    close: async () => {
      watch.close();
      await connections.close(limits.drainMs);
      await passwords.close();
    },
  };
}

function listenProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return 'EADDRINUSE: it is in use — expected a free one; port 0 takes any';
  if (code === 'EACCES') return 'EACCES: not allowed — expected a port from 1024 on, or the right to take this one';
  return error instanceof Error ? error.message : String(error);
}

function httpOptions({ headersMs, requestMs, idleMs }: ServerLimits): HttpOptions {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: LOOK_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
}

function tlsOptions({ context, clients }: Tls, limits: ServerLimits): TlsOptions {
  return {
    ...httpOptions(limits),
    ...context,
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: limits.handshakeMs,
    requestCert: clients.type !== 'NoClientCert',
    // The other rules are looked after when the handshake is done; this one tells the client what it lacks.
    rejectUnauthorized: clients.type === 'RequireAndVerifyClientCert',
  };
}

function urlOf({ address, family, port }: AddressInfo, scheme: 'http' | 'https'): string {
  if (address === '::' || address === '0.0.0.0') return `${scheme}://localhost:${port}`;
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
