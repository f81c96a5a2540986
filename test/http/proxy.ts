import { createServer, request, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import { connect, type Socket } from 'node:net';
import { listen, type Listening } from './nodes.js';

export interface Proxy extends Listening {
  /** Method and URL of every request. */
  readonly requestLines: readonly string[];
  readonly requests: readonly IncomingMessage[];
}

interface ProxyOptions {
  /** The `Proxy-Authorization` to require. */
  readonly authorization?: string;
  readonly tls?: ServerOptions;
  /** Sent before each response to CONNECT. */
  readonly interim?: string;
  /** Handles CONNECT instead of opening a tunnel. */
  readonly onConnect?: (socket: Socket) => void;
}

/** Starts an HTTP proxy that forwards requests and opens tunnels. */
export async function startProxy({ authorization, tls, interim = '', onConnect }: ProxyOptions = {}): Promise<Proxy> {
  const requests: IncomingMessage[] = [];
  const server = tls === undefined ? createServer() : createSecureServer(tls);
  const isAuthorized = (incoming: IncomingMessage): boolean => {
    requests.push(incoming);
    return authorization === undefined || incoming.headers['proxy-authorization'] === authorization;
  };
  server.on('request', (incoming: IncomingMessage, response) => {
    if (!isAuthorized(incoming)) {
      response.writeHead(407).end();
      return;
    }
    const { 'proxy-authorization': _removed, ...headers } = incoming.headers;
    const forwarded = request(incoming.url ?? '', { headers }, (nodeResponse) => {
      response.writeHead(nodeResponse.statusCode ?? 502, nodeResponse.headers);
      nodeResponse.pipe(response);
    });
    response.on('close', () => forwarded.destroy());
    forwarded.on('error', () => response.writeHead(502).end()).end();
  });
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    // The sockets of an HTTP server stay half open when the client closes the connection.
    socket.on('end', () => socket.end());
    if (!isAuthorized(incoming)) socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    else if (onConnect === undefined) openTunnel(incoming.url ?? '', socket, interim);
    else onConnect(socket);
  });
  const listening = await listen(server, tls === undefined ? 'http' : 'https');
  return {
    ...listening,
    requests,
    get requestLines() {
      return requests.map(({ method, url }) => `${method} ${url}`);
    },
  };
}

function openTunnel(address: string, socket: Socket, interim: string): void {
  const { hostname, port } = new URL(`http://${address}`);
  const node = connect(Number(port), hostname.replaceAll(/[[\]]/g, ''), () => {
    socket.write(`${interim}HTTP/1.1 200 Connection established\r\n\r\n`);
    node.pipe(socket).pipe(node);
  });
  node.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  // Once the pipe to the node has ended, nothing else reads until the end.
  node.on('close', () => socket.resume());
  socket.on('error', () => node.destroy());
}
