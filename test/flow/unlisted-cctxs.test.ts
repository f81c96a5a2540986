import { describe, expect, it } from 'vitest';
import type { CctxAnswer } from '../../src/facts/crosschain/crosschain-input.js';
import type { JsonObject } from '../support/json.js';
import { crosschainPolls, listed, pending, type CrosschainPollsOptions } from './crosschain-polls.js';
import { START_SECONDS } from './flow-polls.js';

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
function withUnlisted(indexes: readonly string[], options: CrosschainPollsOptions = {}): Polls {
  const endpoint = crosschainPolls(options);
  endpoint.poll(missed(1, indexes));
  endpoint.poll(listOf(2, []));
  answerAll(endpoint, indexes, 'pending');
  endpoint.poll(listOf(3, []));
  return endpoint;
}

const finished = (outcome: string): string =>
  `crosschain_cctxs_finished_total{chain_id="1",chain="ethereum",outcome="${outcome}"}`;

describe('transactions that are pending and no longer listed', () => {
  it('are counted by chain once the node has answered, with 0 for chains without one', () => {
    const endpoint = crosschainPolls();
    const gas = { coin_type: 'Gas', amount: '2500000000000000000' };
    const own = pending('0xb', { chain: '56', nonce: 9, fields: gas });
    endpoint.poll(listed(1, [pending('0xa'), own, pending('0xc', { chain: '56' })]));
    endpoint.poll(listOf(2, []));
    expect(endpoint.unlisted()).toEqual({});
    expect(endpoint.unlistedItems()).toBeUndefined();
    endpoint.answer({ '0xb': 'pending', '0xc': 'mined' });
    endpoint.poll(listOf(3, []));
    expect(endpoint.unlisted()).toEqual({ '1': 0, '56': 1 });
    expect(endpoint.unlistedItems()).toEqual([
      {
        index: '0xb',
        nonce: '9',
        coinType: 'Gas',
        symbol: 'BNB',
        amount: '2500000000000000000',
        wholeAmount: '2.5',
        chainId: '56',
        chain: null,
        createdAt: new Date((START_SECONDS - 70) * 1000).toISOString(),
        goneAt: new Date((START_SECONDS + 60) * 1000).toISOString(),
        ignored: false,
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
    endpoint.answer({ '0xa': 'mined' });
    endpoint.poll(listed(25, [pending('0xn', { key: 'k2' })]));
    expect(endpoint.unlisted()).toEqual({ '1': 0 });
    expect(endpoint.values()).toMatchObject({ [finished('mined')]: 1 });
  });

  it.each(['mined', 'reverted', 'aborted'] as const)('count as %s when they finish', (outcome) => {
    const endpoint = withUnlisted(['0xa', '0xb']);
    expect(endpoint.values()).toEqual({});
    endpoint.answer({ '0xa': outcome, '0xb': 'pending' });
    endpoint.poll(listOf(4, []));
    expect(endpoint.values()).toMatchObject({ [finished(outcome)]: 1 });
    expect(endpoint.unlisted()).toEqual({ '1': 1 });
    endpoint.answer({ '0xa': outcome });
    endpoint.poll(listOf(5, []));
    expect(endpoint.values()).toMatchObject({ [finished(outcome)]: 1 });
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
    endpoint.answer({ '0xa': 'mined' });
    endpoint.poll(listOf(7, []));
    expect(endpoint.unlisted()).toEqual({ '1': 0 });
    expect(endpoint.values()).toEqual({ 'bridge_flow_gaps_total{reason="truncated"}': 1 });
  });

  it('are found when the first answer comes after their outcome has counted as unknown, and count once', () => {
    const endpoint = crosschainPolls();
    endpoint.poll(missed(1, ['0xa']));
    for (let height = 2; height <= 20; height += 1) endpoint.poll(listOf(height, []));
    expect(endpoint.values()).toEqual({ [finished('unknown')]: 1 });
    endpoint.answer({ '0xa': 'pending' });
    endpoint.poll(listOf(21, []));
    expect(endpoint.unlisted()).toEqual({ '1': 1 });
    endpoint.answer({ '0xa': 'mined' });
    endpoint.poll(listOf(22, []));
    expect(endpoint.values()).toEqual({ [finished('unknown')]: 1 });
    expect(endpoint.unlisted()).toEqual({ '1': 0 });
  });

  it('are found when they were counted before, and are listed and gone again', () => {
    const endpoint = crosschainPolls();
    endpoint.poll(missed(1, ['0xa']));
    for (let height = 2; height <= 20; height += 1) endpoint.poll(listOf(height, []));
    endpoint.poll(missed(21, ['0xa']));
    endpoint.poll(listOf(22, []));
    endpoint.answer({ '0xa': 'pending' });
    endpoint.poll(listOf(23, []));
    expect(endpoint.unlisted()).toEqual({ '1': 1 });
    expect(endpoint.values()).toEqual({ [finished('unknown')]: 1 });
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

  it.each<readonly [string, readonly JsonObject[], number]>([
    ['documents that are far apart', [], 400],
    ['truncated lists', [missed(2, [], { total_pending: '600' }), missed(3, [], { total_pending: '600' })], 30],
    ['lists that cannot be read', [missed(2, [], { cctxs_pending: null })], 30],
    ['documents of a lower height', [missed(0, []), missed(0, [])], 30],
  ])('are found when they were missed and are gone after %s, and do not count', (_, between, after) => {
    const endpoint = crosschainPolls();
    endpoint.poll(listOf(1, ['0xp'], { cctxs_missed: [pending('0xa')], total_pending: '2' }));
    for (const document of between) endpoint.poll(document);
    endpoint.poll(listOf(between.length === 2 && after === 30 ? 0 : 4, []), after);
    const next = listOf(4, []);
    if (endpoint.questions().length === 0) endpoint.poll(next);
    expect(endpoint.questions()).toEqual(['0xa']);
    endpoint.answer({ '0xa': 'pending' });
    endpoint.poll(listOf(5, []));
    expect(endpoint.unlisted()).toEqual({ '1': 1 });
    endpoint.answer({ '0xa': 'mined' });
    endpoint.poll(listOf(6, []));
    expect(endpoint.unlisted()).toEqual({ '1': 0 });
    expect(Object.keys(endpoint.values()).filter((series) => series.includes('finished'))).toEqual([]);
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

  it('cannot be known without queries, which counts their outcome as unknown', () => {
    const endpoint = crosschainPolls({ cctx_queries: 'off' });
    endpoint.poll(missed(1, ['0xa']));
    endpoint.poll(listOf(2, []));
    endpoint.answer({ '0xa': 'pending' });
    endpoint.poll(listOf(3, []));
    expect(endpoint.unlisted()).toEqual({});
    expect(endpoint.unlistedItems()).toBeUndefined();
    expect(endpoint.values()).toEqual({ [finished('unknown')]: 1 });
  });

  it.each([
    ['by their index', { indexes: ['0xa'], older_than: 0 }],
    ['by their age', { indexes: [], older_than: 180_000 }],
  ])('do not count when the configuration ignores them %s', (_, ignore) => {
    const endpoint = withUnlisted(['0xa'], { ignore });
    endpoint.poll(listOf(4, []));
    expect(endpoint.unlisted()).toEqual({ '1': 0 });
    expect(endpoint.unlistedItems()).toMatchObject([{ index: '0xa', ignored: true }]);
  });

  it('are remembered up to a thousand, and are asked for before all others that do not count', () => {
    const endpoint = crosschainPolls();
    endpoint.poll(listOf(1, indexesOf(1500), { cctxs_missed: [pending('0xa')], total_pending: '1501' }));
    endpoint.poll(listOf(2, []));
    expect(endpoint.questions()).toEqual(['0xa', ...indexesOf(9)]);
    expect(endpoint.departed()).toHaveLength(1000);
    // Those above the limit.
    expect(endpoint.values()).toEqual({ [finished('unknown')]: 501 });
    answerAll(endpoint, endpoint.departed(), 'pending');
    endpoint.poll(listOf(3, []));
    expect(sumOf(endpoint.unlisted())).toBe(1000);
    const counted = endpoint.values()[finished('unknown')] ?? 0;
    endpoint.poll(listOf(4, ['0xnew']));
    endpoint.poll(listOf(5, []));
    expect(endpoint.departed()).not.toContain('0xnew');
    expect(endpoint.values()).toEqual({ [finished('unknown')]: counted + 1 });
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
      const questions = endpoint.questions();
      asked.push([...questions]);
      answerAll(endpoint, questions, 'pending');
      endpoint.poll(listOf(height, []));
    }
    expect(asked.flat()).toEqual([...all, ...all]);
  });

  it('stay the same until the node was asked', () => {
    const endpoint = withUnlisted([]);
    endpoint.poll(missed(4, indexesOf(25)));
    endpoint.poll(listOf(5, []));
    const questions = endpoint.questions();
    endpoint.poll(listOf(6, []), 30, { isAsked: false });
    expect(endpoint.questions()).toEqual(questions);
  });

  it('are five for those that have just left, also when many are known to be pending', () => {
    const unlisted = indexesOf(12, '0xu');
    const endpoint = crosschainPolls();
    endpoint.poll(missed(1, unlisted));
    endpoint.poll(listOf(2, []));
    for (const height of [3, 4]) {
      answerAll(endpoint, endpoint.questions(), 'pending');
      endpoint.poll(listOf(height, []));
    }
    expect(endpoint.unlisted()).toEqual({ '1': 12 });
    endpoint.poll(listOf(5, indexesOf(8)));
    endpoint.poll(listOf(6, []));
    const questions = endpoint.questions();
    expect(questions.slice(0, 5)).toEqual(indexesOf(5));
    expect(questions.slice(5).every((index) => unlisted.includes(index))).toBe(true);
    expect(questions).toHaveLength(10);
  });
});
