/** A chain node in a process of its own: `/<megabytes>` before the path of a document says how large it is. */
import { createServer } from 'node:http';
import { documents } from './bodies.mjs';

const bodies = new Map();

function bodyOf(path) {
  const [, megabytes = '', ...rest] = path.split('/');
  const document = Object.values(documents).find((one) => one.path === `/${rest.join('/')}`);
  if (document === undefined) return undefined;
  if (!bodies.has(path)) bodies.set(path, document.body(Number(megabytes) * 1e6));
  return bodies.get(path);
}

const server = createServer((request, response) => {
  const body = bodyOf(new URL(request.url, 'http://node').pathname);
  response.statusCode = body === undefined ? 404 : 200;
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Grpc-Metadata-X-Cosmos-Block-Height', '8214000');
  response.setHeader('Content-Length', body?.length ?? 0);
  response.end(body);
});
server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`));
