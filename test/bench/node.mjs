/**
 * A chain node in a process of its own. A path begins with options: `/<megabytes>/…` is the size of the document, `/remote/…` sends
 * it at the pace of a fast network instead of as fast as the loopback interface can, `/broken/…` breaks every 20th response.
 */
import { createServer } from 'node:http';
import { documents } from './bodies.mjs';

const bodies = new Map();

function bodyOf(size, path) {
  const key = size + path;
  const document = Object.values(documents).find((one) => one.path === path);
  if (document === undefined) return undefined;
  if (!bodies.has(key)) bodies.set(key, document.body(Number(size) * 1e6));
  return bodies.get(key);
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://node');
  const match = /^\/(?:(remote|broken)\/)?([\d.]+)(\/.*)$/.exec(pathname);
  const [option, size, path] = match === null ? [] : match.slice(1);
  const body = match === null ? undefined : bodyOf(size, path);
  response.statusCode = body === undefined ? 404 : 200;
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Grpc-Metadata-X-Cosmos-Block-Height', '8214000');
  if (option === 'broken' && isBroken()) {
    sendBroken(response, body);
    return;
  }
  response.setHeader('Content-Length', body?.length ?? 0);
  if (option === 'remote' && body !== undefined) sendSlowly(response, body);
  else response.end(body);
});

/** About 2 Gbit/s. */
const CHUNK_BYTES = 256 * 1024;
const CHUNK_INTERVAL_MS = 1;

function sendSlowly(response, body) {
  response.write(body.subarray(0, CHUNK_BYTES));
  const rest = body.subarray(CHUNK_BYTES);
  if (rest.length === 0) response.end();
  else setTimeout(sendSlowly, CHUNK_INTERVAL_MS, response, rest);
}

const BROKEN_EVERY = 20;
let responses = 0;

function isBroken() {
  responses += 1;
  return responses % BROKEN_EVERY === 0;
}

/** In turn: an error, a connection that is lost, a truncated body, another document. */
function sendBroken(response, body) {
  const half = body.subarray(0, body.length / 2);
  const failures = [
    () => response.writeHead(500).end('{"code":13,"message":"internal"}'),
    () => response.writeHead(200, { 'Content-Length': body.length }).write(half, () => response.destroy()),
    () => response.end(half),
    () => response.end('<html>'.padEnd(body.length, 'x')),
  ];
  failures[(responses / BROKEN_EVERY) % failures.length]();
}

server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`));
