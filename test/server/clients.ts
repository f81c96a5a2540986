import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A TCP client that sends exactly the given bytes and keeps what it receives. */
export interface RawClient {
  readonly socket: Socket;
  readonly received: () => string;
  /** Resolves with everything received once the connection is closed. */
  readonly closed: Promise<string>;
}

export async function rawClient(url: string, data: string | Buffer = ''): Promise<RawClient> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  const received = (): string => Buffer.concat(chunks).toString('latin1');
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // Tests look at what was received before a reset.
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => {
    socket.once('close', () => resolve(received()));
  });
  await once(socket, 'connect');
  socket.write(data);
  return { socket, received, closed };
}

/** A request without a body, as sent over the wire. */
export function requestText(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): string {
  const lines = Object.entries({ Host: 'test', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
