import { randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createPathRedactor } from '../../src/http/redaction.js';
import { jobsOf, type PollJob } from '../../src/poll/jobs.js';
import { createPollExecutor } from '../../src/poll/fetch.js';
import type { Poll } from '../../src/poll/poll.js';
import { validators, VALIDATORS_REQUEST } from '../../src/queries/validators.js';
import { createCanary, tracesOf } from '../e2e/canaries.js';
import { endpointUrl, parseValidConfig } from '../support/config.js';
import { pollNode } from '../support/polls.js';
import { startNode, type Node } from './nodes.js';
import { startProxy, type Proxy } from './proxy.js';

/* API keys in the path of a URL, as hosted nodes have them: https://node.example/lcd/v1/KEY. */

const executor = createPollExecutor('test/1');

const nodes: (Node | Proxy)[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map(async ({ close }) => close()));
});

async function start(respond: RequestListener): Promise<Node> {
  const node = await startNode({ respond });
  nodes.push(node);
  return node;
}

/** Polls the bridge of a node with a key in its path. */
async function poll(url: string, key: string, keys = '', prefix = '/lcd/v1/'): Promise<Poll> {
  const path = prefix + encodeURIComponent(key);
  const config = parseValidConfig(`targets: [{name: t, bridge: {url: '${url}${path}', dialect: peggy${keys}}}]`);
  return pollNode(executor, jobsOf(config)[0] as PollJob);
}

function messageOf({ outcome }: Poll): string {
  return outcome.ok ? 'ok' : outcome.error.message.replace(/127\.0\.0\.1:\d+/g, 'HOST');
}

const PATH = '/peggy/v1/module_state';

/** What servers quote of a request. */
const quotes: readonly (readonly [string, (request: IncomingMessage, key: string) => string])[] = [
  ['the path', ({ url = '' }) => url],
  ['the path without its first slash', ({ url = '' }) => url.slice(1)],
  ['the decoded path', ({ url = '' }) => decodeURIComponent(url)],
  ['the path in the query of a link', ({ url = '' }) => encodeURIComponent(url)],
  ['the key', (_request, key) => key],
  ['the key in a path of its own', (_request, key) => `/keys/${encodeURIComponent(key)}/usage`],
  ['the path in base64', ({ url = '' }) => Buffer.from(url).toString('base64')],
  ['the URL in base64', ({ url = '', headers }) => Buffer.from(`http://${headers.host}${url}`).toString('base64url')],
  [
    'the URL in hexadecimal digits',
    ({ url = '', headers }) => Buffer.from(`http://${headers.host}${url}`).toString('hex'),
  ],
  ['the key in base64', (_request, key) => Buffer.from(key).toString('base64')],
  ['the key in hexadecimal digits', (_request, key) => Buffer.from(key).toString('hex')],
];

const responses: readonly (readonly [string, (quote: string, response: ServerResponse) => void])[] = [
  ['a text', (quote, response) => response.writeHead(404).end(`Cannot GET ${quote}`)],
  [
    'JSON',
    (quote, response) => response.writeHead(403).end(JSON.stringify({ error: { message: `invalid: ${quote}` } })),
  ],
  [
    'a page',
    (quote, response) =>
      response.writeHead(502).end(`<title>${quote.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</title>`),
  ],
  ['a redirect', (quote, response) => response.writeHead(301, { location: encodeURI(`/login?from=${quote}`) }).end()],
  [
    'a page without HTML',
    (quote, response) => response.writeHead(502).end(quote.replaceAll('&', '&amp;').replaceAll('<', '&lt;')),
  ],
  ['an error with status 200', (quote, response) => response.end(JSON.stringify({ message: `disabled: ${quote}` }))],
  ['a text with status 200', (quote, response) => response.end(`disabled: ${quote}`)],
];

describe('the key in the path of a URL', () => {
  it.each(quotes)('is in no message when the node quotes %s', async (_title, quoteOf) => {
    // Most keys have only characters that no encoder changes. The position of a key decides how it looks in base64.
    const keys = [
      ['/lcd/v1/', createCanary()],
      ['/lcd/v1/', randomBytes(12).toString('hex')],
      ['/lc/v1/', randomBytes(12).toString('hex')],
    ] as const;
    for (const [title, send, prefix, key] of responses.flatMap(([...one]) =>
      keys.map((two) => [...one, ...two] as const),
    )) {
      // oxlint-disable-next-line no-await-in-loop -- one node at a time
      const node = await start((request, response) => send(quoteOf(request, key), response));
      // oxlint-disable-next-line no-await-in-loop
      const message = messageOf(await poll(node.url, key, '', prefix));
      expect(message, title).toMatch(/^HOST\/…\/peggy\/v1\/module_state: /);
      for (const trace of ['lcd', '/lc', ...tracesOf(key)]) expect(message, title).not.toContain(trace);
    }
  });

  it('is an ellipsis, after which the path of the document is shown', async () => {
    const key = 'k3y-0123456789';
    const shown = async (respond: RequestListener): Promise<string> =>
      messageOf(await poll((await start(respond)).url, key));
    expect(await shown(({ url }, response) => response.writeHead(500).end(`no route to ${url}`))).toBe(
      `HOST/…${PATH}: responded with status 500: no route to /…${PATH}`,
    );
    expect(
      await shown(({ url }, response) =>
        response.writeHead(308, { location: `https://lcd.example/v2/${key}-2${url}/` }).end(),
      ),
    ).toBe(
      `HOST/…${PATH}: responded with status 308, a redirect to https://lcd.example/v2/…-2/…${PATH}/, which is not followed`,
    );
    expect(
      await shown((_request, response) =>
        response.writeHead(308, { location: `https://lcd.example/other-key${PATH}?key=a` }).end(),
      ),
    ).toBe(
      `HOST/…${PATH}: responded with status 308, a redirect to https://lcd.example/…${PATH}, which is not followed`,
    );
    expect(await shown((_request, response) => response.end('[]'))).toContain(`HOST/…${PATH}: `);
  });

  it('is in no message of a proxy', async () => {
    const proxy = await startNode({
      respond: ({ url }, response) => response.writeHead(503).end(`cannot reach ${url}`),
    });
    nodes.push(proxy);
    expect(messageOf(await poll('http://node.example', 'k3y', `, proxy_url: '${proxy.url}'`))).toBe(
      `node.example/…${PATH}: responded with status 503: cannot reach http://node.example/…${PATH}`,
    );
    const refusing = await startProxy({ authorization: 'Basic x' });
    nodes.push(refusing);
    expect(messageOf(await poll('https://node.example', 'k3y', `, proxy_url: '${refusing.url}'`))).toBe(
      `node.example/…${PATH}: request failed: proxy http://HOST: responded to CONNECT with status 407`,
    );
    expect(refusing.requestLines).toEqual(['CONNECT node.example:443']);
  });

  it('is in the request, and in nothing that is recorded of it', async () => {
    const node = await start((_request, response) => response.end('{"state": {"last_observed_nonce": "1"}}'));
    const result = await poll(node.url, 'k3y');
    expect(node.requests.map(({ url }) => url)).toEqual([`/lcd/v1/k3y${PATH}`]);
    expect(result.foundPath).toEqual({ dialect: 'peggy', path: PATH });
    expect(JSON.stringify({ ...result, body: undefined })).not.toContain('k3y');
    expect(result.source?.replace(/:\d+/, '')).toBe(`127.0.0.1/…${PATH}`);
  });

  it('is in no message of a query besides the document', async () => {
    const node = await start(({ url = '' }, response) => response.writeHead(500).end(`no route to ${url}`));
    const config = parseValidConfig(`targets: [{name: t, bridge: {url: '${node.url}/lcd/k3y'}}]`);
    const result = await executor.sendQuery(jobsOf(config)[0] as PollJob, validators, VALIDATORS_REQUEST);
    expect(result.ok ? '' : result.error.message.replace(/127\.0\.0\.1:\d+/, 'HOST')).toMatch(
      /^HOST\/…\/cosmos\/staking\/v1beta1\/validators: responded with status 500: no route to \/…\/cosmos\/staking\//,
    );
  });
});

describe('createPathRedactor', () => {
  it.each([
    ['/lcd/v1/KEY', 'KEY is invalid, as a key of /lcd/v1/key/x', '… is invalid, as a … of /…/x'],
    ['/lcd/v1/abcd', 'abcdefgh is not abcd', 'abcdefgh is not …'],
    ['/lcd/v1/abcdefgh', 'x-abcdefghi', 'x-…i'],
    ['/lcd/v1', 'no lcd at /lcd/v1/peggy/v1/module_state', 'no lcd at /…/peggy/v1/module_state'],
    ['/peggy/0123456789', `GET /peggy/0123456789${PATH}`, `GET /…${PATH}`],
    ['', `GET ${PATH}`, `GET ${PATH}`],
  ])('of %s replaces the path and its distinctive parts', (path, text, expected) => {
    expect(createPathRedactor(endpointUrl(`https://node.example${path}`), PATH)(text)).toBe(expected);
  });
});
