import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../support/json.js';
import { crosschainPolls, listed, pending } from './crosschain-polls.js';
import { START_SECONDS } from './flow-polls.js';

const LABELS = 'chain_id="1",chain="ethereum"';
const finished = (outcome: string, labels = LABELS): string =>
  `crosschain_cctxs_finished_total{${labels},outcome="${outcome}"}`;

describe('the flow of cross-chain transactions', () => {
  it('starts with 0 for the chains of the first document and for the reasons of gaps', () => {
    const endpoint = crosschainPolls();
    endpoint.poll(listed(1, [pending('0xa')]));
    expect(endpoint.values()).toEqual({});
    const series = endpoint.exposition().split('\n');
    for (const outcome of ['mined', 'reverted', 'aborted', 'unknown']) {
      expect(series).toContain(`crosschain_cctxs_finished_total{target="t",${LABELS},outcome="${outcome}"} 0`);
    }
    expect(series).toContain(`crosschain_cctx_duration_seconds_bucket{target="t",${LABELS},le="60.0"} 0`);
    expect(endpoint.flow()?.gaps).toEqual({ regression: 0, list: 0, stale: 0, truncated: 0, key: 0, unseen: 0 });
  });

  it.each(['mined', 'reverted', 'aborted'] as const)(
    'counts one that has left the lists with its outcome %s, and its duration until it was gone',
    (outcome) => {
      const endpoint = crosschainPolls();
      endpoint.poll(listed(1, [pending('0xa')]));
      endpoint.poll(listed(2, []));
      expect(endpoint.departed()).toEqual(['0xa']);
      expect(endpoint.values()).toEqual({});
      endpoint.answer({ '0xa': outcome });
      endpoint.poll(listed(3, []));
      expect(endpoint.departed()).toEqual([]);
      expect(endpoint.values()).toEqual({
        [finished(outcome)]: 1,
        [`crosschain_cctx_duration_seconds_count{${LABELS}}`]: 1,
        // Created 70 s before the start, gone in the document 60 s after it.
        [`crosschain_cctx_duration_seconds_sum{${LABELS}}`]: 130,
      });
    },
  );

  it('counts nothing when the node answers that it is pending, and one that is listed again', () => {
    const endpoint = crosschainPolls();
    endpoint.poll(listed(1, [pending('0xa'), pending('0xb')]));
    endpoint.poll(listed(2, []));
    endpoint.answer({ '0xa': 'pending' });
    endpoint.poll(listed(3, [pending('0xb')]));
    expect(endpoint.departed()).toEqual(['0xa']);
    endpoint.poll(listed(4, [pending('0xb')]), 301);
    expect(endpoint.departed()).toEqual(['0xa']);
    expect(endpoint.values()).toEqual({ 'bridge_flow_gaps_total{reason="stale"}': 1 });
  });

  it('counts one without an answer as unknown after the time in which documents become stale, without a duration', () => {
    const endpoint = crosschainPolls();
    endpoint.poll(listed(1, [pending('0xa')]));
    for (let height = 2; height <= 12; height += 1) endpoint.poll(listed(height, []));
    expect(endpoint.values()).toEqual({});
    endpoint.poll(listed(13, []));
    expect(endpoint.values()).toEqual({ [finished('unknown')]: 1 });
  });

  it('counts them as unknown at once without queries', () => {
    const many = Array.from({ length: 103 }, (_, index) => pending(`0x${index}`));
    const endpoint = crosschainPolls({ cctx_queries: 'off' });
    endpoint.poll(listed(1, many));
    endpoint.poll(listed(2, []));
    expect(endpoint.values()).toEqual({ [finished('unknown')]: 103 });
    expect(endpoint.departed()).toEqual([]);
  });

  it('counts one on the chain on which it was pending last, and not when it moves between the lists', () => {
    const endpoint = crosschainPolls();
    endpoint.poll(listed(1, [pending('0xa', { chain: '1' })]));
    endpoint.poll(listed(2, [pending('0xa', { chain: '56' })]));
    endpoint.poll(listed(3, [], { cctxs_missed: [pending('0xa', { chain: '56' })], total_pending: '1' }));
    expect(endpoint.departed()).toEqual([]);
    endpoint.poll(listed(4, []));
    endpoint.answer({ '0xa': 'reverted' });
    endpoint.poll(listed(5, []));
    expect(endpoint.values()).toMatchObject({ [finished('reverted', 'chain_id="56",chain=""')]: 1 });
  });

  it('has no duration without a creation time, from a hub whose clock is ahead, and of more than ten years', () => {
    const endpoint = crosschainPolls();
    const times = { '0xa': 0, '0xb': START_SECONDS + 1000, '0xc': 1 };
    endpoint.poll(
      listed(
        1,
        Object.entries(times).map(([index, created]) => pending(index, { created })),
      ),
    );
    endpoint.poll(listed(2, []));
    endpoint.answer({ '0xa': 'mined', '0xb': 'mined', '0xc': 'mined' });
    endpoint.poll(listed(3, []));
    expect(endpoint.values()).toEqual({ [finished('mined')]: 3 });
  });

  it('counts none twice that a node lists again after it was counted', () => {
    const endpoint = crosschainPolls();
    for (let height = 1; height < 20; height += 2) {
      endpoint.poll(listed(height, [pending('0xa')]));
      endpoint.answer({ '0xa': 'mined' });
      endpoint.poll(listed(height + 1, []));
    }
    endpoint.answer({ '0xa': 'mined' });
    endpoint.poll(listed(100, []));
    endpoint.poll(listed(101, [pending('0xa')]));
    endpoint.poll(listed(102, []));
    endpoint.answer({ '0xa': 'mined' });
    endpoint.poll(listed(103, []));
    expect(endpoint.values()).toMatchObject({ [finished('mined')]: 1 });
  });

  it('survives failed polls, and is exported while the chain series are withdrawn', () => {
    const endpoint = crosschainPolls({ cctx_queries: 'off' });
    endpoint.poll(listed(1, [pending('0xa')]));
    endpoint.fail();
    endpoint.poll(listed(2, []));
    endpoint.fail(400);
    expect(endpoint.values()).toEqual({ [finished('unknown')]: 1 });
  });

  it('has series for the first chains, and one for all that come later', () => {
    const endpoint = crosschainPolls({ maxSeries: 8, cctx_queries: 'off' });
    endpoint.poll(listed(1, [pending('0xa'), pending('0xb', { chain: '56' }), pending('0xc', { chain: '137' })]));
    endpoint.poll(listed(2, []));
    expect(endpoint.values()).toEqual({
      [finished('unknown')]: 1,
      [finished('unknown', 'chain_id="other",chain="other"')]: 2,
    });
  });
});

describe('a gap of the cross-chain flow', () => {
  it.each<readonly [string, JsonObject, number]>([
    ['regression', listed(1, []), 30],
    ['stale', listed(3, []), 301],
    ['list', listed(3, [], { cctxs_pending: null }), 30],
    ['list', listed(3, [], { cctxs_missed: [null] }), 30],
    ['list', listed(3, [], { height: 'x' }), 30],
    ['list', listed(3, [], { total_pending: null }), 30],
    ['list', listed(3, [{ ...pending('0xb'), index: 7 }]), 30],
    ['truncated', listed(3, [], { total_pending: '1' }), 30],
    ['key', listed(3, [pending('0xb', { key: 'k2' })]), 30],
  ])('%s counts nothing else', (reason, document, after) => {
    const endpoint = crosschainPolls({ cctx_queries: 'off' });
    endpoint.poll(listed(2, [pending('0xa')]));
    // The third document of a lower height in a row is accepted.
    if (reason === 'regression') for (let poll = 0; poll < 2; poll += 1) endpoint.poll(document);
    endpoint.poll(document, after);
    expect(endpoint.values()).toEqual({ [`bridge_flow_gaps_total{reason="${reason}"}`]: 1 });
  });

  it('is counted once for several truncated lists, after which the flow goes on', () => {
    const endpoint = crosschainPolls({ cctx_queries: 'off' });
    endpoint.poll(listed(1, [pending('0xa'), pending('0xb')]));
    for (let height = 2; height < 5; height += 1) endpoint.poll(listed(height, [], { total_pending: '2' }));
    endpoint.poll(listed(5, [pending('0xb')]));
    endpoint.poll(listed(6, []));
    expect(endpoint.values()).toEqual({
      [finished('unknown')]: 1,
      'bridge_flow_gaps_total{reason="truncated"}': 1,
    });
  });

  it('by a change of the key counts those of the present key', () => {
    const endpoint = crosschainPolls({ cctx_queries: 'off' });
    endpoint.poll(listed(1, [pending('0xa'), pending('0xb', { key: 'k2' }), pending('0xc', { key: 'k2' })]));
    endpoint.poll(listed(2, [pending('0xc', { key: 'k2' })]));
    expect(endpoint.values()).toEqual({ [finished('unknown')]: 1, 'bridge_flow_gaps_total{reason="key"}': 1 });
  });

  it('says that one was created and finished when only the nonce of another one has changed', () => {
    const endpoint = crosschainPolls();
    endpoint.poll(listed(1, [pending('0xa', { nonce: 5 }), pending('0xb', { nonce: 6 })]));
    endpoint.poll(listed(2, [pending('0xb', { nonce: 6 }), pending('0xa', { nonce: 5 })]));
    expect(endpoint.values()).toEqual({});
    endpoint.poll(listed(3, [pending('0xb', { nonce: 6 }), pending('0xa', { nonce: 8 })]));
    expect(endpoint.values()).toEqual({ 'bridge_flow_gaps_total{reason="unseen"}': 1 });
  });

  it('says that one was created and finished between two documents, by the nonces of a chain', () => {
    const endpoint = crosschainPolls();
    endpoint.poll(listed(1, [pending('0xa', { nonce: 5 })]));
    endpoint.poll(listed(2, [pending('0xa', { nonce: 5 }), pending('0xb', { nonce: 6 })]));
    expect(endpoint.values()).toEqual({});
    endpoint.poll(
      listed(3, [pending('0xa', { nonce: 5 }), pending('0xd', { nonce: 8 }), pending('0xb', { nonce: 6 })]),
    );
    expect(endpoint.values()).toEqual({ 'bridge_flow_gaps_total{reason="unseen"}': 1 });
    // Nonces of a new key begin anew.
    endpoint.poll(listed(4, [pending('0xe', { nonce: 0, key: 'k2' })]));
    endpoint.poll(listed(5, [pending('0xe', { nonce: 0, key: 'k2' }), pending('0xf', { nonce: 1, key: 'k2' })]));
    expect(endpoint.values()).toEqual({
      'bridge_flow_gaps_total{reason="unseen"}': 1,
      'bridge_flow_gaps_total{reason="key"}': 1,
    });
  });
});
