import type { Server, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';

interface Connections {
  /** Closes the server and all connections: after the last response, or at the deadline. */
  readonly close: (deadlineMs: number) => Promise<void>;
}

/**
 * Ends the connections of clients that do not read their response in time. Node.js limits only the time of requests. Its `close` would cut off a response
 * that is buffered, which counts as finished, while the client still reads it.
 */
export function trackConnections(server: Server | HttpsServer, responseMs: number): Connections {
  /** TCP connections, also those without a finished TLS handshake. */
  const connections = new Set<Socket>();
  const inFlight = new Set<ServerResponse>();
  let isClosing = false;

  const closeAll = (): void => {
    for (const connection of connections) connection.destroy();
  };

  server.on('connection', (connection: Socket) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
  });
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    // Of pipelined requests, Node.js emits 'close' only for the current request.
    socket.once('close', () => {
      for (const response of inFlight) if (response.req.socket === socket) response.emit('close');
    });
  });
  server.prependListener('request', ({ socket }, response) => {
    inFlight.add(response);
    const deadline = setTimeout(() => socket.destroy(), responseMs).unref();
    response.once('close', () => {
      clearTimeout(deadline);
      inFlight.delete(response);
      if (isClosing && inFlight.size === 0) closeAll();
    });
    if (isClosing) announceClose(response);
  });

  return {
    close: async (deadlineMs) => {
      isClosing = true;
      const closed = new Promise((resolve) => {
        NetServer.prototype.close.call(server, resolve);
      });
      for (const response of inFlight) announceClose(response);
      if (inFlight.size === 0) closeAll();
      const deadline = setTimeout(closeAll, deadlineMs);
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
