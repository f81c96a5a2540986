import { createServer, request, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import { connect, type Socket } from 'node:net';
import { listen, type Listening } from './nodes.js';

export interface Proxy extends Listening {
  /** Method and address of everything it was asked for. */
  readonly asked: readonly string[];
  readonly requests: readonly IncomingMessage[];
}

interface ProxyOptions {
  /** `Basic …` it wants to see; 407 without. */
  readonly authorization?: string;
  readonly tls?: ServerOptions;
  /** What it does with a tunnel instead of opening it. */
  readonly onTunnel?: (socket: Socket) => void;
}

/** An HTTP proxy: it fetches http addresses, and passes on what is said to https ones. */
export async function startProxy({ authorization, tls, onTunnel }: ProxyOptions = {}): Promise<Proxy> {
  const requests: IncomingMessage[] = [];
  const server = tls === undefined ? createServer() : createSecureServer(tls);
  const admits = (incoming: IncomingMessage): boolean => {
    requests.push(incoming);
    return authorization === undefined || incoming.headers['proxy-authorization'] === authorization;
  };
  server.on('request', (incoming: IncomingMessage, response) => {
    if (!admits(incoming)) {
      response.writeHead(407).end();
      return;
    }
    const { 'proxy-authorization': _own, ...headers } = incoming.headers;
    const passedOn = request(incoming.url ?? '', { headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passedOn.on('error', () => response.writeHead(502).end()).end();
  });
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    if (!admits(incoming)) socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    else if (onTunnel === undefined) openTunnel(incoming.url ?? '', socket);
    else onTunnel(socket);
  });
  const listening = await listen(server, tls === undefined ? 'http' : 'https');
  return {
    ...listening,
    requests,
    get asked() {
      return requests.map(({ method, url }) => `${method} ${url}`);
    },
  };
}

function openTunnel(address: string, socket: Socket): void {
  const { hostname, port } = new URL(`http://${address}`);
  const node = connect(Number(port), hostname.replaceAll(/[[\]]/g, ''), () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    node.pipe(socket).pipe(node);
  });
  node.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  socket.on('error', () => node.destroy());
}
