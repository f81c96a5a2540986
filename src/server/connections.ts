import type { Server, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';

/** How late a connection may be cut off. */
const LOOK_MS = 1_000;

export interface Connections {
  /** Ends the server: idle connections at once, the others with their answer or at the deadline. */
  readonly close: (deadlineMs: number) => Promise<void>;
}

/**
 * Keeps account of the answers under way on each connection. Node.js counts an answer as done once it is handed over: its
 * own close() cuts off what a slow reader has not read yet.
 */
export function trackConnections(server: Server | HttpsServer, answerMs: number): Connections {
  const tcp = new Set<Socket>();
  /** The answers of each connection, with when they were asked for. */
  const underWay = new Map<Socket, Map<ServerResponse, number>>();
  let isClosing = false;

  server.on('connection', (socket: Socket) => {
    tcp.add(socket);
    socket.once('close', () => tcp.delete(socket));
  });
  // With TLS the socket of the requests is another, and only there once hands are shaken.
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', track);
  server.prependListener('request', ({ socket }, response) => {
    underWay.get(socket)?.set(response, performance.now());
    response.on('close', () => {
      underWay.get(socket)?.delete(response);
      if (isClosing) end(socket);
    });
    if (isClosing) announceEnd(response);
  });

  function track(socket: Socket): void {
    const answers = new Map<ServerResponse, number>();
    underWay.set(socket, answers);
    socket.once('close', () => {
      underWay.delete(socket);
      // Of requests sent ahead, Node.js tells only the one it was answering that the client is gone.
      for (const response of answers.keys()) response.emit('close');
      if (isClosing) endHandshakes();
    });
  }

  /** One look at all of them now and then, as a timer for each answer would cost each of them its time. */
  const look = setInterval(
    () => {
      const last = performance.now() - answerMs;
      for (const [socket, answers] of underWay) {
        // They stand in the order they were asked for.
        const [oldest] = answers.values();
        if (oldest !== undefined && oldest <= last) socket.destroy();
      }
    },
    Math.min(answerMs, LOOK_MS),
  ).unref();

  /** Closes a connection that has answered everything. */
  function end(socket: Socket): void {
    if (underWay.get(socket)?.size === 0) socket.destroySoon();
  }

  /** What is left when every client that had a request is gone. */
  function endHandshakes(): void {
    if (underWay.size === 0) cutAll();
  }

  function cutAll(): void {
    for (const socket of tcp) socket.destroy();
  }

  return {
    close: async (deadlineMs) => {
      isClosing = true;
      const closed = new Promise<void>((resolve) => {
        NetServer.prototype.close.call(server, () => resolve());
      });
      for (const [socket, answers] of underWay) {
        for (const response of answers.keys()) announceEnd(response);
        end(socket);
      }
      endHandshakes();
      const deadline = setTimeout(cutAll, deadlineMs);
      await closed;
      clearTimeout(deadline);
      clearInterval(look);
      // Ends the timer that looks for slow requests.
      server.close();
    },
  };
}

function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
