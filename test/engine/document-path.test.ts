import { remedies } from '../../src/http/failure-reasons.js';
import { clock } from '../support/clock.js';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { DocumentPath } from '../../src/chain/dialects.js';
import type { Failure } from '../../src/http/failure-reasons.js';
import { createNetwork } from '../../src/sources/network.js';
import { createJobs, type PollJob } from '../../src/engine/jobs.js';
import type { PollResult } from '../../src/engine/step.js';
import { firstSnapshot } from '../support/snapshots.js';
import { startNode, type Node } from '../http/nodes.js';
import { parseValidConfig } from '../support/config.js';
import { PEGGY_NAMES, withNames, ZETA_NAMES } from '../support/dialect-names.js';
import { pollNode } from '../support/polls.js';
import { sampleModel } from '../support/sample-endpoints.js';
import { waitUntil } from '../support/wait-for.js';

/*
 * How the dialect `auto` finds a document, on nodes that respond like those of public chains.
 */

const PEGGY = '/peggy/v1/module_state';
const NEUTRAL = '/bridge/v1/module_state';
const ZETA = '/zeta-chain/crosschain/rateLimiterInput';

const model = sampleModel();
const injectiveState = JSON.stringify(withNames(model.moduleState(), PEGGY_NAMES, () => true));
const zetaInput = JSON.stringify(withNames(model.rateLimiterInput({ window: 500n }), ZETA_NAMES, () => true));

/** How a node responds to one request. */
type Respond = (response: ServerResponse, request: IncomingMessage) => void;

const sendJson =
  (status: number, body: string): Respond =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'grpc-metadata-x-cosmos-block-height': '7' });
    response.end(body);
  };
const notImplemented = sendJson(501, '{"code":12,"message":"Not Implemented","details":[]}');
const notFound = sendJson(404, '<html>404</html>');
const found = sendJson(200, injectiveState);
const serverError = sendJson(500, '{"code":13,"message":"panic"}');
const reset: Respond = (response) => void response.socket?.resetAndDestroy();
const hang: Respond = () => undefined;
/** Sends the status and a part of the body. */
const stall =
  (status: number): Respond =>
  (response) => {
    response.writeHead(status, { 'content-length': 1000 });
    response.write('{"code":5,');
  };

/** A node with these paths. It responds with 501 to all others, as a gRPC gateway does. */
function withPaths(paths: Readonly<Record<string, Respond>>): RequestListener {
  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    (paths[path] ?? notImplemented)(response, request);
  };
}

/** Like ZetaChain, it responds with 400 to a request without a window. */
const zetaNode: Respond = (response, request) => {
  const window = new URL(request.url ?? '', 'http://node').searchParams.get('window');
  if (Number(window) > 0) sendJson(200, zetaInput)(response, request);
  else sendJson(400, '{"code":3,"message":"window must be positive","details":[]}')(response, request);
};

const network = createNetwork('test/1', clock);

const nodeWith = async (respond: RequestListener): Promise<Node> => startNode({ respond });

const urlsOf = (node: Node): (string | undefined)[] => node.requests.map(({ url }) => url);

function jobOf(url: string, endpoint: 'bridge' | 'crosschain', settings = '', timeout = '5s'): PollJob {
  const yaml = `poll: {timeout: ${timeout}}\ntargets: [{name: a, ${endpoint}: {url: "${url}"${settings}}}]`;
  const [job] = createJobs(parseValidConfig(yaml));
  if (job === undefined) throw new Error('the configuration has one endpoint');
  return job;
}

const poll = async (job: PollJob): Promise<PollResult> => pollNode(network, job);

/** `ok`, or the reason and the message without the host. */
const outcomeOf = ({ outcome }: { readonly outcome: { readonly ok: true } | Failure }): string =>
  outcome.ok ? 'ok' : `${outcome.error.reason}: ${outcome.error.message.replaceAll(/127\.0\.0\.1:\d+(?=\/)/g, '')}`;

function familyNames(polled: PollResult, { context }: PollJob): string[] {
  if (!polled.outcome.ok) return [];
  const { renderedFamilies } = firstSnapshot(polled, context);
  return renderedFamilies.filter(({ text }) => text !== '').map(({ name }) => name);
}

describe('a poll with the dialect auto', () => {
  it('finds the document of a node of Injective with one request', async () => {
    const node = await nodeWith(withPaths({ [PEGGY]: found }));
    const job = jobOf(node.url, 'bridge');
    const result = await poll(job);
    expect(outcomeOf(result)).toBe('ok');
    expect(result.servedPath).toEqual({ dialect: 'peggy', path: PEGGY });
    expect(familyNames(result, job)).toContain('bridge_orchestrator_power_ratio');
    expect(urlsOf(node)).toEqual([PEGGY]);
  });

  it('finds the document of a node of ZetaChain, which requires a window, with one request', async () => {
    const node = await nodeWith(withPaths({ [ZETA]: zetaNode }));
    const job = jobOf(node.url, 'crosschain');
    const result = await poll(job);
    expect(outcomeOf(result)).toBe('ok');
    expect(result.servedPath).toEqual({ dialect: 'zeta', path: ZETA });
    expect(familyNames(result, job)).toContain('crosschain_rate_limit_window_blocks');
    expect(urlsOf(node)).toEqual([`${ZETA}?window=500`]);
  });

  it('appends the path to that of the base URL, and reports it without', async () => {
    const node = await nodeWith(withPaths({ [`/lcd/key${NEUTRAL}`]: found }));
    const result = await poll(jobOf(`${node.url}/lcd/key`, 'bridge'));
    expect(result.servedPath).toEqual({ dialect: 'neutral', path: NEUTRAL });
    expect(urlsOf(node)).toEqual([`/lcd/key${PEGGY}`, `/lcd/key${NEUTRAL}`]);
  });

  it.each([
    ['501', notImplemented],
    ['404', notFound],
  ])('requests the next path after status %s', async (_status, first) => {
    const node = await nodeWith(withPaths({ [PEGGY]: first, [NEUTRAL]: found }));
    expect(outcomeOf(await poll(jobOf(node.url, 'bridge')))).toBe('ok');
    expect(urlsOf(node)).toEqual([PEGGY, NEUTRAL]);
  });

  it('lists all paths in the error when the node knows none of them', async () => {
    const node = await nodeWith(withPaths({ [PEGGY]: notFound }));
    const result = await poll(jobOf(node.url, 'bridge'));
    expect(outcomeOf(result)).toBe(
      `status: ${PEGGY}: responded with status 404; ${NEUTRAL}: responded with status 501: Not Implemented`,
    );
    expect(result.servedPath).toBeUndefined();
    expect(urlsOf(node)).toEqual([PEGGY, NEUTRAL]);
  });

  it('has the remedy of a response that ends too early', async () => {
    const node = await nodeWith(withPaths({ [PEGGY]: sendJson(200, '{"state":{"valsets":[') }));
    const { outcome } = await poll(jobOf(node.url, 'bridge'));
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        reason: 'not_json',
        message: expect.stringContaining('not valid JSON: it ends after 21 characters'),
        remedy: remedies.truncated,
      },
    });
  });

  it.each<[title: string, respond: Respond, outcome: string]>([
    ['status 500', serverError, 'status: PATH: responded with status 500: panic'],
    ['status 400', sendJson(400, '{"message":"window"}'), 'bad_request: PATH: responded with status 400: window'],
    ['a reset connection', reset, 'aborted: PATH: connection lost: read ECONNRESET'],
    ['a stalled body', stall(200), 'timeout: PATH: timed out after 500 ms (poll.timeout)'],
    [
      'another document',
      sendJson(200, '{"code":5}'),
      'schema: PATH: not a module_state document: none of its fields is present',
    ],
  ])('requests no further path after %s', async (_title, respond, outcome) => {
    const first = await nodeWith(withPaths({ [PEGGY]: respond, [NEUTRAL]: found }));
    expect(outcomeOf(await poll(jobOf(first.url, 'bridge', '', '500ms')))).toBe(outcome.replace('PATH', PEGGY));
    expect(urlsOf(first)).toEqual([PEGGY]);

    const second = await nodeWith(withPaths({ [NEUTRAL]: respond }));
    expect(outcomeOf(await poll(jobOf(second.url, 'bridge', '', '500ms')))).toBe(outcome.replace('PATH', NEUTRAL));
    expect(urlsOf(second)).toEqual([PEGGY, NEUTRAL]);
  });

  it('does not take the status of a proxy for that of the node', async () => {
    const proxy = await nodeWith(withPaths({}));
    const job = jobOf('https://node.example', 'bridge', `, proxy_url: "${proxy.url}"`);
    expect(outcomeOf(await poll(job))).toMatch(new RegExp(`^\\w+: node\\.example${PEGGY}: request failed: proxy `));
  });

  it.each([404, 501])('requests the next path in time when the body of status %i stalls', async (status) => {
    const node = await nodeWith(withPaths({ [PEGGY]: stall(status), [NEUTRAL]: found }));
    expect(outcomeOf(await poll(jobOf(node.url, 'bridge', '', '1s')))).toBe('ok');
    expect(urlsOf(node)).toEqual([PEGGY, NEUTRAL]);
    await waitUntil(() => node.connections.open === 0);
  });

  it('has one deadline for all paths', async () => {
    const slowly: Respond = (response, request) => {
      setTimeout(() => notImplemented(response, request), 700);
    };
    const node = await nodeWith(withPaths({ [PEGGY]: slowly, [NEUTRAL]: hang }));
    const started = performance.now();
    const result = await poll(jobOf(node.url, 'bridge', '', '1s'));
    const elapsedMs = performance.now() - started;
    expect(outcomeOf(result)).toBe(`timeout: ${NEUTRAL}: timed out after 1000 ms (poll.timeout)`);
    expect(elapsedMs).toBeGreaterThan(950);
    // Each path with its own deadline would take 1700 ms.
    expect(elapsedMs).toBeLessThan(1600);
    expect(result.phaseSeconds.fetch).toBeGreaterThan(0.95);
  });
});

describe('a poll with another dialect', () => {
  it.each([
    ['peggy', PEGGY],
    ['neutral', NEUTRAL],
  ])('requests only the path of %s', async (dialect, path) => {
    const other = path === PEGGY ? NEUTRAL : PEGGY;
    const node = await nodeWith(withPaths({ [other]: found }));
    const job = jobOf(node.url, 'bridge', `, dialect: ${dialect}`);
    expect(outcomeOf(await poll(job))).toBe(`status: ${path}: responded with status 501: Not Implemented`);
    expect(urlsOf(node)).toEqual([path]);

    const own = await nodeWith(withPaths({ [path]: found }));
    const result = await poll(jobOf(own.url, 'bridge', `, dialect: ${dialect}`));
    expect(result.servedPath).toEqual({ dialect, path });
  });
});

describe('a poll after the document was found', () => {
  const NEUTRAL_PATH: DocumentPath = { dialect: 'neutral', path: NEUTRAL };

  it.each<[string, Respond, string, readonly string[]]>([
    ['only there while it is there', found, 'ok', [NEUTRAL]],
    [
      'only there after another failure',
      serverError,
      `status: ${NEUTRAL}: responded with status 500: panic`,
      [NEUTRAL],
    ],
    ['there first, and where it was moved', notFound, 'ok', [NEUTRAL, PEGGY]],
  ])('requests it %s', async (_title, respond, outcome, urls) => {
    const node = await nodeWith(withPaths({ [PEGGY]: found, [NEUTRAL]: respond }));
    const result = await pollNode(network, jobOf(node.url, 'bridge'), { servedPath: NEUTRAL_PATH });
    expect(outcomeOf(result)).toBe(outcome);
    expect(urlsOf(node)).toEqual(urls);
  });
});

it('a response that arrives after a suspension of the machine is too late, because its height is not of now', async () => {
  let now = { at: 1_790_000_000, clockOffset: 0 };
  const node = await startNode({
    respond: (request, response) => {
      now = { ...now, at: now.at + (request.url?.startsWith('/suspended') === true ? 3 * 3600 : 20) };
      found(response, request);
    },
  });
  const pollAt = async (path: string) => {
    const own = createNetwork('test', () => now);
    const [job] = createJobs(parseValidConfig(`targets: [{name: t, bridge: {url: "${node.url}${path}"}}]`));
    if (job === undefined) throw new Error('the configuration has an endpoint');
    const { outcome } = await pollNode(own, job);
    own.close();
    return outcome.ok ? 'ok' : outcome.error.reason;
  };
  expect([await pollAt('/slow'), await pollAt('/suspended')]).toEqual(['ok', 'timeout']);
});
