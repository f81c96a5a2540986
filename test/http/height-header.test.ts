import { clock } from '../support/clock.js';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createJobs } from '../../src/engine/jobs.js';
import { createNetwork } from '../../src/sources/network.js';
import { parseValidConfig } from '../support/config.js';
import { pollNode } from '../support/polls.js';
import { listen } from './nodes.js';

const network = createNetwork('test/1', clock);

const BODY = '{"state": {"last_observed_nonce": "1"}}';

const SDK = 'Grpc-Metadata-X-Cosmos-Block-Height';
const PLAIN = 'X-Cosmos-Block-Height';

interface Sent {
  readonly headers?: readonly string[];
  readonly body?: Buffer;
}

function respond(socket: Socket, { headers = [], body = Buffer.from(BODY) }: Sent): void {
  socket.write(['HTTP/1.1 200 OK', `Content-Length: ${body.length}`, ...headers, '', ''].join('\r\n'));
  socket.end(body);
}

/** The height of a polled document, and its invalid fields. */
async function heightOf(sent: Sent): Promise<{ readonly height?: number; readonly invalid: readonly string[] }> {
  const node = await listen(
    createServer((socket) => socket.once('data', () => respond(socket, sent))),
    'http',
  );
  const [job] = createJobs(parseValidConfig(`targets: [{name: t, bridge: {url: '${node.url}'}}]`));
  if (job === undefined) throw new Error('the target has a bridge');
  const { outcome } = await pollNode(network, job);
  if (!outcome.ok) throw new Error(outcome.error.message);
  const { height, errors } = outcome;
  return { ...(height !== undefined && { height: Number(height) }), invalid: Array.from(errors.invalid.keys()) };
}

describe('the height of a response', () => {
  it.each<[string, Sent]>([
    ['a header', { headers: [`${SDK}: 8000000`] }],
    ['the other header', { headers: [`${PLAIN}: 8000000`] }],
    ['a list of equal values', { headers: [`${SDK}: 8000000, 8000000`] }],
    ['equal values of both headers', { headers: [`${SDK}: 8000000`, `${PLAIN}:  8000000 `] }],
    ['an empty header beside the other', { headers: [`${SDK}:`, `${PLAIN}: 8000000`] }],
  ])('is read from %s', async (_title, sent) => {
    expect(await heightOf(sent)).toEqual({ height: 8_000_000, invalid: [] });
  });

  it.each<[string, Sent]>([
    ['no header', {}],
    ['an empty header', { headers: [`${SDK}: `] }],
  ])('is absent, which is no problem, with %s', async (_title, sent) => {
    expect(await heightOf(sent)).toEqual({ invalid: [] });
  });

  it.each<[string, Sent]>([
    ['0', { headers: [`${SDK}: 0`] }],
    ['another number than a height', { headers: [`${SDK}: 8000000.5`] }],
    ['text', { headers: [`${SDK}: latest`] }],
    ['more than 64 bits', { headers: [`${SDK}: 80000000000000000000`] }],
    ['a list of two values', { headers: [`${SDK}: 8000000, 8000001`] }],
    ['different values of both headers', { headers: [`${SDK}: 8000000`, `${PLAIN}: 8000001`] }],
  ])('is absent and a problem with %s', async (_title, sent) => {
    expect(await heightOf(sent)).toEqual({ invalid: ['X-Cosmos-Block-Height'] });
  });
});

describe('the content encoding of a response', () => {
  it.each<[string, readonly string[], Buffer]>([
    ['gzip', ['Content-Encoding: GZip'], gzipSync(BODY)],
    ['a list with identity', ['Content-Encoding: identity, gzip '], gzipSync(BODY)],
    ['the older name of gzip', ['Content-Encoding: x-gzip'], gzipSync(BODY)],
    ['an empty list', ['Content-Encoding: ,'], Buffer.from(BODY)],
  ])('can be %s', async (_title, headers, body) => {
    expect(await heightOf({ headers: [...headers, `${SDK}: 7`], body })).toEqual({ height: 7, invalid: [] });
  });
});
