import { describe, expect, it } from 'vitest';
import { createExternalChain, HEIGHT, IMPLEMENTATION, OWNER, type ExternalChain } from './external-chain.js';
import { BRIDGE, configOf, DENOM, pollContract, SECRET, state, TOKEN } from './bridge-target.js';
import { RpcError, startRpcNode, type RpcNode, type RpcNodeOptions, type RpcRequest } from './rpc-node.js';
import { formatConfig } from '../../src/config/loader.js';
import { readPast, type EndpointState } from '../../src/engine/endpoint-state.js';
import { MULTICALL3 } from '../../src/simulator/json-rpc.js';

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

const supplyPath = `/cosmos/bank/v1beta1/supply/by_denom?denom=${DENOM}`;

/** The state so many minutes after its queries. */
function minutesAfterQueries(endpoint: EndpointState, minutes: number): EndpointState {
  const earlier = (at: number): number => at - minutes * 60;
  const queries = Array.from(endpoint.queries, ([name, query]) => {
    const answers = Array.from(query.answers, ([key, answer]) => [key, { ...answer, at: earlier(answer.at) }] as const);
    return [
      name,
      { ...query, roundStartedAt: query.roundStartedAt && earlier(query.roundStartedAt), answers: new Map(answers) },
    ] as const;
  });
  return { ...endpoint, queries: new Map(queries) };
}

/** A hub with a supply at the height of the module state. */
function hubOf(supply: string): NonNullable<RpcNodeOptions['rest']> {
  return (path, height) =>
    path === supplyPath && height !== undefined
      ? { body: { amount: { denom: DENOM, amount: supply } }, height }
      : undefined;
}

const methodsOf = ({ received }: RpcNode): string[] => received.map(({ method }) => method).toSorted();

const startWith = async (
  change: (chain: ExternalChain) => void,
  options: Partial<RpcNodeOptions> = {},
): Promise<RpcNode> => {
  const chain = createExternalChain();
  change(chain);
  return startRpcNode({ answer: chain.answer, rest: hubOf('1'), ...options });
};

/** A node that answers one method in this way. */
const withAnswer = (method: string, answerOne: (request: RpcRequest) => unknown): RpcNodeOptions => {
  const { answer } = createExternalChain();
  return { answer: (request) => (request.method === method ? answerOne(request) : answer(request)) };
};
const withResult = (method: string, result: unknown): RpcNodeOptions => withAnswer(method, () => result);
const withError = (code: number, message: string, method = 'eth_call'): RpcNodeOptions =>
  withAnswer(method, () => {
    throw new RpcError(code, message);
  });

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
  it('reads everything with one call, and the supply at the height of the module state', async () => {
    // 10^18 is above 2^53. 1222 is owed without batch 7: 1000 + 10 + 200 + 2, and 10 more is a deposit in flight.
    const node = await startWith((chain) => chain.setBalance(TOKEN, 10n ** 18n + 1222n), {
      rest: hubOf(String(10n ** 18n)),
    });
    const { result, values } = await pollContract(node.url);
    expect(result.outcome).toMatchObject({ ok: true });
    const { bridge_external_timestamp_seconds: seconds, ...others } = values;
    expect(Math.abs((seconds ?? 0) - nowSeconds())).toBeLessThan(10);
    const token = `token_contract="${TOKEN}",denom="${DENOM}"`;
    expect(others).toEqual({
      bridge_external_height: Number(HEIGHT),
      bridge_contract_last_event_nonce: 103,
      bridge_contract_last_valset_nonce: 50,
      [`bridge_contract_last_batch_nonce{token_contract="${TOKEN}",denom=""}`]: 7,
      bridge_contract_power_threshold_ratio: 2_863_311_530 / 4_294_967_295,
      bridge_contract_paused: 0,
      [`bridge_contract_info{owner="${OWNER}",implementation="${IMPLEMENTATION}"}`]: 1,
      [`bridge_contract_token_balance_amount{${token}}`]: Number(10n ** 18n + 1222n),
      [`bridge_token_supply_amount{${token}}`]: 1e18,
      [`bridge_token_backing_surplus_amount{${token}}`]: 10,
    });
    expect(methodsOf(node)).toEqual(['eth_call', 'eth_getStorageAt', 'eth_getStorageAt', 'eth_syncing']);
  });

  it('reads all values of the contract each time, and keeps the implementation and the supply for five minutes', async () => {
    const node = await startWith((chain) => chain.setBalance(TOKEN, 5000n));
    const first = await pollContract(node.url);
    const [{ length: requests }, { length: received }] = [node.requests, node.received];
    const second = await pollContract(node.url, { before: minutesAfterQueries(first.state, 4) });
    expect(second.values).toEqual({ ...first.values, bridge_external_timestamp_seconds: expect.any(Number) });
    expect(node.requests.length - requests, 'no supply').toBe(2);
    expect(
      node.received
        .slice(received)
        .map(({ method }) => method)
        .toSorted(),
    ).toEqual(['eth_call', 'eth_syncing']);
    const behind = await pollContract(node.url, { before: second.state, hubSeconds: nowSeconds() - 300 });
    const withoutSurplus = Object.keys(first.values).filter((name) => !/surplus/.test(name));
    expect(Object.keys(behind.values), 'no surplus while the hub node lags').toEqual(withoutSurplus);
    await pollContract(node.url, { before: minutesAfterQueries(first.state, 5) });
    expect(node.requests.length - requests).toBe(2 + 2 + 5);
  });

  it('withdraws a supply that the hub has not answered again within ten minutes', async () => {
    let hub = hubOf('1');
    const node = await startWith((chain) => chain.setBalance(TOKEN, 5000n), { rest: (...request) => hub(...request) });
    const first = await pollContract(node.url);
    hub = () => undefined;
    const namesAfter = async (minutes: number): Promise<string[]> => {
      const before = minutesAfterQueries(first.state, minutes);
      const { values } = await pollContract(node.url, { before, hubHeight: '8214900' });
      return Object.keys(values).filter((name) => /supply|surplus/.test(name));
    };
    expect(await namesAfter(9)).toHaveLength(2);
    expect(await namesAfter(11)).toEqual([]);
  });

  it('has the implementation that two rounds of answers agree on, because those of one can be odd', async () => {
    const slotOf = (digits: string): string => `0x${digits.padStart(64, '0')}`;
    let slot = slotOf('a'.repeat(40));
    const node = await startRpcNode(withAnswer('eth_getStorageAt', () => slot));
    let { state: last, values } = await pollContract(node.url);
    const after = async (next: string): Promise<string | undefined> => {
      slot = slotOf(next.repeat(40));
      ({ state: last, values } = await pollContract(node.url, { before: minutesAfterQueries(last, 5) }));
      return /implementation="0x(.)/.exec(Object.keys(values).join(' '))?.[1];
    };
    const seen: (string | undefined)[] = [];
    for (const next of ['a', 'b', 'a', 'a', 'b', 'b']) seen.push(await after(next));
    expect(seen).toEqual(['a', 'a', 'a', 'a', 'a', 'b']);
  });

  it('has no implementation when the first answers differ, because one of them is odd', async () => {
    const { answer } = createExternalChain();
    let slots = 0;
    const node = await startRpcNode(
      withAnswer('eth_getStorageAt', (request) => {
        slots += 1;
        return slots === 1 ? `0x${'0'.repeat(64)}` : answer(request);
      }),
    );
    const { values } = await pollContract(node.url);
    expect(Object.keys(values).filter((name) => name.startsWith('bridge_contract_info'))).toEqual([]);
  });

  it('says that the hub does not know a set or an event only when the hub block is of now', async () => {
    const judgedWith = async (options: Parameters<typeof pollContract>[1]): Promise<readonly unknown[]> => {
      const node = await startWith(() => undefined);
      const polled = await pollContract(node.url, options);
      const reading = readPast('external_contract', polled.state.lastSuccess?.snapshot);
      return [reading?.isValsetUnknown, reading?.unobservedEvents];
    };
    const moduleState = { ...state, valsets: [{ nonce: '48', members: [] }] };
    expect(await judgedWith({ moduleState, hubSeconds: nowSeconds() })).toEqual([true, 3n]);
    const late = await judgedWith({ moduleState, hubSeconds: nowSeconds() - 3600 });
    expect(late, 'a node that is an hour behind').toEqual([undefined, undefined]);
    const silent = await judgedWith({ moduleState, hubSeconds: undefined });
    expect(silent, 'a node that does not say it').toEqual([undefined, undefined]);
    const current = { ...state, last_observed_nonce: '103' };
    const known = await judgedWith({ moduleState: current, hubSeconds: undefined });
    expect(known, 'a hub that knows every event').toEqual([false, 0n]);
  });

  interface SurplusOptions {
    readonly rest?: RpcNodeOptions['rest'];
    readonly lagSeconds?: number;
    readonly externalBlockTime?: number;
    readonly moduleState?: object;
    readonly hubSeconds?: number | undefined;
    readonly moduleStateMinutesAgo?: number;
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
    ['the hub node lags', undefined, { hubSeconds: nowSeconds() - 300 }],
    ['the hub node does not say its time', undefined, { hubSeconds: undefined }],
    ['the module state is old', undefined, { moduleStateMinutesAgo: 5 }],
    ['the hub has no supply', undefined, { rest: () => undefined }],
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
    const token = `{token_contract="${TOKEN}",denom="${DENOM}"}`;
    expect(values[`bridge_token_backing_surplus_amount${token}`]).toBe(surplus);
    expect(values[`bridge_contract_token_balance_amount${token}`], 'every poll reads the balance').toBe(0);
  });

  it('loses only the families of values that are missing or invalid', async () => {
    const node = await startWith((chain) => {
      chain.setResult(BRIDGE, '0x5c975abb', `0x${'00'.repeat(31)}02`);
      chain.setResult(BRIDGE, '0x73b20547', undefined);
      chain.setResult(BRIDGE, '0xb56561fe', `0x${'00'.repeat(64)}`);
    }, {});
    const { values, state: after } = await pollContract(node.url);
    expect(Object.keys(values).filter((name) => /event|paused|valset/.test(name))).toEqual([]);
    expect(values['bridge_external_height']).toBe(Number(HEIGHT));
    expect(values[`bridge_contract_info{owner="${OWNER}",implementation="${IMPLEMENTATION}"}`]).toBe(1);
    expect(Object.fromEntries(after.invalidValues)).toMatchObject({
      balanceOf: 1,
      paused: 1,
      state_lastValsetNonce: 1,
    });
    expect(after.invalidValues.get('state_lastEventNonce'), 'a call that reverts is no invalid value').toBeUndefined();
    const withoutStorage = await startRpcNode(withError(-32_601, 'is not available', 'eth_getStorageAt'));
    const { values: others } = await pollContract(withoutStorage.url);
    expect(Object.keys(others).filter((name) => name.startsWith('bridge_contract_info'))).toEqual([]);
    expect(others['bridge_contract_paused']).toBe(0);
  });

  it('is limited to 20 tokens with a live batch, of which those that are judged come first', async () => {
    const tokens = Array.from({ length: 60 }, (_, index) => `0x${String(index + 10).repeat(20)}`);
    const batches = tokens.map((token, index) => ({
      batch_nonce: String(index),
      token_contract: token,
      transactions: [],
    }));
    const node = await startWith(() => undefined);
    const judged = tokens.slice(10, 30);
    const { values, state: after } = await pollContract(node.url, { moduleState: { ...state, batches }, judged });
    const nonces = Object.keys(values).filter((name) => name.startsWith('bridge_contract_last_batch_nonce'));
    expect(nonces).toHaveLength(20);
    expect(nonces.every((name) => judged.some((token) => name.includes(token)))).toBe(true);
    const families = after.lastSuccess?.snapshot.renderedFamilies ?? [];
    expect(families.find(({ name }) => name === 'bridge_contract_last_batch_nonce')?.withdrawn).toBeUndefined();
    expect(methodsOf(node).filter((method) => method === 'eth_call')).toHaveLength(1);
  });

  const progress = { startingBlock: '0x0', highestBlock: '0x1463fe4', txIndexRemainingBlocks: '0x186a0' };
  it.each<[string, RpcNodeOptions]>([
    ['does not know eth_syncing', withError(-32_601, 'not here', 'eth_syncing')],
    [
      'indexes old transactions at its newest block, although eth_syncing is an object',
      withResult('eth_syncing', { ...progress, currentBlock: '0x1463fe4' }),
    ],
    [
      'imports a block above the highest one that its peers have named',
      withResult('eth_syncing', { ...progress, currentBlock: '0x1463fe5' }),
    ],
  ])('is fine with a node that %s', async (_title, options) => {
    const { result } = await pollContract((await startRpcNode(options)).url);
    expect(result.outcome).toMatchObject({ ok: true });
  });
});

describe('a failed poll of the contract names the host, the reason and what the server says, and nothing else of the URL', () => {
  const { answer } = createExternalChain();
  const withMulticall = (data: string, result: string | undefined): Partial<RpcNodeOptions> => {
    const chain = createExternalChain();
    chain.setResult(MULTICALL3, data, result);
    return { answer: chain.answer };
  };
  const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`;
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
  const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

  const nestedResult: RpcNodeOptions['reject'] = ({ method }, response) => {
    if (method === 'eth_call') response.end(`{"jsonrpc": "2.0", "id": 1, "result": ${nested}}`);
    return method === 'eth_call';
  };

  it.each<[string, Partial<RpcNodeOptions>]>([
    [
      'schema: HOST: is a node of chain 11155111, not of chain 1 (bridge_chain_id)',
      withMulticall('0x3408e470', word(11_155_111n)),
    ],
    [
      'schema: HOST: the chain has no Multicall3 at 0xcA11bde05977b3631167028862bE2a173976CA11, through which the contract is read',
      withResult('eth_call', '0x'),
    ],
    // Compared as numbers: as text, 0x9 is above 0x10.
    ['schema: HOST: the node is syncing', withResult('eth_syncing', { currentBlock: '0x9', highestBlock: '0x10' })],
    ['schema: HOST: the result is not that of Multicall3', withResult('eth_call', word(32n))],
    ['schema: HOST: the result is not that of Multicall3', withResult('eth_call', `0x${'f'.repeat(640)}`)],
    ['schema: HOST: the result is not that of Multicall3', withResult('eth_call', 'not digits')],
    ['schema: HOST: the result is not that of Multicall3', withMulticall('0x3408e470', undefined)],
    ['schema: HOST: the result is not that of Multicall3', withMulticall('0x0f28c97d', word(2n ** 200n))],
    [
      'rate_limited: HOST: responded with JSON-RPC error -32005: daily limit of …',
      withError(-32_005, `daily limit of ${SECRET}`),
    ],
    ['rate_limited: HOST: responded with JSON-RPC error 429: too many', withError(429, 'too many')],
    [
      'schema: HOST: responded with JSON-RPC error -32603: upstream timeout at /…',
      withError(-32_603, `upstream timeout at /v3/${SECRET}`),
    ],
    ['schema: HOST: responded with an error: no batches', withStatus(200, '{"error": "no batches"}')],
    ['schema: HOST: responded with an error', withStatus(200, `{"jsonrpc": "2.0", "id": 1, "error": ${nested}}`)],
    ['schema: HOST: the response is not JSON-RPC', { reject: nestedResult }],
    [
      'unauthorized: HOST: responded with status 401: invalid key /…',
      withStatus(401, '{"message": "invalid key URL"}'),
    ],
    [
      'status: HOST: responded with status 302, a redirect to http://other.example/…/, which is not followed',
      withStatus(302, '', { location: `http://other.example/v3/${SECRET}/` }),
    ],
    ['not_json: HOST: not valid JSON: Sign in to /…', withStatus(200, 'Sign in to URL')],
    ['schema: HOST: the response is not JSON-RPC', withStatus(200, '{"jsonrpc": "2.0"}')],
    ['schema: HOST: the response is not JSON-RPC: /… is disabled', withStatus(200, '{"message": "URL is disabled"}')],
    ['too_large: HOST: body is larger than 1MiB', withStatus(200, `["${'x'.repeat(10_000_000)}"]`)],
    [
      'rate_limited: HOST: responded with status 429: limit of … exceeded',
      withStatus(429, JSON.stringify({ error: { message: `limit of ${SECRET} exceeded` } })),
    ],
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
    expect(node.received).toEqual([]);
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
