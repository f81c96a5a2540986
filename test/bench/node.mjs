/**
 * A chain node in a process of its own, of a bridge that goes on with each document. A path begins with options: `/<megabytes>/…` is the size of a
 * document, `/remote/…` sends it at the pace of a fast network instead of as fast as the loopback interface can. Other queries are answered as by the simulator.
 */
import { createServer } from 'node:http';
import { executeQuery, parseRequest } from '../../dist/simulator/query-service.js';
import { documents, model } from './bodies.mjs';

const server = createServer((request, response) => {
  const { pathname, search } = new URL(request.url, 'http://node');
  const [, remote, size, path = ''] = /^\/(remote\/)?([\d.]+)(\/.*)$/.exec(pathname) ?? [];
  const document = Object.values(documents).find((one) => one.path === path);
  if (document === undefined) {
    const query = parseRequest(request.method, path + search);
    const { status, headers, body } = 'endpoint' in query ? executeQuery(model, query) : query;
    response.writeHead(status, { ...headers, 'Content-Length': body.length }).end(body);
    return;
  }
  const body = document.body(Number(size) * 1e6);
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Grpc-Metadata-X-Cosmos-Block-Height', String(model.height));
  response.setHeader('Content-Length', body.length);
  if (remote) sendSlowly(response, body);
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

server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`));
