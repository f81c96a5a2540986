import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ListenAddress {
  /** Absent for every address of the machine. */
  readonly host?: string;
  readonly port: number;
}

export interface WebServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const MAX_CONNECTIONS = 512;

/** How long answers under way may still take when the exporter is asked to stop. */
const DRAIN_MS = 500;

/** Listens; rejects with a sentence that says what is in the way when it cannot. */
export async function startWebServer(listener: RequestListener, { host, port }: ListenAddress): Promise<WebServer> {
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 }, listener);
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new Error(`cannot listen on ${host ?? ''}:${port}: ${error.message}`)));
    server.listen(port, host, resolve);
  });
  return {
    url: urlOf(server.address() as AddressInfo),
    close: () =>
      new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

function urlOf({ address, family, port }: AddressInfo): string {
  if (address === '::' || address === '0.0.0.0') return `http://localhost:${port}`;
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`;
}
