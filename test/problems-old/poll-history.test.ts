import { describe, expect, it } from 'vitest';
import { failureReasonNames } from '../../src/http/failure-reasons.js';
import { recordedStates } from '../support/endpoint-states.js';
import type { Poll } from '../../src/poll/step.js';
import { addPoll, NO_HISTORY, valueAgo } from '../../src/alerts/poll-history.js';
import { bridgeContext, bridgePoll } from '../support/snapshots.js';

const CONTEXT = bridgeContext();

it('the history of an endpoint does not grow, whatever its polls return', () => {
  const staleAfterMs = 1000;
  const store = recordedStates([CONTEXT], { maxBodyBytes: 1000, staleAfterMs });
  let history = NO_HISTORY;
  for (let poll = 0; poll < 300; poll += 1) {
    const at = { epochSeconds: 1_790_000_000 + poll * 60, monotonicMs: poll * 60_000 };
    const reason = failureReasonNames[poll % failureReasonNames.length] ?? 'timeout';
    // A new invalid field and a new height in every other poll.
    const state = { last_observed_nonce: '7', params: { [poll % 4 === 0 ? 'admins' : 'target_batch_timeout']: {} } };
    const result: Poll =
      poll % 2 === 0
        ? bridgePoll(state, { height: String(poll), atMs: at.monotonicMs })
        : { outcome: { ok: false, error: { reason, message: 'in this test' } }, phaseSeconds: {} };
    const { after } = store.record(CONTEXT, result, at);
    history = addPoll(history, after, at);
  }
  expect(history.successes).toHaveLength(3);
  expect(history.failures.size).toBe(failureReasonNames.length);
  expect(Array.from(history.failures.values(), (times) => times.length > 2)).not.toContain(true);
  expect(history.withdrawnAt.size).toBeLessThan(200);
  expect(Array.from(history.changes.keys())).toEqual(['bridge_height']);
});

describe('the value of a series some minutes ago', () => {
  const labels = { token_contract: '0xaa', denom: '' };

  function pollOf(count: number, atMs: number) {
    const coin = { contract: '0xaa', amount: '1' };
    const transfers = Array.from({ length: count }, (_, id) => ({
      id: String(id),
      erc20_token: coin,
      erc20_fee: coin,
    }));
    return bridgePoll({ unbatched_transfers: transfers, batches: [] }, { atMs });
  }

  /** The history of polls, one a minute by default, with these numbers of waiting transfers. */
  function historyOf(counts: readonly number[], intervalSeconds = 60) {
    const store = recordedStates([CONTEXT], { maxBodyBytes: 1000, staleAfterMs: 1000 });
    return counts.reduce((history, count, poll) => {
      const seconds = poll * intervalSeconds;
      const at = { epochSeconds: 1_790_000_000 + seconds, monotonicMs: seconds * 1000 };
      return addPoll(history, store.record(CONTEXT, pollOf(count, at.monotonicMs), at).after, at);
    }, NO_HISTORY);
  }
  const ago = (counts: readonly number[], minutes: number): number | undefined => {
    const now = { epochSeconds: 0, monotonicMs: (counts.length - 1) * 60_000 };
    return valueAgo({ history: historyOf(counts), now }, 'bridge_token_unbatched_transfers', labels, minutes);
  };

  it('is that of the last poll before then', () => {
    const counts = [1, 1, 2, 5, 5, 5];
    expect([0, 2, 3, 5].map((minutes) => ago(counts, minutes))).toEqual([5, 5, 2, 1]);
  });

  it('is that of every poll, however short the interval is', () => {
    const remembered = { history: historyOf([1, 2, 3], 15), now: { epochSeconds: 0, monotonicMs: 30_000 } };
    expect(valueAgo(remembered, 'bridge_token_unbatched_transfers', labels, 0.25)).toBe(2);
  });

  it('is unknown before the first poll', () => {
    expect(ago([1, 2, 3], 4)).toBeUndefined();
  });

  it('is known at the beginning of the range, however long it has not changed', () => {
    expect(ago([...Array.from({ length: 400 }, () => 7), ...Array.from({ length: 179 }, () => 8), 9], 180)).toBe(7);
  });

  it('keeps a bounded number of changes', () => {
    const { past } = historyOf(Array.from({ length: 500 }, (_, minute) => 1 + (minute % 3)));
    expect(Array.from(past.values(), (values) => values.length)).toEqual([64]);
  });
});
