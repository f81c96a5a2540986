import { expect, it } from 'vitest';
import { failureReasonNames } from '../../src/http/failure-reasons.js';
import type { EndpointKey } from '../../src/poll/endpoint-state.js';
import { recordedStates } from '../support/endpoint-states.js';
import type { PollResult } from '../../src/poll/poll.js';
import { addPoll, NO_HISTORY } from '../../src/alerts/view.js';
import { bridgeSnapshot } from '../support/snapshots.js';

const KEY: EndpointKey = { target: 't', document: 'module_state' };

it('the history of an endpoint does not grow, whatever its polls return', () => {
  const staleAfterMs = 1000;
  const store = recordedStates([KEY], { maxBodyBytes: 1000, staleAfterMs });
  let history = NO_HISTORY;
  for (let poll = 0; poll < 1000; poll += 1) {
    const at = { epochSeconds: 1_790_000_000 + poll * 60, monotonicMs: poll * 60_000 };
    const reason = failureReasonNames[poll % failureReasonNames.length] ?? 'timeout';
    // A new invalid field and a new height in every other poll.
    const state = { last_observed_nonce: '7', params: { [poll % 4 === 0 ? 'admins' : 'target_batch_timeout']: {} } };
    const result: PollResult =
      poll % 2 === 0
        ? { outcome: bridgeSnapshot(state, { height: String(poll) }), phaseSeconds: {} }
        : { outcome: { ok: false, error: { reason, message: 'in this test' } }, phaseSeconds: {} };
    const { after } = store.record(KEY, result, at);
    history = addPoll(history, after, at);
  }
  expect(history.successes).toHaveLength(3);
  expect(history.failures.size).toBe(failureReasonNames.length);
  expect(Array.from(history.failures.values(), (times) => times.length > 2)).not.toContain(true);
  expect(history.invalidAt.size).toBe(2);
  expect(Array.from(history.changes.keys())).toEqual(['bridge_height']);
});
