import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../../src/http/client.js';
import { startNode, type Node } from './nodes.js';

const client = createClient('test');
let node: Node | undefined;

afterEach(async () => {
  await node?.close();
});

async function isNotServed(status: number, body: string): Promise<boolean> {
  node = await startNode({ respond: (_request, response) => void response.writeHead(status).end(body) });
  const result = await client.fetch({ url: { origin: node.url } }, '/x', { timeoutMs: 2000, maxBodyBytes: 1000 });
  return !result.ok && result.isNotServed === true;
}

const errorBody = (code: number, message: string): string => JSON.stringify({ code, message, details: [] });

describe('a response', () => {
  it.each([
    ['404 with a page', 404, '<html>default backend - 404</html>'],
    ['404 of a gateway', 404, errorBody(5, 'Not Found')],
    ['405', 405, ''],
    ['501', 501, errorBody(12, 'Not Implemented')],
    ['400 that says so', 400, errorBody(3, 'method not implemented')],
    ['500 with code 12', 500, errorBody(12, 'unknown method Block')],
  ])('says that the path is not served: %s', async (_, status, body) => {
    expect(await isNotServed(status, body)).toBe(true);
  });

  it.each([
    ['404 of an object', 404, errorBody(5, 'validator injvaloper1x not found')],
    ['400 of an argument', 400, errorBody(3, 'not found')],
    ['403', 403, 'no'],
    ['429', 429, ''],
    ['500', 500, errorBody(2, 'not found')],
    ['502', 502, '<html>'],
    ['200 of an error', 200, errorBody(12, 'Not Implemented')],
  ])('does not say that the path is not served: %s', async (_, status, body) => {
    expect(await isNotServed(status, body)).toBe(false);
  });
});
