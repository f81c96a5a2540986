import { createServer, request, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface ReverseProxy {
  /** With the prefix and a slash at the end. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * Serves an exporter under a path prefix and nothing else, as `location PREFIX/ { proxy_pass URL/; }` of nginx does. Responses are
 * passed on as they are: links and redirects are not rewritten.
 */
export async function startReverseProxy(upstream: string, prefix: string): Promise<ReverseProxy> {
  const server: Server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? '';
    if (!path.startsWith(`${prefix}/`)) {
      outgoing.writeHead(502).end('outside of the prefix\n');
      return;
    }
    const { host: _host, ...headers } = incoming.headers;
    const forwarded = request(
      upstream + path.slice(prefix.length),
      { method: incoming.method, headers },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(outgoing);
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${prefix}/`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
