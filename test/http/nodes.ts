import { mkdtempSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createClient, type FetchLimits, type FetchResult } from '../../src/http/client.js';
import { parseConfig } from '../../src/config/config.js';
import { listenOnFreePort } from '../support/ports.js';

/* Nodes on real sockets, and the way to ask one with the keys of the configuration file. */

export interface Listening {
  /** Base address, by the number of this machine. */
  readonly url: string;
  readonly port: number;
  readonly close: () => Promise<void>;
}

export interface Node extends Listening {
  readonly requests: readonly IncomingMessage[];
}

const answerNothing: RequestListener = (_request, response) => {
  response.end('{}');
};

/** A node that remembers what it was asked; with TLS when there are options for it. */
export async function startNode({
  answer = answerNothing,
  tls,
}: { readonly answer?: RequestListener; readonly tls?: ServerOptions } = {}): Promise<Node> {
  const requests: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push(request);
    answer(request, response);
  };
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  return { ...(await listen(server, tls === undefined ? 'http' : 'https')), requests };
}

export async function listen(server: Server, scheme: string): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  const port = await listenOnFreePort(server);
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Where the configuration file is, as far as the names of files in it go. */
export const folder = mkdtempSync(join(tmpdir(), 'reach-'));

export const client = createClient('test/1');

const LIMITS: FetchLimits = { timeoutMs: 10_000, maxBodyBytes: 1024 * 1024 };

/** Asks a node as a configuration file with these keys would have it asked. */
export async function ask(
  url: string,
  keys: Readonly<Record<string, unknown>>,
  limits: Partial<FetchLimits> = {},
): Promise<FetchResult> {
  const file = stringify({ targets: [{ name: 'a', bridge: { url, ...keys } }] });
  const parsed = parseConfig(file, join(folder, 'bridge.yaml'));
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const reach = parsed.config.targets[0]?.bridge?.httpClient;
  return client.fetch(new URL(`${url}/state`), { ...LIMITS, ...limits }, reach);
}

/** `ok`, or the reason and the message. */
export async function outcome(...asked: Parameters<typeof ask>): Promise<string> {
  const result = await ask(...asked);
  return result.ok ? 'ok' : `${result.error.reason}: ${result.error.message}`;
}
