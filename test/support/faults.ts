import type { ServerResponse } from 'node:http';
import { pipeline, Readable, type Transform } from 'node:stream';
import { createGzip } from 'node:zlib';
import { errorResponse, GRPC_CODES, HEIGHT_HEADER, type QueryResponse } from '../../src/simulator/query-service.js';
import { send, type Fault } from '../../src/simulator/simulator.js';

/* Every way in which a response can go wrong between a node and its client. First those that are incomplete, too slow, too large or not HTTP. */

/** Sends nothing, not even headers. */
export const hang: Fault = () => undefined;

/** Sends headers and half of the body, then nothing. */
export const stall: Fault = ({ response }, content) => sendHalf(response, content);

/** Closes the connection in the middle of the body. */
export const truncate: Fault = ({ response }, content) => sendHalf(response, content, () => response.destroy());

/** Sends bytes that are not HTTP. */
export const garbage: Fault = ({ response }) => void response.socket?.end('SSH-2.0-simulated\r\n');

/** Resets the connection. */
export const reset: Fault = ({ response }) => void response.socket?.resetAndDestroy();

/** Sends the body in small chunks, so that no single gap is long. */
export function drip(bytes: number, everyMs: number): Fault {
  return ({ response }, { status, headers, body }) => {
    response.writeHead(status, { ...headers, 'Content-Length': body.length });
    let sent = 0;
    const timer = setInterval(() => {
      response.write(body.subarray(sent, sent + bytes));
      sent += bytes;
      if (sent >= body.length) response.end();
    }, everyMs);
    response.once('close', () => clearInterval(timer));
  };
}

/** Appends whitespace up to this size: valid JSON, but too large. */
export function oversize(bytes: number): Fault {
  return ({ response }, content) => sendPadded(response, content, bytes);
}

/** Like `oversize`, but compressed. `bytes` is the decoded size. */
export function gzipBomb(bytes: number): Fault {
  return ({ response }, content) => sendPadded(response, content, bytes, createGzip());
}

/* Complete responses with the wrong content. */

/** Another response. */
export function replaced(change: (content: QueryResponse) => Partial<QueryResponse>): Fault {
  return (exchange, content) => send(exchange, { ...content, ...change(content) });
}

/** Another status code; without `body` the usual error body `{code, message, details}`. */
export function withStatus(status: number, body?: string, headers: QueryResponse['headers'] = {}): Fault {
  const usual = errorResponse(status, GRPC_CODES.UNKNOWN, 'simulated failure');
  return replaced(() => ({
    status,
    headers: { ...usual.headers, ...headers },
    body: body === undefined ? usual.body : Buffer.from(body),
  }));
}

export const redirect = replaced(() => ({
  status: 302,
  headers: { Location: 'http://127.0.0.1:1/' },
  body: Buffer.alloc(0),
}));

export function withBody(text: string): Fault {
  return replaced(() => ({ body: Buffer.from(text) }));
}

/** The error page of a reverse proxy, with status 200. */
export const errorPage = replaced(({ headers }) => ({
  headers: { ...headers, 'Content-Type': 'text/html' },
  body: Buffer.from(
    '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>',
  ),
}));

/** `Content-Encoding: gzip` with a body that is not compressed. */
export const badEncoding = replaced(({ headers }) => ({ headers: { ...headers, 'Content-Encoding': 'gzip' } }));

/** Another value of the height header; null removes the header. */
export function withHeight(value: string | null): Fault {
  return replaced(({ headers: { [HEIGHT_HEADER]: _replaced, ...others } }) => ({
    headers: value === null ? others : { ...others, [HEIGHT_HEADER]: value },
  }));
}

/** Another document. A field that is `undefined` is missing. */
export function edited(edit: (document: never) => object): Fault {
  return replaced(({ body }) => ({ body: Buffer.from(JSON.stringify(edit(JSON.parse(body.toString()) as never))) }));
}

function sendHalf(response: ServerResponse, { status, headers, body }: QueryResponse, onSent?: () => void): void {
  response.writeHead(status, { ...headers, 'Content-Length': body.length });
  response.write(body.subarray(0, Math.floor(body.length / 2)), onSent);
}

/** The padding is generated while it is read, so it takes no memory. */
function sendPadded(
  response: ServerResponse,
  { status, headers, body }: QueryResponse,
  bytes: number,
  compressor?: Transform,
): void {
  response.writeHead(status, { ...headers, ...(compressor && { 'Content-Encoding': 'gzip' }) });
  const source = Readable.from(padded(body, bytes));
  // A client that disconnects early is expected here.
  if (compressor) pipeline(source, compressor, response, () => undefined);
  else pipeline(source, response, () => undefined);
}

const SPACES = Buffer.alloc(64 * 1024, ' ');

function* padded(body: Buffer, bytes: number): Generator<Buffer> {
  yield body;
  for (let missing = bytes - body.length; missing > 0; missing -= SPACES.length) yield SPACES.subarray(0, missing);
}
