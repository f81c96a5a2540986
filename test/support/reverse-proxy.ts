import { createServer, request } from 'node:http';
import { atEnd } from './at-end.js';
import { listenOnFreePort } from './ports.js';

/**
 * Serves an exporter under a path prefix and nothing else, as `location PREFIX/ { proxy_pass URL/; }` of nginx does. Responses are
 * passed on as they are: links and redirects are not rewritten. Returns the URL with the prefix and a slash at the end.
 */
export async function startReverseProxy(upstream: string, prefix: string): Promise<string> {
  const server = createServer((incoming, outgoing) => {
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
  const port = await listenOnFreePort(server);
  atEnd(() => server.closeAllConnections());
  return `http://127.0.0.1:${port}${prefix}/`;
}
