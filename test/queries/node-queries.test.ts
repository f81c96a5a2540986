import type { RequestListener, ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { dataPart } from '../../src/chain/addresses.js';
import { createModel } from '../../src/simulator/model.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { startNode, type Node } from '../http/nodes.js';
import { createPolledLoop, respondAs, type PolledLoop } from './polled-loop.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { waitFor, waitUntil } from '../support/wait-for.js';

const MINUTE_MS = 60_000;
const BLOCK_TIME = 'bridge_node_block_timestamp_seconds{target="a",document="module_state"}';
const FAILURES = 'bridge_exporter_node_query_failures_total{target="a",document="module_state",query="latest_block"}';

const model = createModel({ seed: 1, scenario: 'healthy', startTime: 1_800_000_000, blockTimeMs: 2000 });
let simulator: Simulator;
let polled: PolledLoop;
let node: Node | undefined;

beforeEach(async () => {
  simulator = await startTestSimulator({ model });
  polled = createPolledLoop();
  node = undefined;
});

const poll = (url: string, settings = '', timeout = '2s'): void =>
  polled.configure(`
poll: {interval: 100ms, timeout: ${timeout}, stale_after: 5m}
targets: [{name: a, bridge: {url: "${url}"${settings}}}]`);

const nextPolls = async (): Promise<void> => polled.nextPolls();
const logged = (): readonly string[] => polled.logged.map(({ msg }) => String(msg));
const exposition = (): string[] => polled.exposition().split('\n');
const valueOf = (series: string): string | undefined =>
  exposition()
    .find((line) => line.startsWith(`${series} `))
    ?.slice(series.length + 1);

/** A node with the simulated chain that responds to some paths in another way. */
async function nodeBefore(respond: (path: string) => RequestListener | undefined): Promise<Node> {
  node = await startNode({
    respond: (request, response) => {
      const own = respond(request.url ?? '');
      if (own !== undefined) return own(request, response);
      return respondAs(model)(request, response);
    },
  });
  return node;
}

const withStatus =
  (status: number, body = '{}'): RequestListener =>
  (_request, response) =>
    void response.writeHead(status).end(body);

const pollCrosschain = (url: string): void =>
  polled.configure(`
poll: {interval: 100ms, timeout: 2s}
targets: [{name: a, crosschain: {url: "${url}"}}]`);

const isBlock = (path: string): boolean => path.includes('/blocks/');
const requestsOfBlocks = (): number => (node?.requests ?? []).filter(({ url = '' }) => isBlock(url)).length;

describe('queries of the same node', () => {
  it('export the time of the newest block and whether the node is catching up', async () => {
    poll(simulator.url);
    await waitUntil(() => valueOf(BLOCK_TIME) !== undefined);
    expect(valueOf(BLOCK_TIME)).toBe('1800000000');
    await waitUntil(() => exposition().some((line) => line.startsWith('bridge_node_syncing')));
    expect(valueOf('bridge_node_syncing{target="a",document="module_state"}')).toBe('0');
    expect(valueOf(FAILURES)).toBe('0');
  });

  it('are sent to a node four at a time, those of all its endpoints together, and do not delay those to other nodes', async () => {
    const held: ServerResponse[] = [];
    const isDocument = (path: string): boolean => /module_state|rateLimiterInput/i.test(path);
    const { url } = await nodeBefore((path) =>
      isDocument(path) ? undefined : (_request, response) => void held.push(response),
    );
    polled.configure(`
poll: {interval: 100ms, timeout: 1m}
targets: [{name: b, bridge: {url: "${url}"}, crosschain: {url: "${url}"}}, {name: a, bridge: {url: "${simulator.url}"}}]`);
    await waitUntil(() => held.length === 4);
    await waitUntil(() => valueOf(BLOCK_TIME) !== undefined);
    await nextPolls();
    expect(held).toHaveLength(4);
    for (const response of held.splice(0)) response.writeHead(501).end('{}');
    // Four of the bridge, and six of the rate limiter input: that of the nonces waits for the key.
    for (const number of [4, 2]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await waitUntil(() => held.length === number);
      for (const response of held.splice(0)) response.writeHead(501).end('{}');
    }
    await nextPolls();
    expect(held).toEqual([]);
  });

  it('are not sent to a node that is behind', async () => {
    let height = 100;
    const { url } = await nodeBefore((path) =>
      path.includes('module_state')
        ? (_request, response) => {
            response.setHeader('X-Cosmos-Block-Height', height);
            response.end('{"state": {"last_observed_nonce": "1"}}');
          }
        : undefined,
    );
    poll(url);
    await waitUntil(() => requestsOfBlocks() === 1);
    // Two responses of a node behind fail, the third one is accepted.
    height = 99;
    polled.advance(2 * MINUTE_MS);
    await waitUntil(() => (polled.loop.states()[0]?.regressions ?? 0) === 2);
    expect(requestsOfBlocks()).toBe(1);
    await waitUntil(() => requestsOfBlocks() === 2);
    expect(polled.loop.states()[0]?.regressions).toBeGreaterThanOrEqual(3);
  });

  it('are not sent with node_queries off, and have no series', async () => {
    poll(simulator.url, ', node_queries: "off", validator_names: "off"');
    await nextPolls();
    await nextPolls();
    expect(simulator.requests).toMatchObject({ latest_block: 0, syncing: 0 });
    expect(exposition().filter((line) => line.includes('bridge_exporter_node_'))).toEqual([]);
    poll(simulator.url, ', node_queries: auto');
    await waitUntil(() => valueOf(BLOCK_TIME) !== undefined);
    poll(simulator.url, ', node_queries: "off"');
    expect(valueOf(BLOCK_TIME)).toBeUndefined();
  });

  it('are not known to the node after three refusals, and are sent again after an hour', async () => {
    const { url } = await nodeBefore((path) => (isBlock(path) ? withStatus(501) : undefined));
    poll(url);
    await waitUntil(() => requestsOfBlocks() === 1);
    for (const minutes of [1, 1, 20, 39]) {
      polled.advance(minutes * MINUTE_MS);
      // oxlint-disable-next-line no-await-in-loop -- one poll after the other
      await nextPolls();
    }
    expect(requestsOfBlocks()).toBe(3);
    expect(valueOf(FAILURES)).toBe('3');
    expect(valueOf(BLOCK_TIME)).toBeUndefined();
    expect(logged().filter((line) => line.includes('query'))).toEqual([
      `query of the node failed: ${new URL(url).host}/cosmos/base/tendermint/v1beta1/blocks/latest: responded with status 501`,
      'the node does not serve this query; the exporter tries the query again every hour',
    ]);
    polled.advance(MINUTE_MS);
    await waitUntil(() => requestsOfBlocks() === 4);
    await nextPolls();
    expect(valueOf(FAILURES)).toBe('3');
  });

  it('export the nonces of the present key with the poll after the key is known', async () => {
    pollCrosschain(simulator.url);
    await waitUntil(() => exposition().some((line) => line.startsWith('crosschain_nonce_low{')));
    expect(simulator.requests.tss).toBe(1);
  });

  it('about own validators are sent again when a proxy has refused the first ones, and are unknown meanwhile', async () => {
    const staking = new Set(model.bridge.stakingValidators().map((own) => dataPart(own.operator_address)));
    const registrations = model.moduleState().state.orchestrator_addresses;
    const orchestrator = registrations.find(({ sender }) => staking.has(dataPart(sender)))?.orchestrator ?? '';
    const isOwn = (path: string): boolean => /staking|bank|oracle/.test(path);
    let isReplaced = false;
    let answered: object = {};
    const { url } = await nodeBefore((path) => {
      if (!isReplaced) return isOwn(path) ? withStatus(404, '<html>default backend - 404</html>') : undefined;
      const validator = {
        operator_address: path.split('/').at(-1),
        jailed: true,
        status: 'BOND_STATUS_UNBONDING',
        ...answered,
      };
      return path.includes('/validators/') ? withStatus(200, JSON.stringify({ validator })) : undefined;
    });
    poll(url, `, watch: ["${orchestrator}"]`);
    const own = (name: string): string | undefined =>
      exposition()
        .find((line) => line.startsWith(`bridge_watched_${name}{`))
        ?.split(' ')
        .at(-1);
    await waitUntil(() => (node?.requests ?? []).filter(({ url: path = '' }) => isOwn(path)).length >= 3);
    await nextPolls();
    expect([own('validator_jailed'), own('orchestrator_balance_amount')]).toEqual([undefined, undefined]);
    const failed = exposition().filter((line) => /query_failures_total.* [1-9]/.test(line));
    expect(failed.map((line) => /query="(\w+)"/.exec(line)?.[1])).toEqual([
      'validators',
      'claim_position',
      'orchestrator_balance',
    ]);
    isReplaced = true;
    // Names first: without them, the operator address is not known.
    polled.advance(5 * MINUTE_MS);
    await nextPolls();
    polled.advance(MINUTE_MS);
    await waitUntil(() => own('validator_jailed') === '1');
    expect([own('validator_bonded'), own('validator_last_event_nonce')]).toEqual(['0', expect.stringMatching(/^\d+$/)]);
    // Of another validator.
    answered = { operator_address: 'hubvaloper1other', jailed: false };
    polled.advance(MINUTE_MS);
    await waitUntil(() => exposition().some((line) => /query_failures_total.*"staking_validator"} 1/.test(line)));
    expect(own('validator_jailed')).toBe('1');
  });

  it('that fail are counted and logged once, and their last answer stays until it is stale', async () => {
    let isFailing = false;
    const { url } = await nodeBefore((path) =>
      isFailing && isBlock(path) ? (_request, response) => response.writeHead(500).end('{}') : undefined,
    );
    poll(url);
    await waitUntil(() => valueOf(BLOCK_TIME) !== undefined);
    isFailing = true;
    for (const failures of ['1', '2', '3']) {
      polled.advance(MINUTE_MS);
      // oxlint-disable-next-line no-await-in-loop -- one failure after the other
      await waitFor(
        () => valueOf(FAILURES),
        (value) => value === failures,
      );
    }
    expect(valueOf(BLOCK_TIME)).toBe('1800000000');
    polled.advance(3 * MINUTE_MS);
    expect(valueOf(BLOCK_TIME)).toBeUndefined();
    const host = new URL(url).host;
    expect(logged().filter((line) => line.includes('query'))).toEqual([
      `query of the node failed: ${host}/cosmos/base/tendermint/v1beta1/blocks/latest: responded with status 500`,
    ]);
    isFailing = false;
    await waitUntil(() => valueOf(BLOCK_TIME) !== undefined);
    expect(logged().at(-1)).toBe('query of the node succeeds again');
  });

  it.each([
    ['of another type', '{"block": {"header": {"height": "12", "time": 5}}}', /a required field is missing or invalid/],
    ['of an error', '{"code": 2, "message": "x"}', /a required field is missing or invalid/],
    ['of 9 MB', JSON.stringify({ block: 'x'.repeat(9 * 2 ** 20) }), /the response is larger than 8MiB/],
  ])('are failures with a body %s, which costs only their own series', async (_, body, message) => {
    const { url } = await nodeBefore((path) =>
      isBlock(path) ? (_request, response) => response.end(body) : undefined,
    );
    // A busy machine takes seconds for 9 MB.
    poll(url, '', '1m');
    await waitFor(
      () => valueOf(FAILURES),
      (value) => value === '1',
    );
    expect(polled.loop.states()[0]?.queries.get('latest_block')?.failure?.message).toMatch(message);
    expect(valueOf(BLOCK_TIME)).toBeUndefined();
    expect(valueOf('bridge_exporter_poll_failures_total{target="a",document="module_state",reason="schema"}')).toBe(
      '0',
    );
    expect(valueOf('bridge_exporter_up{target="a",document="module_state"}')).toBe('1');
    await waitUntil(() => exposition().some((line) => line.startsWith('bridge_node_syncing')));
  });

  it('that never end delay no poll, and are not sent again meanwhile', async () => {
    const { url } = await nodeBefore((path) => (isBlock(path) ? () => undefined : undefined));
    // Longer than the test waits for polls.
    poll(url, '', '2m');
    await waitUntil(() => requestsOfBlocks() === 1);
    polled.advance(10 * MINUTE_MS);
    await nextPolls();
    await nextPolls();
    expect(requestsOfBlocks()).toBe(1);
    expect(valueOf('bridge_exporter_up{target="a",document="module_state"}')).toBe('1');
  });

  it('of an endpoint that a reload has removed are not sent any more, and change nothing', async () => {
    const waiting: ServerResponse[] = [];
    const { url } = await nodeBefore((path) =>
      isBlock(path) ? (_request, response) => void waiting.push(response) : undefined,
    );
    poll(url);
    await waitUntil(() => waiting.length === 1);
    polled.loop.reconcile([], polled.now().at);
    await new Promise<void>((resolve) => void waiting[0]?.end('{}', resolve));
    expect(polled.loop.states()).toEqual([]);
    // By the time that another endpoint has been polled, the response has arrived.
    poll(simulator.url, ', node_queries: "off", validator_names: "off"');
    await nextPolls();
    expect(valueOf(BLOCK_TIME)).toBeUndefined();
    expect(logged().filter((line) => line.includes('query'))).toEqual([]);
  });
});
