import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline, Readable, type Transform } from 'node:stream';
import { createGzip, gzip } from 'node:zlib';
import { dropField, type JsonValue, setField } from './field-path.js';
import { errorResponse, GRPC_CODES, HEIGHT_HEADER, type QueryResponse } from './query-service.js';

/*
 * How a response is sent, and every way in which it can go wrong between a node and its client.
 */

export type Fault = ContentFault | TransportFault;

/** A complete HTTP response with the wrong content. */
type ContentFault =
  /** Another status code; without `body` the usual error body `{code, message, details}`. */
  | {
      readonly kind: 'status';
      readonly code: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'redirect'; readonly location: string }
  /** `text`, or by default the HTML error page of a reverse proxy. */
  | { readonly kind: 'not-json'; readonly text?: string }
  | { readonly kind: 'empty' }
  /** `Content-Encoding: gzip` with a body that is not compressed. */
  | { readonly kind: 'bad-encoding' }
  /** JSON with one invalid UTF-8 sequence in a string. */
  | { readonly kind: 'invalid-utf8' }
  /** Another value of the height header; null removes the header. */
  | { readonly kind: 'height'; readonly value: string | null }
  /** Removes or replaces a field, such as `state.valsets[0].members[*].power`. */
  | { readonly kind: 'drop'; readonly path: string }
  | { readonly kind: 'set'; readonly path: string; readonly value: JsonValue };

/** A response that is incomplete, too slow, too large or not HTTP. */
type TransportFault =
  /** Sends nothing, not even headers. */
  | { readonly kind: 'hang' }
  /** Sends headers and half of the body, then nothing. */
  | { readonly kind: 'stall' }
  /** Sends the body in small chunks, so that no single gap is long. */
  | { readonly kind: 'drip'; readonly bytes: number; readonly everyMs: number }
  /** Closes the connection in the middle of the body. */
  | { readonly kind: 'truncate' }
  /** Appends whitespace up to this size: valid JSON, but too large. */
  | { readonly kind: 'oversize'; readonly bytes: number }
  /** Like `oversize`, but compressed. `bytes` is the decoded size. */
  | { readonly kind: 'gzip-bomb'; readonly bytes: number }
  /** Sends bytes that are not HTTP. */
  | { readonly kind: 'garbage' }
  /** Resets the connection. */
  | { readonly kind: 'reset' };

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Sends the response with the fault. An unfinished response ends when the connection is closed. */
export function sendResponse(exchange: Exchange, content: QueryResponse, fault: Fault | undefined): void {
  const { response } = exchange;
  if (fault === undefined) return send(exchange, content);
  switch (fault.kind) {
    case 'hang':
      return;
    case 'stall':
      return sendHalf(response, content);
    case 'truncate':
      return sendHalf(response, content, () => response.destroy());
    case 'drip':
      return sendInChunks(response, content, fault.bytes, fault.everyMs);
    case 'oversize':
      return sendPadded(response, content, fault.bytes);
    case 'gzip-bomb':
      return sendPadded(response, content, fault.bytes, createGzip());
    case 'garbage':
      response.socket?.end('SSH-2.0-simulated\r\n');
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'status':
    case 'redirect':
    case 'not-json':
    case 'empty':
    case 'bad-encoding':
    case 'invalid-utf8':
    case 'height':
    case 'drop':
    case 'set':
      return send(exchange, withContentFault(content, fault));
  }
}

/** A lead byte without its continuation byte. */
const INVALID_UTF8 = Buffer.from([0xc3, 0x28]);
const PROXY_ERROR_PAGE =
  '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>';

function withContentFault(content: QueryResponse, fault: ContentFault): QueryResponse {
  switch (fault.kind) {
    case 'status':
      return withStatus(fault.code, fault.body, fault.headers ?? {});
    case 'redirect':
      return { status: 302, headers: { Location: fault.location }, body: Buffer.alloc(0) };
    case 'not-json':
      return fault.text === undefined ? withErrorPage(content) : { ...content, body: Buffer.from(fault.text) };
    case 'empty':
      return { ...content, body: Buffer.alloc(0) };
    case 'bad-encoding':
      return { ...content, headers: { ...content.headers, 'Content-Encoding': 'gzip' } };
    case 'invalid-utf8':
      return { ...content, body: withInvalidUtf8(content.body) };
    case 'height':
      return { ...content, headers: withHeight(content.headers, fault.value) };
    case 'drop':
      return withEditedDocument(content, (document) => dropField(document, fault.path));
    case 'set':
      return withEditedDocument(content, (document) => setField(document, fault.path, fault.value));
  }
}

function withStatus(status: number, body: string | undefined, headers: QueryResponse['headers']): QueryResponse {
  const usual = errorResponse(status, GRPC_CODES.UNKNOWN, 'simulated failure');
  return {
    status,
    headers: { ...usual.headers, ...headers },
    body: body === undefined ? usual.body : Buffer.from(body),
  };
}

function withErrorPage(content: QueryResponse): QueryResponse {
  const headers = { ...content.headers, 'Content-Type': 'text/html' };
  return { ...content, headers, body: Buffer.from(PROXY_ERROR_PAGE) };
}

/** Inserts the bytes in the first string of the document, where a lenient decoder accepts them. */
function withInvalidUtf8(body: Buffer): Buffer {
  const position = body.indexOf(':"') + 2;
  return Buffer.concat([body.subarray(0, position), INVALID_UTF8, body.subarray(position)]);
}

function withHeight(headers: QueryResponse['headers'], height: string | null): QueryResponse['headers'] {
  const { [HEIGHT_HEADER]: _replaced, ...others } = headers;
  return height === null ? others : { ...others, [HEIGHT_HEADER]: height };
}

/** A field that does not exist is a mistake in a test, which the response reports. */
function withEditedDocument(content: QueryResponse, edit: (document: JsonValue) => void): QueryResponse {
  const document: JsonValue = JSON.parse(content.body.toString());
  try {
    edit(document);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return errorResponse(500, GRPC_CODES.INTERNAL, `simulated fault: ${message}`);
  }
  return { ...content, body: Buffer.from(JSON.stringify(document)) };
}

function send({ request, response }: Exchange, { status, headers, body }: QueryResponse): void {
  const isEncoded = 'Content-Encoding' in headers;
  if (isEncoded || body.length === 0 || !acceptsGzip(request.headers['accept-encoding'])) {
    response.writeHead(status, { ...headers, 'Content-Length': body.length }).end(body);
    return;
  }
  gzip(body, (error, compressed) => {
    if (error) throw error;
    const encoding = { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding', 'Content-Length': compressed.length };
    response.writeHead(status, { ...headers, ...encoding }).end(compressed);
  });
}

/** Matches `gzip` and `x;q=0.5, gzip;q=0.8`, but not `gzip;q=0`. */
function acceptsGzip(acceptEncoding: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(acceptEncoding));
}

function sendHalf(response: ServerResponse, { status, headers, body }: QueryResponse, onSent?: () => void): void {
  response.writeHead(status, { ...headers, 'Content-Length': body.length });
  response.write(body.subarray(0, Math.floor(body.length / 2)), onSent);
}

function sendInChunks(
  response: ServerResponse,
  { status, headers, body }: QueryResponse,
  bytes: number,
  everyMs: number,
): void {
  response.writeHead(status, { ...headers, 'Content-Length': body.length });
  let sent = 0;
  const timer = setInterval(() => {
    response.write(body.subarray(sent, sent + bytes));
    sent += bytes;
    if (sent >= body.length) response.end();
  }, everyMs);
  response.once('close', () => clearInterval(timer));
}

/** The padding is generated while it is read, so it takes no memory. */
function sendPadded(
  response: ServerResponse,
  { status, headers, body }: QueryResponse,
  bytes: number,
  compressor?: Transform,
): void {
  const encoding: OutgoingHttpHeaders = compressor ? { 'Content-Encoding': 'gzip' } : {};
  response.writeHead(status, { ...headers, ...encoding });
  const source = Readable.from(padded(body, bytes));
  if (compressor) pipeline(source, compressor, response, ignoreDisconnect);
  else pipeline(source, response, ignoreDisconnect);
}

/** A client that disconnects early is expected here. */
function ignoreDisconnect(): void {}

const SPACES = Buffer.alloc(64 * 1024, ' ');

function* padded(body: Buffer, bytes: number): Generator<Buffer> {
  yield body;
  for (let missing = bytes - body.length; missing > 0; missing -= SPACES.length) yield SPACES.subarray(0, missing);
}
