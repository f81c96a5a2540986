import { clock } from '../support/clock.js';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createJobs, type PollJob } from '../../src/engine/jobs.js';
import { createNetwork } from '../../src/sources/network.js';
import type { PollResult } from '../../src/engine/step.js';
import { validators } from '../../src/queries/validator-queries.js';
import { createCanary, tracesOf } from '../e2e/canaries.js';
import { parseValidConfig } from '../support/config.js';
import { pollNode } from '../support/polls.js';
import { startNode } from './nodes.js';

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
