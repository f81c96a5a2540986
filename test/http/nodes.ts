import { listConnections } from '../../src/config/config.js';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { atEnd } from '../support/at-end.js';
import { parseConfig } from '../support/config.js';
import { createClient, type Client, type RequestLimits } from '../../src/http/client.js';
import { listenOnFreePort } from '../support/ports.js';
import { createTempFolder } from '../support/temp-folder.js';

/* Nodes on real sockets, and requests to them with the keys of the configuration file. */

export interface Listening {
  readonly url: string;
  readonly port: number;
  readonly connections: { readonly total: number; readonly open: number };
  readonly close: () => Promise<void>;
}

export interface Node extends Listening {
  readonly requests: readonly IncomingMessage[];
}

const respondEmpty: RequestListener = (_request, response) => {
  response.end('{}');
};

/** Starts a node that records its requests; with TLS if there are options for it. */
export async function startNode({
  respond = respondEmpty,
  tls,
}: { readonly respond?: RequestListener; readonly tls?: ServerOptions } = {}): Promise<Node> {
  const requests: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push(request);
    respond(request, response);
  };
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  return { ...(await listen(server, tls === undefined ? 'http' : 'https')), requests };
}

/** Starts a server that accepts connections and sends nothing. */
export async function startSilentServer(scheme: 'http' | 'https'): Promise<Listening> {
  return listen(
    createTcpServer((socket) => socket.resume()),
    scheme,
  );
}

export async function listen(server: Server, scheme: 'http' | 'https'): Promise<Listening> {
  const sockets = new Set<Socket>();
  const connections = { total: 0, open: 0 };
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    connections.total += 1;
    connections.open += 1;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      connections.open -= 1;
    });
  });
  const port = await listenOnFreePort(server);
  const listening: Listening = {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  atEnd(listening.close);
  return listening;
}

/** The folder of the configuration file, to which file names in it are relative. */
export const folder = createTempFolder();

const client = createClient('test/1', process.env);

const LIMITS: RequestLimits = { timeoutMs: 10_000, maxBodyBytes: 1024 * 1024 };

/** Fetches a document from a node, with the client settings of a configuration file with these keys. */
export async function sendTo(
  url: string,
  keys: Readonly<Record<string, unknown>>,
  limits: Partial<RequestLimits> = {},
): ReturnType<Client['send']> {
  const file = stringify({ targets: [{ name: 'a', bridge: { url, ...keys } }] });
  const parsed = parseConfig(file, join(folder.path, 'bridge.yaml'));
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const [node] = listConnections(parsed.config.targets);
  if (node === undefined) throw new Error('the configuration has a bridge');
  return client.send(node.connection, '/state', { ...LIMITS, ...limits });
}

/** `ok`, or the reason and the message without the host. */
export async function outcome(...args: Parameters<typeof sendTo>): Promise<string> {
  const result = await sendTo(...args);
  const [url] = args;
  return result.ok ? 'ok' : `${result.error.reason}: ${result.error.message.replace(new URL(url).host, '')}`;
}
