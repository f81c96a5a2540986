import { describe, expect, it } from 'vitest';
import { createExternalChain, HEIGHT, IMPLEMENTATION, OWNER } from './external-chain.js';
import { configOf, DENOM, HUB_HEIGHT, pollContract, SECRET, state, TOKEN } from './bridge-target.js';
import { RpcError, startRpcNode, type RpcNodeOptions } from './rpc-node.js';
import { formatConfig } from '../../src/config/loader.js';
import { pastOf, type EndpointState } from '../../src/engine/endpoint-state.js';

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

const supplyPath = `/cosmos/bank/v1beta1/supply/by_denom?denom=${DENOM}`;
const blockPath = `/cosmos/base/tendermint/v1beta1/blocks/${HUB_HEIGHT}`;

/** The state in which the balances were read so many minutes earlier. */
function withBackingOf(endpoint: EndpointState, minutes: number): EndpointState {
  const { lastSuccess } = endpoint;
  const past = pastOf('external_contract', lastSuccess?.snapshot);
  if (lastSuccess === undefined || past === undefined) throw new Error('no reading');
  const { backing } = past;
  if (backing === undefined) throw new Error('no balances');
  const at = backing.at - minutes * 60;
  const snapshot = { ...lastSuccess.snapshot, past: { ...past, backing: { ...backing, at } } };
  return { ...endpoint, lastSuccess: { ...lastSuccess, snapshot } };
}

/** The state in which the owner was read so many minutes earlier. */
function withInfoOf(endpoint: EndpointState, minutes: number): EndpointState {
  const { lastSuccess } = endpoint;
  const past = pastOf('external_contract', lastSuccess?.snapshot);
  if (lastSuccess === undefined || past?.info.readAt === undefined) throw new Error('the owner was not read');
  const readAt = past.info.readAt - minutes * 60;
  const snapshot = { ...lastSuccess.snapshot, past: { ...past, info: { ...past.info, readAt } } };
  return { ...endpoint, lastSuccess: { ...lastSuccess, snapshot } };
}

function hubOf(supply: string, seconds = nowSeconds(), blockHeight = HUB_HEIGHT): NonNullable<RpcNodeOptions['rest']> {
  return (path, height) => {
    if (path === blockPath) {
      const header = { height: blockHeight, time: new Date(seconds * 1000).toISOString() };
      return { body: { block: { header } }, height: '9999999' };
    }
    if (path === supplyPath && height !== undefined)
      return { body: { amount: { denom: DENOM, amount: supply } }, height };
    return undefined;
  };
}

/** The reason and the message of a failed poll. */
async function failureOf(options: Partial<RpcNodeOptions>, timeout = '5s'): Promise<string> {
  const node = await startRpcNode({ answer: createExternalChain().answer, ...options });
  const { result } = await pollContract(node.url, { timeout });
  if (result.outcome.ok) throw new Error('the poll succeeds');
  const { reason, message } = result.outcome.error;
  expect(message, 'the message contains no path').not.toMatch(/k3y|v3|supply|blocks/);
  return `${reason}: ${message.replace(new URL(node.url).host, 'HOST')}`;
}

describe('a poll of the contract', () => {
  it('reads a contract, with the supply at the height of the module state', async () => {
    const chain = createExternalChain();
    // 10^18 is above 2^53. 1222 is owed without batch 7: 1000 + 10 + 200 + 2, and 10 more is a deposit in flight.
    chain.setBalance(TOKEN, 10n ** 18n + 1222n);
    const node = await startRpcNode({ answer: chain.answer, rest: hubOf(String(10n ** 18n)) });
    const { result, values } = await pollContract(node.url);
    expect(result.outcome).toMatchObject({ ok: true });
    const { bridge_external_timestamp_seconds: seconds, ...others } = values;
    expect(Math.abs((seconds ?? 0) - nowSeconds())).toBeLessThan(10);
    const token = `token_contract="${TOKEN}",denom="${DENOM}"`;
    expect(others).toEqual({
      bridge_external_height: Number(HEIGHT),
      bridge_contract_last_event_nonce: 103,
      bridge_contract_unobserved_events: 3,
      bridge_contract_last_valset_nonce: 50,
      bridge_contract_valset_unknown: 0,
      [`bridge_contract_last_batch_nonce{token_contract="${TOKEN}",denom=""}`]: 7,
      bridge_contract_power_threshold_ratio: 2_863_311_530 / 4_294_967_295,
      bridge_contract_paused: 0,
      [`bridge_contract_info{owner="${OWNER}",implementation="${IMPLEMENTATION}"}`]: 1,
      [`bridge_contract_token_balance_amount{${token}}`]: Number(10n ** 18n + 1222n),
      [`bridge_token_supply_amount{${token}}`]: 1e18,
      [`bridge_token_backing_surplus_amount{${token}}`]: 10,
    });
    expect(node.batches.map((batch) => batch.map(({ method }) => method))).toEqual([
      ['eth_chainId', 'eth_syncing', 'eth_getBlockByNumber'],
      ['eth_getBlockByNumber', ...Array.from({ length: 7 }, () => 'eth_call'), 'eth_getStorageAt'],
    ]);
  });

  it('reads balances every five minutes and the owner once an hour, and keeps them in between', async () => {
    const chain = createExternalChain();
    chain.setBalance(TOKEN, 5000n);
    const node = await startRpcNode({ answer: chain.answer, rest: hubOf('1') });
    const first = await pollContract(node.url);
    const second = await pollContract(node.url, { before: first.state });
    expect(node.batches[3]?.map(({ method }) => method)).toEqual([
      'eth_getBlockByNumber',
      ...Array.from({ length: 4 }, () => 'eth_call'),
    ]);
    expect(second.values).toEqual({ ...first.values });
  });

  it('requests the owner and the implementation once an hour also if the contract or the node has none', async () => {
    const { answer } = createExternalChain();
    const node = await startRpcNode({
      answer: (request) => {
        if (request.method === 'eth_getStorageAt') throw new RpcError(-32_601, 'the method is not available');
        if (JSON.stringify(request.params).includes('0x8da5cb5b')) throw new RpcError(3, 'execution reverted');
        return answer(request);
      },
      rest: hubOf('1'),
    });
    const first = await pollContract(node.url);
    expect(first.values['bridge_contract_power_threshold_ratio']).toBeGreaterThan(0);
    await pollContract(node.url, { before: first.state });
    const counts = node.batches.map((batch) => batch.filter(({ method }) => method === 'eth_getStorageAt').length);
    expect(counts).toEqual([0, 1, 0, 0]);
  });

  it('reads a changed owner or implementation again with the next poll, because it can be one odd answer', async () => {
    const { answer } = createExternalChain();
    let isOdd = false;
    const node = await startRpcNode({
      answer: (request) => (request.method === 'eth_getStorageAt' && isOdd ? `0x${'0'.repeat(64)}` : answer(request)),
      rest: hubOf('1'),
    });
    const first = await pollContract(node.url);
    isOdd = true;
    const odd = await pollContract(node.url, { before: withInfoOf(first.state, 61) });
    isOdd = false;
    const info = `bridge_contract_info{owner="${OWNER}",implementation="${IMPLEMENTATION}"}`;
    expect(odd.values[info]).toBeUndefined();
    const next = await pollContract(node.url, { before: odd.state });
    expect(next.values[info]).toBe(1);
  });

  it('says that the hub does not know a set or an event only when the hub block is of now', async () => {
    const moduleState = { ...state, valsets: [{ nonce: '48', members: [] }] };
    const valuesAt = async (
      hubSeconds: number,
      hubHeight?: string,
    ): Promise<readonly (readonly [number | undefined, number | undefined])[]> => {
      const { answer } = createExternalChain();
      const node = await startRpcNode({ answer, rest: hubOf('1', hubSeconds, hubHeight) });
      const first = await pollContract(node.url, { moduleState });
      // Without balances.
      const second = await pollContract(node.url, { moduleState, before: first.state });
      return [first, second].map(({ values }) => [
        values['bridge_contract_valset_unknown'],
        values['bridge_contract_unobserved_events'],
      ]);
    };
    const known = [1, 3];
    const unknown = [undefined, undefined];
    expect(await valuesAt(nowSeconds())).toEqual([known, known]);
    expect(await valuesAt(nowSeconds() - 3600), 'a node that is an hour behind').toEqual([unknown, unknown]);
    expect(await valuesAt(nowSeconds(), '8299999'), 'a proxy that answers with another block').toEqual([
      unknown,
      unknown,
    ]);
  });

  it('asks a hub that knows every event and set for no block', async () => {
    const { answer } = createExternalChain();
    const requests: string[] = [];
    const rest: RpcNodeOptions['rest'] = (path, height) => {
      requests.push(path);
      return hubOf('1')(path, height);
    };
    const node = await startRpcNode({ answer, rest });
    const moduleState = { ...state, last_observed_nonce: '103' };
    const first = await pollContract(node.url, { moduleState });
    expect(requests.splice(0)).toEqual([blockPath, supplyPath]);
    const second = await pollContract(node.url, { moduleState, before: first.state });
    expect(second.values['bridge_contract_unobserved_events']).toBe(0);
    expect(requests).toEqual([]);
  });

  interface SurplusOptions {
    readonly rest?: RpcNodeOptions['rest'];
    readonly lagSeconds?: number;
    readonly externalBlockTime?: number;
    readonly moduleState?: object;
  }

  const withoutBatches = { ...state, batches: [] };
  /** A proxy that drops the height. */
  const latest: RpcNodeOptions['rest'] = (path, height) => {
    const found = hubOf('0')(path, height);
    return found && { ...found, height: '8214101' };
  };

  // 1212 is owed without batch 7, and 1010 without both batches.
  it.each<[string, number | undefined, SurplusOptions]>([
    ['both are of now', -1212, {}],
    ['the external chain lags', undefined, { lagSeconds: 300 }],
    ['the hub node lags', undefined, { rest: hubOf('0', nowSeconds() - 300) }],
    ['the hub has no such queries', undefined, { rest: () => undefined }],
    ['the supply is not of the height', undefined, { rest: latest }],
    ['12 confirmations take 144 s, which is longer than the lag', -1212, { lagSeconds: 100 }],
    ['12 confirmations take 24 s', undefined, { lagSeconds: 100, externalBlockTime: 2000 }],
    ['12 confirmations take 24 s, with a shorter lag', -1212, { lagSeconds: 15, externalBlockTime: 2000 }],
    ['the executed batch is known', -1010, { moduleState: { ...withoutBatches, last_outgoing_batch_id: '7' } }],
    [
      'the executed batch was made after the module state',
      undefined,
      { moduleState: { ...withoutBatches, last_outgoing_batch_id: '6' } },
    ],
    ['the hub does not say which batches it has made', undefined, { moduleState: withoutBatches }],
  ])('exports a surplus only if it is right: %s', async (_title, surplus, { lagSeconds = 0, rest, ...options }) => {
    const chain = createExternalChain(nowSeconds() - lagSeconds);
    chain.setBalance(TOKEN, 0n);
    const node = await startRpcNode({ answer: chain.answer, rest: rest ?? hubOf('0') });
    const { values } = await pollContract(node.url, options);
    expect(values[`bridge_token_backing_surplus_amount{token_contract="${TOKEN}",denom="${DENOM}"}`]).toBe(surplus);
  });

  it('withdraws balances that could not be read again, because the module state is not polled', async () => {
    const chain = createExternalChain();
    chain.setBalance(TOKEN, 0n);
    const node = await startRpcNode({ answer: chain.answer, rest: hubOf('0') });
    const first = await pollContract(node.url);
    const backing = Object.keys(first.values).filter((name) => /backing|supply|balance/.test(name));
    expect(backing).toHaveLength(3);
    const valuesAfter = async (minutes: number): Promise<readonly string[]> => {
      const { values } = await pollContract(node.url, {
        before: withBackingOf(first.state, minutes),
        moduleStateMinutesAgo: 5,
      });
      return Object.keys(values).filter((name) => backing.includes(name));
    };
    expect(await valuesAfter(10)).toEqual(backing);
    expect(await valuesAfter(12)).toEqual([]);
  });

  it('loses only the families of answers that are missing or invalid', async () => {
    const { answer } = createExternalChain();
    const partly = await startRpcNode({
      answer: (request) => {
        const { data = '' } = (request.params[0] ?? {}) as { data?: string };
        if (data === '0x5c975abb') return `0x${'00'.repeat(31)}02`;
        if (data === '0x73b20547') throw new RpcError(-32_000, `execution reverted at /v3/${SECRET}`);
        if (data === '0xb56561fe') return { not: 'a string' };
        if (request.method === 'eth_getStorageAt') return '0x';
        return answer(request);
      },
      rest: hubOf('1'),
    });
    const { values, state: after } = await pollContract(partly.url);
    expect(Object.keys(values).filter((name) => /event|paused|valset|info/.test(name))).toEqual([]);
    expect(values['bridge_external_height']).toBe(Number(HEIGHT));
    expect(Object.fromEntries(after.invalidValues)).toEqual({
      balanceOf: 1,
      implementation: 1,
      paused: 1,
      state_lastValsetNonce: 1,
    });
  });

  it('is limited to 50 calls', async () => {
    const tokens = Array.from({ length: 60 }, (_, index) => `0x${String(index + 10).repeat(20)}`);
    const batches = tokens.map((token, index) => ({
      batch_nonce: String(index),
      token_contract: token,
      transactions: [],
    }));
    const { answer } = createExternalChain();
    const node = await startRpcNode({ answer, rest: hubOf('1') });
    await pollContract(node.url, { moduleState: { ...state, batches } });
    expect(node.batches.flat().length).toBe(3 + 1 + 3 + 20 + 1 + 3);
    const judged = tokens.slice(10, 30);
    const largest = await startRpcNode({ answer, rest: hubOf('1') });
    const { values, state: after } = await pollContract(largest.url, { moduleState: { ...state, batches }, judged });
    expect(largest.batches.flat().length).toBe(3 + 1 + 3 + 20 + 20 + 3);
    const nonces = Object.keys(values).filter((name) => name.startsWith('bridge_contract_last_batch_nonce'));
    expect(nonces, 'those that are judged come first').toHaveLength(20);
    expect(nonces.every((name) => judged.some((token) => name.includes(token)))).toBe(true);
    const families = after.lastSuccess?.snapshot.renderedFamilies ?? [];
    expect(families.find(({ name }) => name === 'bridge_contract_last_batch_nonce')?.withdrawn).toBeUndefined();
  });
});

describe('a failed poll of the contract names the host, the reason and what the server says, and nothing else of the URL', () => {
  const { answer } = createExternalChain();
  const withResult = (method: string, result: unknown): Partial<RpcNodeOptions> => ({
    answer: (request) => (request.method === method ? result : answer(request)),
  });
  const withPinnedBlock = (block: unknown): Partial<RpcNodeOptions> => ({
    answer: (request) =>
      request.method === 'eth_getBlockByNumber' && request.params[0] !== 'latest' ? block : answer(request),
  });
  const withStatus = (code: number, body: string, headers = {}): Partial<RpcNodeOptions> => ({
    respond: (request, response) => {
      response.writeHead(code, headers).end(body.replace('URL', request.url ?? ''));
      return true;
    },
  });
  const closes: RpcNodeOptions['respond'] = (request) => {
    request.socket.destroy();
    return true;
  };

  it.each<[string, Partial<RpcNodeOptions>]>([
    [
      'schema: HOST: is a node of chain 11155111, not of chain 1 (bridge_chain_id)',
      withResult('eth_chainId', '0xaa36a7'),
    ],
    ['schema: HOST: did not answer eth_chainId with a chain id', withResult('eth_chainId', 1)],
    ['schema: HOST: the node is syncing', withResult('eth_syncing', { currentBlock: '0x1' })],
    [
      'schema: HOST: returned a block without a number or time',
      withResult('eth_getBlockByNumber', { number: '0x1', timestamp: 'now' }),
    ],
    ['schema: HOST: does not have the block that it, or another node behind it, has named', withPinnedBlock(null)],
    [
      `schema: HOST: returned another block than ${HEIGHT}`,
      withPinnedBlock({ number: '0x10', timestamp: '0x60000000' }),
    ],
    [
      'unauthorized: HOST: responded with status 401: invalid key /…',
      withStatus(401, '{"message": "invalid key URL"}'),
    ],
    [
      'status: HOST: responded with status 302, a redirect to http://other.example/…/, which is not followed',
      withStatus(302, '', { location: `http://other.example/v3/${SECRET}/` }),
    ],
    [
      'not_json: HOST: the response is not JSON: Sign in to /…',
      withStatus(200, '<html><title>Sign in to URL</title></html>'),
    ],
    ['schema: HOST: the response is not JSON-RPC', withStatus(200, '{"jsonrpc": "2.0"}')],
    ['schema: HOST: the response is not JSON-RPC: /… is disabled', withStatus(200, '{"message": "URL is disabled"}')],
    ['schema: HOST: did not answer eth_chainId', { arrange: () => [] }],
    ['schema: HOST: did not answer eth_chainId', { arrange: () => [null, 1, 'x', { id: 'a' }] }],
    ['too_large: HOST: body is larger than 1MiB', withStatus(200, `["${'x'.repeat(10_000_000)}"]`)],
    ['timeout: HOST: timed out after 500 ms (poll.timeout)', { respond: () => true }],
    ['aborted: HOST: connection lost: other side closed', { respond: closes }],
  ])('%s', async (expected, options) => {
    expect(await failureOf(options, expected.startsWith('timeout') ? '500ms' : undefined)).toBe(expected);
  });

  it('before a module state says where the contract is', async () => {
    const node = await startRpcNode({ answer });
    const { result } = await pollContract(node.url, { moduleState: { last_observed_nonce: '1' } });
    const host = new URL(node.url).host;
    expect(result.outcome).toEqual({
      ok: false,
      error: { reason: 'schema', message: `${host}: the module state does not say where the contract is` },
    });
    expect(node.batches).toEqual([]);
  });
});

describe('the configuration', () => {
  it('prints no part of the URL of the external chain but its origin', () => {
    const text = formatConfig(configOf('https://rpc.example.org'));
    expect(text).toContain('url: https://rpc.example.org/<secret>');
    expect(text).not.toContain(SECRET);
    expect(JSON.stringify(configOf('https://rpc.example.org'))).not.toContain(SECRET);
    expect(formatConfig(configOf('https://rpc.example.org', ''))).toContain('url: https://rpc.example.org\n');
  });
});
