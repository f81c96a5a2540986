import type { Server, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';

interface Connections {
  /** Closes the server: idle connections at once, others after their last response or at the deadline. */
  readonly close: (deadlineMs: number) => Promise<void>;
}

/**
 * Ends the connections of clients that do not read their response in time. Node.js limits only the time of requests, and counts a
 * response as finished once it is buffered: its own `close` would cut off what a slow reader has not received yet.
 */
export function trackConnections(server: Server | HttpsServer, responseMs: number): Connections {
  const tcpSockets = new Set<Socket>();
  /** The responses in flight of each connection. With TLS, it is another socket, which exists after the handshake. */
  const responsesOf = new Map<Socket, Set<ServerResponse>>();
  let isClosing = false;

  server.on('connection', (socket: Socket) => {
    tcpSockets.add(socket);
    socket.once('close', () => tcpSockets.delete(socket));
  });
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    const responses = new Set<ServerResponse>();
    responsesOf.set(socket, responses);
    socket.once('close', () => {
      responsesOf.delete(socket);
      // Node.js emits 'close' only for the current one of pipelined requests.
      for (const response of responses) response.emit('close');
      if (isClosing) closeIdle();
    });
  });
  server.prependListener('request', ({ socket }, response) => {
    const responses = responsesOf.get(socket);
    responses?.add(response);
    const deadline = setTimeout(() => socket.destroy(), responseMs).unref();
    response.on('close', () => {
      clearTimeout(deadline);
      responses?.delete(response);
      if (isClosing) closeIdle();
    });
    if (isClosing) announceClose(response);
  });

  function closeIdle(): void {
    for (const [socket, responses] of responsesOf) if (responses.size === 0) socket.destroySoon();
    // Only connections without a finished handshake remain.
    if (responsesOf.size === 0) destroyAll();
  }

  function destroyAll(): void {
    for (const socket of tcpSockets) socket.destroy();
  }

  return {
    close: async (deadlineMs) => {
      isClosing = true;
      const closed = new Promise((resolve) => {
        NetServer.prototype.close.call(server, resolve);
      });
      for (const responses of responsesOf.values()) for (const response of responses) announceClose(response);
      closeIdle();
      const deadline = setTimeout(destroyAll, deadlineMs);
      await closed;
      clearTimeout(deadline);
      // Clears the timer of Node.js that checks for slow requests.
      server.close();
    },
  };
}

function announceClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
