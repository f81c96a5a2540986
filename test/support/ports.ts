import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { atEnd } from './at-end.js';

/** Starts the server on a free port of 127.0.0.1, until the end of the tests, and returns the port. */
export async function listenOnFreePort(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A port on which nothing listens, for a program that cannot select a free port itself. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnFreePort(server);
  server.close();
  await once(server, 'close');
  return port;
}
