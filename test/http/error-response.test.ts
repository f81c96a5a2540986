import { describe, expect, it } from 'vitest';
import { chooseRemedy, remedies } from '../../src/http/failure-reasons.js';
import { sendTo, outcome, startNode, type Node } from './nodes.js';

let node: Node;

type Keys = Readonly<Record<string, unknown>>;

const CHALLENGE = '<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>…</body></html>';
const USER_AGENT: Keys = { http_headers: { 'User-Agent': { values: ['Mozilla/5.0'] } } };

async function start(status: number, body: string, headers: Record<string, string> = {}): Promise<string> {
  node = await startNode({ respond: (_request, response) => response.writeHead(status, headers).end(body) });
  return node.url;
}

/** What the status page shows for a response to a request with these settings. */
async function shown(...[status, body, keys = {}, headers]: [number, string, Keys?, Record<string, string>?]) {
  const url = await start(status, body, headers);
  const result = await sendTo(url, keys);
  if (result.ok) throw new Error('the request succeeded');
  const { error } = result;
  return { message: error.message.replace(/^.*?\/state: /, ''), remedy: chooseRemedy(error) };
}

describe('an error response', () => {
  it.each<[string, number, string, string]>([
    [
      'the message of JSON-RPC',
      500,
      '{"error": {"message": "upstream is down"}}',
      'responded with status 500: upstream is down',
    ],
    ['the message of a gateway', 500, '{"code": 2, "message": "panic"}', 'responded with status 500: panic'],
    ['a short text', 503, 'no healthy upstream\n', 'responded with status 503: no healthy upstream'],
    ['an error in JSON', 402, '{"error": "Out of credit"}', 'responded with status 402: Out of credit'],
    ['nothing of a page', 403, CHALLENGE, 'responded with status 403'],
    ['nothing', 521, '', 'responded with status 521'],
    ['hidden characters', 500, '{"error": "a\\u202E\\nb"}', 'responded with status 500: a b'],
    ['a long text', 500, `${'word '.repeat(100)}end`, `responded with status 500: ${'word '.repeat(39)}word…`],
  ])('shows %s of the server, on one line', async (_title, status, body, message) => {
    expect((await shown(status, body)).message).toBe(message);
  });
});

describe('the remedy of an error response', () => {
  it.each<[string, string, Parameters<typeof shown>]>([
    ['status 403', chooseRemedy({ reason: 'unauthorized' }), [403, CHALLENGE]],
    ['a message about a parameter', chooseRemedy({ reason: 'bad_request' }), [400, '{"code": 3, "message": "window"}']],
    ['an unknown path', chooseRemedy({ reason: 'status' }), [404, '404 page not found']],
    ['a redirect', remedies.redirect, [301, '', {}, { location: 'https://other.example/' }]],
    ['a proxy', remedies.proxyCredentials, [407, '']],
    ['throttling', chooseRemedy({ reason: 'rate_limited' }), [429, CHALLENGE]],
    [
      'a document that is too large for the node',
      chooseRemedy({ reason: 'response_too_large_upstream' }),
      [429, '{"code": 8, "message": "grpc: received message larger than max (20 vs. 10)"}'],
    ],
  ])('is that of the status, or of the reason: %s', async (_title, remedy, response) => {
    expect((await shown(...response)).remedy).toBe(remedy);
  });
});

describe('the Retry-After of an error response', () => {
  const inTwoMinutes = new Date(Date.now() + 120_000).toUTCString();

  it.each<[number, number | undefined, string]>([
    [429, 90_000, '90'],
    [503, 90_000, '90'],
    [503, 120_000, inTwoMinutes],
    [500, undefined, '90'],
    [429, undefined, '0'],
    [429, undefined, '-5'],
    [429, undefined, 'soon'],
    [429, undefined, new Date(0).toUTCString()],
  ])('of status %i is %o ms: %s', async (status, expected, value) => {
    const result = await sendTo(await start(status, '', { 'retry-after': value }), {});
    if (result.ok) throw new Error('the request succeeded');
    const { retryAfterMs } = result.error;
    if (value !== inTwoMinutes) expect(retryAfterMs).toBe(expected);
    else expect(Math.abs((retryAfterMs ?? 0) - 120_000)).toBeLessThan(30_000);
  });
});

describe('the name of the client', () => {
  it('is set with http_headers', async () => {
    const url = await start(200, '{}');
    expect(await outcome(url, {})).toBe('ok');
    expect(await outcome(url, USER_AGENT)).toBe('ok');
    expect(node.requests.map(({ headers }) => headers['user-agent'])).toEqual(['test/1', 'Mozilla/5.0']);
  });
});

describe('an error response that says that the path is not served', () => {
  const errorBody = (code: number, message: string): string => JSON.stringify({ code, message, details: [] });

  it.each<[boolean, string, number, string]>([
    [true, '404 with a page', 404, '<html>default backend - 404</html>'],
    [true, '404 of a gateway', 404, errorBody(5, 'Not Found')],
    [true, '405', 405, ''],
    [true, '501', 501, errorBody(12, 'Not Implemented')],
    [true, '500 with code 12', 500, errorBody(12, 'unknown method Block')],
    [false, '404 of an object', 404, errorBody(5, 'validator injvaloper1x not found')],
    [false, '400 of an argument', 400, errorBody(3, 'not found')],
    [false, '403', 403, 'no'],
    [false, '429', 429, ''],
    [false, '500', 500, errorBody(2, 'not found')],
    [false, '502', 502, '<html>'],
  ])('%s: %s', async (isPathNotServed, _title, status, body) => {
    expect(await sendTo(await start(status, body), {})).toMatchObject({ ok: false, isPathNotServed });
  });
});
