import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A client that says exactly what it is told to, and remembers what it was answered. */
export interface RawClient {
  readonly socket: Socket;
  readonly received: () => string;
  /** Resolves with all of the answer when the other end has closed. */
  readonly closed: Promise<string>;
}

export async function rawClient(url: string, text = ''): Promise<RawClient> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  const received = (): string => Buffer.concat(chunks).toString('latin1');
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A reset is an end like another: what counts is what came before it.
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => {
    socket.once('close', () => resolve(received()));
  });
  await once(socket, 'connect');
  socket.write(text);
  return { socket, received, closed };
}

/** A request as it goes over the wire. */
export function requestText(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): string {
  const lines = Object.entries({ Host: 'test', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
