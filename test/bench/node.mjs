/**
 * A chain node in a process of its own: `/<megabytes>` before the path of a document says how large it is. Behind `/far` it
 * answers like one on another machine: at the pace of a fast network, and without taking the processors for itself meanwhile.
 */
import { createServer } from 'node:http';
import { documents } from './bodies.mjs';

const bodies = new Map();

/** Some 2 Gbit/s. */
const PIECE_BYTES = 256 * 1024;
const PIECE_MS = 1;

function bodyOf(path) {
  const [, megabytes = '', ...rest] = path.split('/');
  const document = Object.values(documents).find((one) => one.path === `/${rest.join('/')}`);
  if (document === undefined) return undefined;
  if (!bodies.has(path)) bodies.set(path, document.body(Number(megabytes) * 1e6));
  return bodies.get(path);
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://node');
  const isFar = pathname.startsWith('/far/');
  const body = bodyOf(isFar ? pathname.slice('/far'.length) : pathname);
  response.statusCode = body === undefined ? 404 : 200;
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Grpc-Metadata-X-Cosmos-Block-Height', '8214000');
  response.setHeader('Content-Length', body?.length ?? 0);
  if (body === undefined || !isFar) response.end(body);
  else sendFromAfar(response, body);
});

function sendFromAfar(response, body) {
  response.write(body.subarray(0, PIECE_BYTES));
  const rest = body.subarray(PIECE_BYTES);
  if (rest.length === 0) response.end();
  else setTimeout(sendFromAfar, PIECE_MS, response, rest);
}

server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`));
