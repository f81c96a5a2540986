import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline, Readable, type Transform } from 'node:stream';
import { createGzip, gzip } from 'node:zlib';
import { alterAnswer } from './altered-answer.js';
import type { Answer } from './answer.js';
import type { Fault } from './faults.js';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const SPACES = Buffer.alloc(64 * 1024, ' ');

/** Sends the answer, the way the fault has it. Whatever it leaves open ends with the connection. */
export function deliver(exchange: Exchange, answer: Answer, fault: Fault | undefined): void {
  const { response } = exchange;
  if (fault === undefined) return send(exchange, answer);
  switch (fault.kind) {
    case 'hang':
      return;
    case 'stall':
      return sendHalf(response, answer);
    case 'truncate':
      return sendHalf(response, answer, () => response.destroy());
    case 'drip':
      return drip(response, answer, fault.bytes, fault.everyMs);
    case 'oversize':
      return sendPadded(response, answer, fault.bytes);
    case 'gzip-bomb':
      return sendPadded(response, answer, fault.bytes, createGzip());
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
      return send(exchange, alterAnswer(answer, fault));
  }
}

function send({ request, response }: Exchange, { status, headers, body }: Answer): void {
  const isEncoded = 'Content-Encoding' in headers;
  if (isEncoded || body.length === 0 || !acceptsGzip(request.headers['accept-encoding'])) {
    response.writeHead(status, { ...headers, 'Content-Length': body.length }).end(body);
    return;
  }
  gzip(body, (error, zipped) => {
    if (error) throw error;
    const encoding = { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding', 'Content-Length': zipped.length };
    response.writeHead(status, { ...headers, ...encoding }).end(zipped);
  });
}

/** Of `gzip`, `x;q=0.5, gzip;q=0.8` and the like; `gzip;q=0` is a refusal. */
function acceptsGzip(acceptEncoding: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(acceptEncoding));
}

function sendHalf(response: ServerResponse, { status, headers, body }: Answer, next?: () => void): void {
  response.writeHead(status, { ...headers, 'Content-Length': body.length });
  response.write(body.subarray(0, Math.floor(body.length / 2)), next);
}

function drip(response: ServerResponse, { status, headers, body }: Answer, bytes: number, everyMs: number): void {
  response.writeHead(status, { ...headers, 'Content-Length': body.length });
  let sent = 0;
  const dripping = setInterval(() => {
    response.write(body.subarray(sent, sent + bytes));
    sent += bytes;
    if (sent >= body.length) response.end();
  }, everyMs);
  response.once('close', () => clearInterval(dripping));
}

/** White space after the document keeps it valid JSON. It is made as it is read, so any size costs no memory. */
function sendPadded(response: ServerResponse, { status, headers, body }: Answer, bytes: number, zip?: Transform): void {
  const encoding: OutgoingHttpHeaders = zip ? { 'Content-Encoding': 'gzip' } : {};
  response.writeHead(status, { ...headers, ...encoding });
  const source = Readable.from(padded(body, bytes));
  if (zip) pipeline(source, zip, response, noteEnd);
  else pipeline(source, response, noteEnd);
}

/** A reader that has seen enough hangs up, which is no failure here. */
function noteEnd(): void {}

function* padded(body: Buffer, bytes: number): Generator<Buffer> {
  yield body;
  for (let missing = bytes - body.length; missing > 0; missing -= SPACES.length) yield SPACES.subarray(0, missing);
}
