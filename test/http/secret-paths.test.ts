import { clock } from '../support/clock.js';
import type { RequestListener, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { withoutBigint } from '../../src/chain/numeral.js';
import { createJobs, type PollJob } from '../../src/engine/jobs.js';
import { createNetwork } from '../../src/sources/network.js';
import type { PollResult } from '../../src/engine/step.js';
import { validators } from '../../src/queries/validator-queries.js';
import { createCanary, tracesOf } from '../e2e/canaries.js';
import { parseValidConfig } from '../support/config.js';
import { pollNode } from '../support/polls.js';
import { startNode } from './nodes.js';
import { startProxy } from './proxy.js';

/* API keys in the path of a URL, as hosted nodes have them: https://node.example/lcd/v1/KEY. */

const network = createNetwork('test/1', clock);

/** Polls the bridge of a node with a key in its path. */
async function poll(url: string, key: string, keys = ''): Promise<PollResult> {
  const path = `/lcd/v1/${encodeURIComponent(key)}`;
  const config = parseValidConfig(`targets: [{name: t, bridge: {url: '${url}${path}', dialect: peggy${keys}}}]`);
  return pollNode(network, createJobs(config)[0] as PollJob);
}

function messageOf({ outcome }: PollResult): string {
  return outcome.ok ? 'ok' : outcome.error.message.replace(/127\.0\.0\.1:\d+/g, 'HOST');
}

const PATH = '/peggy/v1/module_state';

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
  ['an error with status 200', (quote, response) => response.end(JSON.stringify({ message: `disabled: ${quote}` }))],
  ['a text with status 200', (quote, response) => response.end(`disabled: ${quote}`)],
];

describe('the key in the path of a URL', () => {
  it.each(responses)('is in no message of %s that quotes it', async (_title, send) => {
    const key = createCanary();
    const node = await startNode({
      respond: (request, response) => send(decodeURIComponent(request.url ?? ''), response),
    });
    const message = messageOf(await poll(node.url, key));
    expect(message).toMatch(/^HOST\/…\/peggy\/v1\/module_state: /);
    for (const trace of ['lcd', ...tracesOf(key)]) expect(message).not.toContain(trace);
  });

  it('is an ellipsis, after which the path of the document is shown', async () => {
    const key = 'k3y-0123456789';
    const shown = async (respond: RequestListener): Promise<string> =>
      messageOf(await poll((await startNode({ respond })).url, key));
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
    expect(messageOf(await poll('http://node.example', 'k3y', `, proxy_url: '${proxy.url}'`))).toBe(
      `node.example/…${PATH}: responded with status 503: cannot reach http://node.example/…${PATH}`,
    );
    const refusing = await startProxy({ authorization: 'Basic x' });
    expect(messageOf(await poll('https://node.example', 'k3y', `, proxy_url: '${refusing.url}'`))).toBe(
      `node.example/…${PATH}: request failed: proxy http://HOST: responded to CONNECT with status 407`,
    );
    expect(refusing.requestLines).toEqual(['CONNECT node.example:443']);
  });

  it('is in the request, and in nothing that is recorded of it', async () => {
    const node = await startNode({
      respond: (_request, response) => response.end('{"state": {"last_observed_nonce": "1"}}'),
    });
    const result = await poll(node.url, 'k3y');
    expect(node.requests.map(({ url }) => url)).toEqual([`/lcd/v1/k3y${PATH}`]);
    expect(result.servedPath).toEqual({ dialect: 'peggy', path: PATH });
    expect(JSON.stringify({ ...result, body: undefined }, withoutBigint)).not.toContain('k3y');
    expect(result.source?.replace(/:\d+/, '')).toBe(`127.0.0.1/…${PATH}`);
  });

  it('is in no message of a query besides the document', async () => {
    const node = await startNode({
      respond: ({ url = '' }, response) => response.writeHead(500).end(`no route to ${url}`),
    });
    const config = parseValidConfig(`targets: [{name: t, bridge: {url: '${node.url}/lcd/k3y'}}]`);
    const request = { key: '', path: '/cosmos/staking/v1beta1/validators?pagination.limit=1000' };
    const { result } = await network.query(createJobs(config)[0] as PollJob, validators, request);
    expect(result.ok ? '' : result.error.message.replace(/127\.0\.0\.1:\d+/, 'HOST')).toMatch(
      /^HOST\/…\/cosmos\/staking\/v1beta1\/validators: responded with status 500: no route to \/…\/cosmos\/staking\//,
    );
  });
});
