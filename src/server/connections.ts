import type { Server, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';

const CHECK_INTERVAL_MS = 1_000;

interface Connections {
  /** Closes the server: idle connections at once, others after their last response or at the deadline. */
  readonly close: (deadlineMs: number) => Promise<void>;
}

/**
 * Tracks the responses of each connection until they are flushed, to end slow readers and to drain on close. Node.js counts a
 * response as finished once it is buffered: its own `close` would cut off what a slow reader has not received yet.
 */
export function trackConnections(server: Server | HttpsServer, responseMs: number): Connections {
  const tcpSockets = new Set<Socket>();
  /** When each response of a connection was requested, oldest first. */
  const responsesOf = new Map<Socket, Map<ServerResponse, number>>();
  let isClosing = false;

  server.on('connection', (socket: Socket) => {
    tcpSockets.add(socket);
    socket.once('close', () => tcpSockets.delete(socket));
  });
  // With TLS, requests arrive on another socket, which exists after the handshake.
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', track);
  server.prependListener('request', ({ socket }, response) => {
    responsesOf.get(socket)?.set(response, performance.now());
    response.on('close', () => {
      responsesOf.get(socket)?.delete(response);
      if (isClosing) closeIfIdle(socket);
    });
    if (isClosing) announceClose(response);
  });

  function track(socket: Socket): void {
    const responses = new Map<ServerResponse, number>();
    responsesOf.set(socket, responses);
    socket.once('close', () => {
      responsesOf.delete(socket);
      // Of pipelined requests, Node.js emits 'close' for the current one only.
      for (const response of responses.keys()) response.emit('close');
      if (isClosing) closeHandshakes();
    });
  }

  const check = setInterval(
    () => {
      const deadline = performance.now() - responseMs;
      for (const [socket, responses] of responsesOf) {
        const [oldest] = responses.values();
        if (oldest !== undefined && oldest <= deadline) socket.destroy();
      }
    },
    Math.min(responseMs, CHECK_INTERVAL_MS),
  ).unref();

  function closeIfIdle(socket: Socket): void {
    if (responsesOf.get(socket)?.size === 0) socket.destroySoon();
  }

  /** Connections without a finished handshake are all that remain when no tracked one does. */
  function closeHandshakes(): void {
    if (responsesOf.size === 0) destroyAll();
  }

  function destroyAll(): void {
    for (const socket of tcpSockets) socket.destroy();
  }

  return {
    close: async (deadlineMs) => {
      isClosing = true;
      const closed = new Promise<void>((resolve) => {
        NetServer.prototype.close.call(server, () => resolve());
      });
      for (const [socket, responses] of responsesOf) {
        for (const response of responses.keys()) announceClose(response);
        closeIfIdle(socket);
      }
      closeHandshakes();
      const deadline = setTimeout(destroyAll, deadlineMs);
      await closed;
      clearTimeout(deadline);
      clearInterval(check);
      // Clears the timer of Node.js that checks for slow requests.
      server.close();
    },
  };
}

function announceClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
