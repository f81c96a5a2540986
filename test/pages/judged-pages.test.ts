import { describe, expect, it } from 'vitest';
import { judgeTargets } from '../../src/engine/target-problems.js';
import { pendingPage } from '../../src/pages/pending-page.js';
import { createView } from '../../src/pages/view.js';
import { failure } from '../../src/http/failure-reasons.js';
import type { PollResult } from '../../src/engine/step.js';
import { batch, idleState } from '../items/bridge-state.js';
import { pollOf } from '../support/polls.js';
import { recordedStates, type RecordedStates } from '../support/endpoint-states.js';
import { at, BRIDGE, CROSSCHAIN, shownOf, statusAt, TARGET, testLinks, textOf, titleOf } from './sample-snapshots.js';

/* From documents to pages: the problems of these tests are those of the exporter. Blocks take 2 s. */

const MINUTE = 60;

/** Records a document of the bridge at a time of the page. */
function pollBridge(store: RecordedStates, seconds: number, state: object, height = 1000 + seconds / 2): void {
  const poll = pollOf(BRIDGE, { state: { ...idleState, ...state } }, { height, at: at(seconds) });
  store.record(BRIDGE, poll, at(seconds));
}

function pollCrosschain(store: RecordedStates, seconds: number, document: object = {}): void {
  const input = { height: String(1 + seconds), cctxs_missed: [], cctxs_pending: [], total_pending: '0', ...document };
  store.record(CROSSCHAIN, pollOf(CROSSCHAIN, input, { at: at(seconds) }), at(seconds));
}

const newStore = (): RecordedStates =>
  recordedStates([BRIDGE, CROSSCHAIN], { maxBodyBytes: 2 ** 20, staleAfterMs: 5 * MINUTE * 1000 }, at(0));

/** Both endpoints with the same documents in every minute. */
function polledFor(minutes: number, state: object, document: object = {}): RecordedStates {
  const store = newStore();
  for (let minute = 0; minute <= minutes; minute += 1) {
    pollBridge(store, minute * MINUTE, state);
    pollCrosschain(store, minute * MINUTE, document);
  }
  return store;
}

const judged = (store: RecordedStates, seconds: number) => judgeTargets(store.states(), at(seconds));
const status = (store: RecordedStates, seconds: number): string =>
  statusAt(store, seconds, { problems: judged(store, seconds) });

function target(store: RecordedStates, seconds: number): string {
  const links = testLinks();
  const view = createView(shownOf(store.states()), judged(store, seconds), links, at(seconds), '');
  return pendingPage(view, '', links, { telemetryPath: '/metrics', version: '0.1.0' });
}

const headOf = (html: string): string => textOf(html).split('\n')[0] ?? '';

/** A batch that nobody has signed, created at the first poll. */
const unsigned = { batches: [batch('1', '60000', '1000')] };

describe('an endpoint without fresh data', () => {
  it('is the headline, with what has fired before beside it', () => {
    const store = polledFor(31, unsigned);
    const later = (31 + 11) * MINUTE;
    const down: PollResult = { outcome: failure('timeout', 'slow'), phaseSeconds: {} };
    for (let time = 32 * MINUTE; time <= later; time += MINUTE) store.record(BRIDGE, down, at(time));
    pollCrosschain(store, later);
    const html = status(store, later);
    expect(headOf(html)).toBe(`critical ${TARGET}: no poll of module_state succeeds, for 11 min`);
    expect(judged(store, later)[0]?.problems.map(({ alert, hiddenBy }) => [alert, hiddenBy])).toEqual([
      ['BridgeSnapshotStale', null],
      ['BridgeBatchUnsigned', null],
      ['BridgeEndpointDown', null],
      ['BridgeOrchestratorMissingVotes', null],
    ]);
    expect(textOf(html)).toContain('as of 2026-01-01 12:31 UTC');
  });

  it('is a warning with what to do when its node serves another document and has never served this one', () => {
    const error = { reason: 'status', message: 'responded with status 404', isNotServed: true } as const;
    const refused: PollResult = { outcome: { ok: false, error }, phaseSeconds: {} };
    const unauthorized: PollResult = { ...refused, outcome: failure('unauthorized', 'responded with status 403') };
    const textAfter = (poll: PollResult): string => {
      const store = newStore();
      for (let minute = 0; minute <= 11; minute += 1) {
        pollBridge(store, minute * MINUTE, {});
        store.record(CROSSCHAIN, poll, at(minute * MINUTE));
      }
      return textOf(status(store, 11 * MINUTE));
    };
    const text = textAfter(refused);
    expect(text).toContain(
      `warning ${TARGET}: the node does not serve rate_limiter_input, for 11 min\n` +
        'Responded with status 404\n' +
        'Act in working hours: If the node is not meant to serve it, remove CROSSCHAIN_URL, or crosschain from the target.',
    );
    expect(text.match(/does not serve rate_limiter_input/g)).toHaveLength(1);
    expect(textAfter(unauthorized)).toContain('the node does not serve rate_limiter_input');
    const { isNotServed: _isNotServed, ...other } = error;
    expect(textAfter({ ...refused, outcome: { ok: false, error: other } })).toMatch(/^critical /);
  });
});

describe('the problem of a document that is withdrawn', () => {
  it('stays on both pages while nothing says that the problem has ended, with the time of the document', () => {
    const store = polledFor(40, unsigned);
    expect(textOf(status(store, 45 * MINUTE))).not.toContain('as of');
    const stale = 46 * MINUTE;
    for (const page of [status(store, stale), target(store, stale)]) {
      expect(headOf(page)).toBe(`critical ${TARGET}: batch 1 of 0xt lacks signatures, for 46 min`);
      expect(textOf(page)).toContain('as of 2026-01-01 12:40 UTC');
    }
    expect(judged(store, stale)[0]).toMatchObject({
      status: 'critical',
      unknown: expect.arrayContaining([expect.stringContaining('no poll of module_state succeeds')]),
    });
  });

  it('is none if its alert had not fired', () => {
    const store = polledFor(12, unsigned);
    const unsignedAfter = (time: number) =>
      judged(store, time)[0]?.problems.filter(({ alert }) => alert === 'BridgeBatchUnsigned');
    expect(unsignedAfter(12 * MINUTE)).toHaveLength(1);
    expect(unsignedAfter(45 * MINUTE)).toEqual([]);
  });
});

describe('problems that cannot be judged', () => {
  it('are one entry, which names them and the fields that are missing or invalid', () => {
    const store = polledFor(3, {});
    for (let minute = 4; minute <= 15; minute += 1) {
      pollBridge(store, minute * MINUTE, { batches: 'x', attestations: undefined });
      pollCrosschain(store, minute * MINUTE);
    }
    const html = status(store, 15 * MINUTE);
    expect(headOf(html)).toBe(
      `warning ${TARGET}: BridgeContractValsetMismatch and 12 other problems of module_state cannot be judged, for 11 min`,
    );
    expect(textOf(html).split('\n')[1]).toMatch(
      /^Missing: state\.attestations, .*; invalid values of state\.batches; not judged: .*\bBridgeBatchUnsigned and \d+ more$/,
    );
    expect(textOf(html).match(/cannot be judged, for/g)).toHaveLength(1);
  });

  it('are a quiet line on the page of the target when they could never be judged', () => {
    const store = polledFor(15, { attestations: undefined });
    const html = target(store, 15 * MINUTE);
    expect(html).toMatch(/<p class="note">Not judged here: [^<]*\bBridgeOracleStalled\b/);
    expect(titleOf(html)).not.toContain('unusable');
    // Outdated data say nothing about the node.
    expect(target(store, 21 * MINUTE)).not.toContain('Not judged here');
    expect(target(polledFor(1, {}), MINUTE)).not.toMatch(/Not judged here: [^<]*\bBridgeOracleStalled\b/);
  });
});
