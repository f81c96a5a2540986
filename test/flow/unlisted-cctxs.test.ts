import { describe, expect, it } from 'vitest';
import { defaultCrosschainSettings, type CrosschainSettings } from '../../src/config/endpoint-config.js';
import { isDocument } from '../../src/engine/endpoint-state.js';
import { getItems } from '../../src/engine/poll-body.js';
import type { CctxAnswer } from '../../src/facts/crosschain/crosschain-input.js';
import { MAX_CCTXS, nextQuestions, trackCrosschain, type CrosschainFlow } from '../../src/flow/unlisted-cctxs.js';
import { cctx, outbound, rateLimiterInput, status } from '../facts/crosschain/document.js';
import type { JsonObject } from '../support/json.js';
import { NO_NAMES, TARGET_OPTIONS } from '../support/polls.js';
import { inputOf } from '../support/snapshots.js';
import { polledDocuments, START_SECONDS } from './polled-documents.js';

interface CctxOptions {
  readonly chain?: string;
  readonly nonce?: number;
  readonly key?: string;
  /** Of its outbound. */
  readonly fields?: JsonObject;
}

/** A pending transaction that was created 100 seconds before the first poll. */
const pending = (
  index: string,
  { chain = '1', nonce = 0, key = 'k1', fields: others }: CctxOptions = {},
): JsonObject => {
  const fields = { tss_nonce: String(nonce), tss_pubkey: key, ...others };
  return cctx(index, [outbound(chain, fields)], {
    cctx_status: status({ created_timestamp: String(START_SECONDS - 70) }),
  });
};

/** A complete list at this height. */
const listed = (height: number, cctxs: readonly JsonObject[], fields: JsonObject = {}): JsonObject =>
  rateLimiterInput({ height: String(height), cctxs_pending: cctxs, total_pending: String(cctxs.length), ...fields });

/** An endpoint whose polls get these documents. */
function crosschainPolls(settings: Partial<CrosschainSettings> = {}) {
  const { poll, fail, snapshot, values } = polledDocuments({
    ...TARGET_OPTIONS,
    names: { ...NO_NAMES, chains: { '1': 'ethereum' } },
    document: 'rate_limiter_input',
    settings: { ...defaultCrosschainSettings, ...settings },
  });
  let answers: ReadonlyMap<string, CctxAnswer> = new Map();
  let cctxsAskedAt = 0;
  const flow = (): CrosschainFlow => {
    const last = snapshot();
    if (!isDocument('rate_limiter_input', last)) throw new Error('no poll has succeeded');
    return last.flow;
  };
  return {
    /** Polls `after` seconds after the last poll. In between, the node is asked, unless it is too slow. */
    poll: (document: unknown, after = 30, { isAsked = true } = {}): void => {
      if (isAsked) cctxsAskedAt += after * 1000;
      poll(document, after, { additionalInput: { cctxAnswers: answers, cctxsAskedAt } });
      answers = new Map();
    },
    fail,
    /** What the node answers before the next poll. */
    answer: (all: Readonly<Record<string, CctxAnswer>>): void => {
      answers = new Map(Object.entries(all));
    },
    /** The indexes of those for which the node is asked next. */
    questions: (): readonly string[] => nextQuestions(flow()),
    /** The indexes of all for which the node is asked. */
    departed: (): readonly string[] => Array.from(flow().departed.keys()),
    /** The values of `crosschain_cctxs_unlisted` by chain id. */
    unlisted: (): Record<string, number> =>
      Object.fromEntries(
        Object.entries(values(/^crosschain_cctxs_unlisted$/)).map(([series, value]) => [
          /chain_id="([^"]*)"/.exec(series)?.[1],
          value,
        ]),
      ),
    /** The unlisted ones of the page; `undefined` if nothing can be said. */
    unlistedItems: () => {
      const last = snapshot();
      const items = last && getItems(last);
      return items?.document === 'rate_limiter_input' && items.unlisted?.readable === true
        ? items.unlisted.rows
        : undefined;
    },
  };
}

const indexesOf = (count: number, prefix = '0x'): readonly string[] =>
  Array.from({ length: count }, (_, position) => `${prefix}${position}`);

const listOf = (height: number, indexes: readonly string[], fields: JsonObject = {}): JsonObject =>
  listed(
    height,
    indexes.map((index) => pending(index)),
    fields,
  );

/** A list in which these are missed. */
const missed = (height: number, indexes: readonly string[], fields: JsonObject = {}): JsonObject =>
  listOf(height, [], {
    cctxs_missed: indexes.map((index) => pending(index)),
    total_pending: String(indexes.length),
    ...fields,
  });

type Polls = ReturnType<typeof crosschainPolls>;

const sumOf = (values: Readonly<Record<string, number>>): number =>
  Object.values(values).reduce((sum, value) => sum + value, 0);

function answerAll(endpoint: Polls, indexes: readonly string[], answer: CctxAnswer): void {
  endpoint.answer(Object.fromEntries(indexes.map((index) => [index, answer])));
}

/** An endpoint after three documents: these have left the lists, and the node says that they are pending. The next height is 4. */
function withUnlisted(indexes: readonly string[], options: Partial<CrosschainSettings> = {}): Polls {
  const endpoint = crosschainPolls(options);
  endpoint.poll(missed(1, indexes));
  endpoint.poll(listOf(2, []));
  answerAll(endpoint, indexes, 'pending');
  endpoint.poll(listOf(3, []));
  return endpoint;
}

describe('transactions that are pending and no longer listed', () => {
  it('are counted by chain once the node has answered, with 0 for chains without one', () => {
    const endpoint = crosschainPolls();
    const gas = { coin_type: 'Gas', amount: '2500000000000000000' };
    const own = pending('0xb', { chain: '56', nonce: 9, fields: gas });
    endpoint.poll(listed(1, [pending('0xa'), own, pending('0xc', { chain: '56' })]));
    endpoint.poll(listOf(2, []));
    expect(endpoint.unlisted()).toEqual({});
    expect(endpoint.unlistedItems()).toBeUndefined();
    endpoint.answer({ '0xb': 'pending', '0xc': 'finished' });
    endpoint.poll(listOf(3, []));
    expect(endpoint.unlisted()).toEqual({ '1': 0, '56': 1 });
    expect(endpoint.unlistedItems()).toEqual([
      {
        index: '0xb',
        nonce: '9',
        coin: { coinType: 'Gas', symbol: 'BNB', amount: '2500000000000000000', wholeAmount: '2.5' },
        chainId: '56',
        chain: 'chain 56',
        createdAt: new Date((START_SECONDS - 70) * 1000).toISOString(),
        goneAt: new Date((START_SECONDS + 60) * 1000).toISOString(),
      },
    ]);
  });

  it('stay, whatever comes, until the outcome is known', () => {
    const endpoint = withUnlisted(['0xa']);
    const unchanged = { '1': 1 };
    // Without an answer for longer than documents are fresh.
    for (let height = 4; height < 20; height += 1) endpoint.poll(listOf(height, []));
    expect(endpoint.unlisted()).toEqual(unchanged);
    endpoint.fail(400);
    endpoint.poll(listOf(20, []));
    endpoint.poll(listOf(21, [], { total_pending: '7' }));
    endpoint.poll(listOf(22, [], { cctxs_missed: null }));
    endpoint.poll(listOf(23, []), 7200);
    expect(endpoint.unlisted()).toEqual(unchanged);
    // Of the same key, and then of another one.
    endpoint.poll(listOf(23, ['0xn']));
    endpoint.poll(listed(24, [pending('0xn', { key: 'k2' })]));
    expect(endpoint.unlisted()).toEqual(unchanged);
    expect(endpoint.questions()).toEqual(['0xa']);
    endpoint.answer({ '0xa': 'finished' });
    endpoint.poll(listed(25, [pending('0xn', { key: 'k2' })]));
    expect(endpoint.unlisted()).toEqual({ '1': 0 });
  });

  it('are forgotten when they are listed again', () => {
    const endpoint = withUnlisted(['0xa']);
    endpoint.poll(listOf(4, ['0xa']));
    expect(endpoint.unlisted()).toEqual({ '1': 0 });
    expect(endpoint.unlistedItems()).toEqual([]);
    expect(endpoint.questions()).toEqual([]);
  });

  it('are pending again when no list shows them after a truncated one did', () => {
    const endpoint = withUnlisted(['0xa']);
    answerAll(endpoint, ['0xa'], 'pending');
    endpoint.poll(listOf(4, ['0xa'], { total_pending: '600' }));
    expect(endpoint.unlisted()).toEqual({ '1': 0 });
    expect(endpoint.questions()).toEqual(['0xa']);
    endpoint.poll(listOf(5, []));
    answerAll(endpoint, ['0xa'], 'pending');
    endpoint.poll(listOf(6, []));
    expect(endpoint.unlisted()).toEqual({ '1': 1 });
    endpoint.answer({ '0xa': 'finished' });
    endpoint.poll(listOf(7, []));
    expect(endpoint.unlisted()).toEqual({});
  });

  it('are not asked for after an hour without an answer, as those that the node does not know', () => {
    const endpoint = crosschainPolls();
    endpoint.poll(missed(1, ['0xa']));
    endpoint.poll(listOf(2, []));
    endpoint.poll(listOf(3, []), 3590);
    expect(endpoint.questions()).toEqual(['0xa']);
    endpoint.poll(listOf(4, []), 20);
    expect(endpoint.questions()).toEqual([]);
  });

  it('are unknown, and asked for, as long as a node that has answered does not answer', () => {
    const endpoint = crosschainPolls();
    endpoint.poll(missed(1, ['0xa', '0xb']));
    endpoint.poll(missed(2, ['0xa']));
    endpoint.answer({ '0xb': 'finished' });
    endpoint.poll(listOf(3, []));
    expect(endpoint.unlisted()).toEqual({ '1': 0 });
    endpoint.poll(listOf(4, []), 290);
    expect(endpoint.unlisted(), 'most are finished').toEqual({ '1': 0 });
    endpoint.poll(listOf(5, []), 30);
    expect(endpoint.unlisted()).toEqual({});
    endpoint.poll(listOf(6, []), 7200);
    expect([endpoint.unlisted(), endpoint.questions()]).toEqual([{}, ['0xa']]);
    endpoint.answer({ '0xa': 'pending' });
    endpoint.poll(listOf(7, []));
    expect(endpoint.unlisted()).toEqual({ '1': 1 });
  });

  it('are missed ones, after an hour with more transactions than questions', () => {
    const endpoint = crosschainPolls();
    endpoint.poll(
      listOf(1, indexesOf(30), {
        cctxs_missed: indexesOf(20, '0xm').map((index) => pending(index)),
        total_pending: '50',
      }),
    );
    endpoint.poll(listOf(2, []));
    answerAll(endpoint, indexesOf(10, '0xm'), 'finished');
    endpoint.poll(listOf(3, []), 3700);
    expect(endpoint.departed()).toEqual(indexesOf(20, '0xm').slice(10));
  });

  it('are not asked for after an hour in which the node answers for others', () => {
    const endpoint = withUnlisted(['0xa']);
    endpoint.poll(listOf(4, ['0xb']));
    endpoint.poll(listOf(5, []));
    endpoint.poll(listOf(6, []), 3700);
    expect(endpoint.questions()).toEqual(['0xa', '0xb']);
    answerAll(endpoint, ['0xa'], 'pending');
    endpoint.poll(listOf(7, []));
    expect(endpoint.questions()).toEqual(['0xa']);
  });

  it.each<readonly [string, readonly JsonObject[], number]>([
    ['documents that are far apart', [], 400],
    ['truncated lists', [missed(2, [], { total_pending: '600' }), missed(3, [], { total_pending: '600' })], 30],
    ['lists that cannot be read', [missed(2, [], { cctxs_pending: null })], 30],
    ['documents of a lower height', [missed(0, []), missed(0, []), missed(0, [])], 30],
  ])('are found when they have left after %s', (_, between, after) => {
    const endpoint = crosschainPolls();
    endpoint.poll(listOf(1, ['0xp'], { cctxs_missed: [pending('0xa')], total_pending: '2' }));
    for (const document of between) endpoint.poll(document);
    endpoint.poll(listOf(4, []), after);
    expect(endpoint.questions()).toEqual(['0xa', '0xp']);
    endpoint.answer({ '0xa': 'pending', '0xp': 'finished' });
    endpoint.poll(listOf(5, []));
    expect(endpoint.unlisted()).toEqual({ '1': 1 });
  });

  it('are not those that left with a change of the key', () => {
    const endpoint = crosschainPolls();
    endpoint.poll(missed(1, ['0xa']));
    endpoint.poll(listed(2, [pending('0xn', { key: 'k2' })]));
    expect(endpoint.questions()).toEqual([]);
  });

  it('are forgotten when a list that is empty at first has another key', () => {
    const endpoint = withUnlisted(['0xa']);
    endpoint.poll(listOf(4, []));
    expect(endpoint.unlisted()).toEqual({ '1': 1 });
    endpoint.poll(listed(5, [pending('0xn', { key: 'k2' })]));
    expect(endpoint.unlisted()).toEqual({ '1': 0 });
    expect(endpoint.questions()).toEqual([]);
  });

  it('cannot be known without queries', () => {
    const endpoint = crosschainPolls({ cctx_queries: 'off' });
    endpoint.poll(missed(1, ['0xa']));
    endpoint.poll(listOf(2, []));
    endpoint.answer({ '0xa': 'pending' });
    endpoint.poll(listOf(3, []));
    expect(endpoint.unlisted()).toEqual({});
    expect(endpoint.unlistedItems()).toBeUndefined();
  });

  it.each([
    ['by their index', { indexes: ['0xa'], older_than: 0 }],
    ['by their age', { indexes: [], older_than: 180_000 }],
  ])('do not count when the configuration ignores them %s', (_, ignore) => {
    const endpoint = withUnlisted(['0xa'], { ignore });
    endpoint.poll(listOf(4, []));
    expect(endpoint.unlisted()).toEqual({ '1': 0 });
    expect(endpoint.unlistedItems()).toMatchObject([
      { index: '0xa', ignored: expect.stringContaining('crosschain.ignore') },
    ]);
  });

  it('are remembered up to a thousand, and missed ones are asked for first', () => {
    const endpoint = crosschainPolls();
    endpoint.poll(listOf(1, indexesOf(1500), { cctxs_missed: [pending('0xa')], total_pending: '1501' }));
    endpoint.poll(listOf(2, []));
    expect(endpoint.questions()).toEqual(['0xa', ...indexesOf(9)]);
    expect(endpoint.departed()).toHaveLength(1000);
    answerAll(endpoint, endpoint.departed(), 'pending');
    endpoint.poll(listOf(3, []));
    expect(sumOf(endpoint.unlisted())).toBe(1000);
    endpoint.poll(listOf(4, ['0xnew']));
    endpoint.poll(listOf(5, []));
    expect(endpoint.departed()).not.toContain('0xnew');
  });

  it('wait for room when a thousand are remembered, unless they are listed again', () => {
    const endpoint = crosschainPolls();
    const all = indexesOf(1300);
    endpoint.poll(listOf(1, all));
    endpoint.poll(listOf(2, []));
    expect(endpoint.departed()).toEqual(all.slice(0, 1000));
    answerAll(endpoint, all.slice(0, 200), 'finished');
    endpoint.poll(listOf(3, ['0x1000']));
    expect(new Set(endpoint.departed())).toEqual(new Set([...all.slice(200, 1000), ...all.slice(1001, 1201)]));
    answerAll(endpoint, all.slice(200, 1201), 'finished');
    endpoint.poll(listOf(4, [], { cctxs_missed: [pending('0x1000', { key: 'k2' })], total_pending: '1' }));
    expect(endpoint.departed(), 'of the key before').toEqual(all.slice(1201));
    answerAll(endpoint, all, 'pending');
    endpoint.poll(listOf(5, []));
    expect(sumOf(endpoint.unlisted())).toBe(99);
  });
});

describe('the ten questions after a document', () => {
  it('are those that were asked the longest ago', () => {
    const endpoint = withUnlisted([]);
    const all = indexesOf(25);
    endpoint.poll(missed(4, all));
    endpoint.poll(listOf(5, []));
    const asked: string[][] = [];
    for (let height = 6; height < 11; height += 1) {
      asked.push([...endpoint.questions()]);
      endpoint.poll(listOf(height, []));
    }
    expect(asked.flat()).toEqual([...all, ...all]);
  });

  it('are for one half pending ones, so that those that finish do not count for long, and none is left out', () => {
    const endpoint = withUnlisted([]);
    const all = indexesOf(25);
    endpoint.poll(missed(4, all));
    endpoint.poll(listOf(5, []));
    answerAll(endpoint, all.slice(0, 7), 'pending');
    endpoint.poll(listOf(6, []));
    expect(endpoint.questions()).toEqual([...all.slice(0, 5), ...all.slice(10, 15)]);
    endpoint.poll(listOf(7, []));
    expect(endpoint.questions()).toEqual([...all.slice(5, 7), ...all.slice(0, 3), ...all.slice(15, 20)]);
  });

  it('stay the same until the node was asked', () => {
    const endpoint = withUnlisted([]);
    endpoint.poll(missed(4, indexesOf(25)));
    endpoint.poll(listOf(5, []));
    const questions = endpoint.questions();
    endpoint.poll(listOf(6, []), 30, { isAsked: false });
    expect(endpoint.questions()).toEqual(questions);
  });
});

it('more transactions than a node can list, and long indexes, are not remembered', () => {
  const track = (document: JsonObject): CrosschainFlow =>
    trackCrosschain(undefined, inputOf('rate_limiter_input', document, { settings: defaultCrosschainSettings }));
  const rows = (indexes: readonly string[]): JsonObject[] => indexes.map((index) => cctx(index, [outbound('1')]));
  expect(track(listed(1, rows(indexesOf(MAX_CCTXS + 1)))).live).toBeUndefined();
  expect(track(listed(1, rows([...indexesOf(MAX_CCTXS), 'x'.repeat(100_000)]))).live?.size).toBe(MAX_CCTXS);
});
