import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { pollContract, SECRET, TOKEN, type ContractPoll } from './bridge-target.js';
import { createExternalChain, HEIGHT } from './external-chain.js';
import { RpcError, startRpcNode, type RpcNode, type RpcNodeOptions, type RpcRequest } from './rpc-node.js';

/* Providers of JSON-RPC differ: in the size of batches, in the words for a limit, and in how far behind their nodes are. */

/** One for all tests, which only read it. */
const chain = createExternalChain();

const start = async (options: Partial<RpcNodeOptions>): Promise<RpcNode> =>
  startRpcNode({ answer: chain.answer, ...options });

const sizes = ({ batches }: RpcNode): number[] => batches.map(({ length }) => length);

/** The reason and the message of a failed poll, which contain no secret. */
function failureOf({ result }: ContractPoll): string {
  if (result.outcome.ok) return 'ok';
  const { reason, message } = result.outcome.error;
  expect(message).not.toContain(SECRET);
  return `${reason}: ${message.replace(/127\.0\.0\.1:\d+/, 'HOST')}`;
}

const respond =
  (status: number, body: unknown) =>
  (response: ServerResponse): boolean => {
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
    return true;
  };

const rpcError = (code: number, message: string, id: number | null = null) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});

type Rejection = (response: ServerResponse, requests: readonly RpcRequest[]) => boolean;

/** How servers reject a batch of more than N requests. */
const rejections: readonly (readonly [string, Rejection])[] = [
  ['an error object', respond(200, rpcError(-32_600, 'batch too large'))],
  ['an error object with the code of a limit', respond(200, rpcError(-32_005, 'batch limit exceeded'))],
  ['an error that is a text', respond(200, { error: 'batch requests are not allowed' })],
  ['a list with one error', respond(200, [rpcError(-32_600, 'batch too large')])],
  ['status 413', respond(413, '<html><title>413 Request Entity Too Large</title></html>')],
  ['status 429', respond(429, { error: 'batch limit' })],
  ['status 400', respond(400, rpcError(-32_600, 'batch too large'))],
  ['status 403', respond(403, 'batches are not in your plan')],
  ['status 500', respond(500, 'batch too large')],
  ['text', respond(200, 'Bad batch')],
  [
    'an error for each request',
    (response, requests) =>
      respond(
        200,
        requests.map(({ id }) => rpcError(-32_600, 'too large', id)),
      )(response),
  ],
];

describe('batches of requests', () => {
  it.each([
    [1, rejections.slice(0, 2)],
    [3, rejections],
    [5, rejections.slice(-2)],
  ])('are halved until the server accepts them, which is remembered: at most %i requests', async (limit, ways) => {
    for (const [title, reject] of ways) {
      // oxlint-disable-next-line no-await-in-loop -- one server at a time
      const node = await start({
        reject: (requests, response) => requests.length > limit && reject(response, requests),
      });
      // oxlint-disable-next-line no-await-in-loop
      const first = await pollContract(node.url);
      expect(failureOf(first), title).toBe('ok');
      expect(first.values['bridge_contract_last_event_nonce']).toBe(103);
      expect(first.values['bridge_contract_paused']).toBe(0);
      const sent = node.batches.length;
      // oxlint-disable-next-line no-await-in-loop
      const second = await pollContract(node.url, { before: first.state });
      expect(failureOf(second), title).toBe('ok');
      const later = sizes(node).slice(sent);
      expect(Math.max(...later), title).toBeLessThanOrEqual(limit);
      expect(Math.max(...later), 'as large as the server accepts, by halves').toBeGreaterThan(limit / 2 - 1);
    }
  });

  it.each<[string, Rejection]>([
    ['status 503', respond(503, '')],
    ['a limit of the rate', respond(429, { error: 'too many requests' })],
    ['a page', respond(200, '<html><title>Maintenance</title></html>')],
  ])(
    'are as large as before in the next poll after a failure that says nothing about them: %s',
    async (_title, reject) => {
      let failures = 1;
      const node = await start({
        reject: (requests, response) => {
          failures -= 1;
          return failures >= 0 && reject(response, requests);
        },
      });
      const first = await pollContract(node.url);
      expect(failureOf(first)).toBe('ok');
      expect(sizes(node).slice(0, 3)).toEqual([3, 1, 1]);
      const sent = node.batches.length;
      expect(failureOf(await pollContract(node.url, { before: first.state }))).toBe('ok');
      expect(sizes(node).slice(sent)).toEqual([3, 5]);
    },
  );

  it('are no lists when they have one request', async () => {
    const bodies: unknown[] = [];
    const node = await start({
      respond: (request) => {
        request.on('data', (chunk: Buffer) => bodies.push(JSON.parse(chunk.toString())));
        return false;
      },
      reject: (requests, response) => requests.length > 1 && respond(400, 'no batches')(response),
    });
    expect(failureOf(await pollContract(node.url))).toBe('ok');
    expect(bodies.filter((body) => Array.isArray(body)).map((body) => (body as unknown[]).length)).toEqual([3]);
  });

  it.each<[string, NonNullable<RpcNodeOptions['arrange']>]>([
    ['answers only the first three requests', (answers) => answers.slice(0, 3)],
    [
      'rejects all after the third',
      (answers, requests) =>
        answers.map((answer, index) => (index < 3 ? answer : rpcError(-32_005, 'limit exceeded', requests[index]?.id))),
    ],
  ])('are halved when the server %s', async (_title, arrange) => {
    const node = await start({ arrange });
    const polled = await pollContract(node.url);
    expect(failureOf(polled)).toBe('ok');
    expect(polled.values['bridge_contract_last_event_nonce']).toBe(103);
    expect(polled.values[`bridge_contract_last_batch_nonce{token_contract="${TOKEN}",denom=""}`]).toBe(7);
  });

  it.each<[string, NonNullable<RpcNodeOptions['arrange']>]>([
    ['reverses them', (answers) => answers.toReversed()],
    ['quotes their ids', (answers) => answers.map((answer) => ({ ...answer, id: String(Reflect.get(answer, 'id')) }))],
    ['repeats them', (answers) => [...answers, ...answers.map((answer) => ({ ...answer, result: '0x' }))]],
  ])('are sent once to a server that answers all and %s', async (_title, arrange) => {
    const node = await start({ arrange });
    const polled = await pollContract(node.url);
    expect(failureOf(polled)).toBe('ok');
    expect(polled.values['bridge_contract_last_event_nonce']).toBe(103);
    expect(node.batches).toHaveLength(2);
  });

  it('are recorded as the list of all answers', async () => {
    const whole = await start({});
    const parts = await start({ reject: (requests, response) => requests.length > 2 && respond(413, '')(response) });
    const read = async (node: RpcNode): Promise<unknown> => {
      const { body } = await pollContract(node.url);
      return JSON.parse(body.toString());
    };
    expect(await read(parts)).toEqual(await read(whole));
  });
});

describe('a hostile provider', () => {
  const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

  it.each<[string, Rejection, string]>([
    [
      'an error that is nested deeply',
      respond(200, `{"jsonrpc": "2.0", "id": 1, "error": ${nested}}`),
      'schema: HOST: responded to eth_chainId with an error',
    ],
    [
      'results that are nested deeply, one by one',
      (response, requests) =>
        requests.length > 1
          ? respond(413, '')(response)
          : respond(200, `{"jsonrpc": "2.0", "id": ${requests[0]?.id}, "result": ${nested}}`)(response),
      'schema: HOST: the response is nested too deeply',
    ],
  ])('fails the poll by %s', async (_title, reject, message) => {
    const node = await start({ reject: (requests, response) => reject(response, requests) });
    expect(failureOf(await pollContract(node.url))).toBe(message);
  });

  it.each(['block not ', 'method '])('delays nothing by a long error of repeated words: %s', async (words) => {
    const answers = (requests: readonly RpcRequest[]) =>
      requests.map(({ id }) => rpcError(-32_000, words.repeat(50_000), id));
    const node = await start({ reject: (requests, response) => respond(200, answers(requests))(response) });
    const started = performance.now();
    await pollContract(node.url);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe('a limit of the provider', () => {
  it.each<[string, Rejection]>([
    ['a status', respond(429, { error: { message: `limit of ${SECRET} exceeded` } })],
    ['an error object', respond(200, rpcError(-32_005, `limit of ${SECRET} exceeded`))],
    [
      'an error of every request',
      (response, requests) =>
        respond(
          200,
          [requests].flat().map(({ id }) => rpcError(429, `limit of ${SECRET} exceeded`, id)),
        )(response),
    ],
    ['another status', respond(503, rpcError(-32_005, `limit of ${SECRET} exceeded`))],
  ])('is the reason of the poll, with its words, after few requests: %s', async (_title, reject) => {
    const node = await start({ reject: (requests, response) => reject(response, requests) });
    expect(failureOf(await pollContract(node.url))).toMatch(/^rate_limited: HOST: responded .*: limit of … exceeded$/);
    expect(sizes(node)).toEqual([3, 1]);
  });
});

describe('an error of one request', () => {
  async function pollWith(isFailing: (request: RpcRequest) => boolean, error: RpcError): Promise<ContractPoll> {
    const node = await start({
      answer: (request) => {
        if (isFailing(request)) throw error;
        return chain.answer(request);
      },
    });
    return pollContract(node.url);
  }

  const isCallOf =
    (selector: string) =>
    ({ method, params: [call] }: RpcRequest): boolean =>
      method === 'eth_call' && (call as { data: string }).data.startsWith(selector);
  const isNonce = isCallOf('0x73b20547');
  const isPaused = isCallOf('0x5c975abb');
  const isBalance = isCallOf('0x70a08231');

  it.each<[string, (request: RpcRequest) => boolean, RpcError, string]>([
    [
      'a limit',
      isPaused,
      new RpcError(-32_005, `daily limit of ${SECRET}`),
      'rate_limited: HOST: responded to eth_call with JSON-RPC error -32005: daily limit of …',
    ],
    [
      'a limit with a code of its own',
      isBalance,
      new RpcError(-32_029, 'Your app has exceeded its compute units'),
      'rate_limited: HOST: responded to eth_call with JSON-RPC error -32029: Your app has exceeded its compute units',
    ],
    [
      'an internal error',
      isNonce,
      new RpcError(-32_603, 'upstream timeout'),
      'schema: HOST: responded to eth_call with JSON-RPC error -32603: upstream timeout',
    ],
    [
      'an unknown method',
      isNonce,
      new RpcError(-32_601, 'method not found'),
      'schema: HOST: responded to eth_call with JSON-RPC error -32601: method not found',
    ],
    [
      'a chain id',
      ({ method }) => method === 'eth_chainId',
      new RpcError(-32_000, 'no access'),
      'schema: HOST: responded to eth_chainId with JSON-RPC error -32000: no access',
    ],
  ])('is the reason of the poll: %s', async (_title, isFailing, error, message) => {
    expect(failureOf(await pollWith(isFailing, error))).toBe(message);
  });

  it.each<[string, (request: RpcRequest) => boolean, RpcError, string]>([
    ['of the contract', isNonce, new RpcError(3, 'execution reverted'), 'bridge_contract_last_event_nonce'],
    [
      'of the contract, with another code',
      isNonce,
      new RpcError(-32_000, 'execution reverted: rate limit exceeded'),
      'bridge_contract_last_event_nonce',
    ],
    [
      'of the contract, in other words',
      isNonce,
      new RpcError(-32_015, 'VM execution error.'),
      'bridge_contract_last_event_nonce',
    ],
    [
      'about eth_getStorageAt, which need not be there',
      ({ method }) => method === 'eth_getStorageAt',
      new RpcError(-32_601, 'the method eth_getStorageAt is not available'),
      'bridge_contract_info',
    ],
  ])('withdraws what it was asked for, and nothing else: %s', async (_title, isFailing, error, absent) => {
    const polled = await pollWith(isFailing, error);
    expect(failureOf(polled)).toBe('ok');
    const names = Object.keys(polled.values).map((name) => name.replace(/\{.*/, ''));
    expect(names).not.toContain(absent);
    expect(names).toEqual(expect.arrayContaining(['bridge_external_height', 'bridge_contract_paused']));
  });

  it('about eth_syncing says nothing', async () => {
    expect(failureOf(await pollWith(({ method }) => method === 'eth_syncing', new RpcError(-32_000, 'not here')))).toBe(
      'ok',
    );
  });
});

/** How nodes say that they do not have a block. */
const unknownBlocks: readonly (readonly [string, () => unknown])[] = [
  ['null', () => null],
  ...[
    new RpcError(-32_001, 'block not found'),
    new RpcError(-39_001, 'Unknown block'),
    new RpcError(-32_000, 'block is out of range'),
    new RpcError(-32_000, 'missing trie node 01'),
  ].map((error): readonly [string, () => unknown] => [
    error.message,
    () => {
      throw error;
    },
  ]),
];

describe('two nodes in turn, of which the second is behind', () => {
  const positionOf = ({ method }: RpcRequest): number =>
    ['eth_getBlockByNumber', 'eth_call', 'eth_getStorageAt'].indexOf(method);
  const blockOf = (request: RpcRequest): unknown => request.params[positionOf(request)];
  const quantity = (number: bigint): string => `0x${number.toString(16)}`;

  async function startBehind(
    blocks: bigint,
    unknownBlock: () => unknown,
    options: Partial<RpcNodeOptions> = {},
    isTurn = (received: number): boolean => received % 2 === 0,
  ): Promise<RpcNode> {
    let received = 0;
    return start({
      ...options,
      answer: (request) => {
        // One node answers all requests of a body.
        const isBehind = isTurn(received);
        const block = blockOf(request);
        const isPinned = typeof block === 'string' && block.startsWith('0x');
        const newest = HEIGHT - (isBehind ? blocks : 0n);
        if (isPinned && BigInt(block) > newest) return unknownBlock();
        // The chain has one block, under all these numbers.
        const result = chain.answer({
          ...request,
          params: isPinned ? request.params.with(positionOf(request), quantity(HEIGHT)) : request.params,
        });
        if (request.method !== 'eth_getBlockByNumber') return result;
        return (async () => ({ ...((await result) as object), number: isPinned ? block : quantity(newest) }))();
      },
      reject: (requests, response) => {
        received += 1;
        return options.reject?.(requests, response) ?? false;
      },
    });
  }

  it.each(unknownBlocks)('are asked for a block that both have: %s', async (_title, unknownBlock) => {
    for (const blocks of [1n, 2n, 5n]) {
      // oxlint-disable-next-line no-await-in-loop -- one server at a time
      const node = await startBehind(blocks, unknownBlock);
      // oxlint-disable-next-line no-await-in-loop
      const polled = await pollContract(node.url);
      expect(failureOf(polled)).toBe('ok');
      const height = BigInt(polled.values['bridge_external_height'] ?? 0);
      expect(HEIGHT - height <= blocks + 2n).toBe(true);
      const pinned = new Set(node.batches.at(-1)?.map(blockOf));
      expect(pinned, 'all calls are pinned to one block').toEqual(new Set([quantity(height)]));
      // oxlint-disable-next-line no-await-in-loop
      expect(failureOf(await pollContract(node.url, { before: polled.state }))).toBe('ok');
    }
  });

  it('are asked also when requests are sent one by one', async () => {
    const reject: RpcNodeOptions['reject'] = (requests, response) => requests.length > 1 && respond(413, '')(response);
    const node = await startBehind(1n, () => null, { reject });
    expect(failureOf(await pollContract(node.url))).toBe('ok');
  });
});
