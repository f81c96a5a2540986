import { describe, expect, it } from 'vitest';
import { EMPTY_BRIDGE_FLOW } from '../../src/flow/bridge-flow.js';
import { FLOW_MINUTES, flowHistoryAfter, NO_FLOW_HISTORY } from '../../src/flow/flow-history.js';
import { defaultBridgeSettings, type Objective } from '../../src/config/endpoint-config.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import { backlogHtml, flowView, type FlowView } from '../../src/pages/backlog.js';
import { initialState } from '../../src/engine/endpoint-state.js';
import { step } from '../../src/engine/step.js';
import { batch, state, transfer, valset } from '../facts/bridge/state.js';
import type { JsonObject } from '../support/json.js';
import { NO_LABELS, pollOf, TARGET_OPTIONS } from '../support/polls.js';
import { at } from './sample-snapshots.js';
import type { StepContext } from '../../src/document-types.js';

const limits = { maxBodyBytes: 2 ** 26, staleAfterMs: 300_000 };
const MINUTE = 60;

/** A bridge whose transfers are requested, batched and executed one by one, with a poll every minute. */
function bridgeOf(initialObjective?: Objective) {
  let objective = initialObjective;
  const contextNow = (): StepContext => ({
    ...TARGET_OPTIONS,
    document: 'module_state',
    settings: { ...defaultBridgeSettings, block_time: 1000, ...(objective && { objective }) },
    labels: { ...NO_LABELS, tokens: [{ contract: '0xa', min_batch_fee: '1' }] },
    ...limits,
  });
  let endpoint = initialState(contextNow(), at(0).at);
  let seconds = -MINUTE;
  let [requested, executed, nonce] = [1, 0, 0];
  const document = (): JsonObject => {
    const pending = Array.from({ length: requested - executed }, (_, index) => executed + index + 1);
    const batches = pending.map((id) =>
      batch(String(id), '0xa', {
        block: '1000',
        transactions: [transfer(String(id), '0xa', '5', { contract: '0xa', amount: '1' })],
      }),
    );
    return state({
      params: { bridge_external_address: '0xc', average_block_time: '1000' },
      last_observed_nonce: String(nonce),
      last_outgoing_batch_id: String(requested),
      last_outgoing_pool_id: String(requested),
      last_observed_valset: valset('1', {}),
      batches,
    });
  };
  const poll = (minutes: number): void => {
    seconds += minutes * MINUTE;
    const context = contextNow();
    const polled = pollOf(context, { state: document() }, { height: 1000 + seconds, at: at(seconds) });
    endpoint = step(endpoint, polled, context, at(seconds));
  };
  return {
    wait: (minutes: number, interval = 1): void => {
      for (let minute = 0; minute < minutes; minute += interval) poll(interval);
    },
    reload: (next: Objective): void => void (objective = next),
    request: (): void => void (requested += 1),
    execute: (): void => {
      executed += 1;
      nonce += 1;
    },
    state: () => endpoint,
    page: () => renderEndpoints([endpoint], 'text', at(seconds)),
    view: (): FlowView => {
      const view = flowView({ state: endpoint, job: { url: new URL('http://a'), context: contextNow() } }, at(seconds));
      if (view === null) throw new Error('there is no view');
      return view;
    },
  };
}

const textOf = (flow: FlowView): string =>
  backlogHtml({ target: '', backlog: [], flow, node: { blockTime: null, behindSeconds: null, syncing: null } })
    .html.replaceAll(/<[^>]+>/g, '')
    .trim();

describe('the numbers about executed withdrawals', () => {
  it('say that there are none, and since when they count', () => {
    const bridge = bridgeOf();
    bridge.wait(13);
    bridge.execute();
    bridge.wait(1);
    // It had been requested before the first poll.
    expect(textOf(bridge.view())).toBe(
      'Withdrawals executed in the last 13 min 1 median time unknown: requested before the start; counted since the start',
    );
    bridge.wait(70);
    expect(textOf(bridge.view())).toMatch(/^Withdrawals executed in the last 83 min 1 .*; none in the last hour; /);
    bridge.wait(24 * 60, 4);
    expect(textOf(bridge.view())).toBe('Withdrawals executed in the last 24 hours none');
  });

  it('have the executions of the last hour, the median of a day and the oldest that is due', () => {
    const bridge = bridgeOf();
    bridge.wait(5);
    for (let withdrawal = 0; withdrawal < 4; withdrawal += 1) {
      bridge.request();
      bridge.wait(25);
      bridge.execute();
      bridge.wait(5);
    }
    const { executedLastHour, executedLastDay, medianSeconds, oldestDueSeconds } = bridge.view();
    expect({ executedLastHour, executedLastDay }).toEqual({ executedLastHour: 2, executedLastDay: 4 });
    expect(bridge.page()).toContain('bridge_transfers_executed_total{target="t",token_contract="0xa",denom=""} 4\n');
    // The first one was there before the first poll. The others took 55 minutes, the median of the bucket from 30 to 60.
    expect(medianSeconds).toBe(45 * MINUTE);
    // The batches of this bridge are of the height at the start.
    expect(oldestDueSeconds).toBe(124 * MINUTE);
  });

  it('have the share that met the objective', () => {
    const bridge = bridgeOf({ withdrawal: 600_000, ratio: '0.99' });
    bridge.wait(5);
    bridge.execute();
    for (const minutes of [5, 15]) {
      bridge.request();
      bridge.wait(minutes);
      bridge.execute();
      bridge.wait(1);
    }
    expect(bridge.view().objective).toEqual({ seconds: 600, ratio: 0.99, met: 0.5 });
    expect(textOf(bridge.view())).toContain('Within 10 min 50.0 % in the last 3 days; objective 99.0 %');
  });

  it.each([
    [600_000, 660_000],
    // The number of buckets stays.
    [3_000_000, 5_400_000],
  ])('count from a change of the objective on when it changes the buckets: from %i to %i ms', (withdrawal, changed) => {
    const bridge = bridgeOf({ withdrawal, ratio: '0.99' });
    bridge.wait(60);
    bridge.execute();
    bridge.wait(1);
    expect(bridge.view()).toMatchObject({ executedLastHour: 1, countedSeconds: 60 * MINUTE });
    bridge.reload({ withdrawal: changed, ratio: '0.99' });
    bridge.wait(2);
    expect(bridge.view()).toMatchObject({ executedLastHour: 0, countedSeconds: MINUTE, medianSeconds: null });
  });

  it('come from a bounded memory', () => {
    const minutes = Array.from({ length: 2 * FLOW_MINUTES }, (_, minute) => minute);
    const history = minutes.reduce(
      (before, minute) => flowHistoryAfter(before, EMPTY_BRIDGE_FLOW, at(minute * MINUTE).at),
      NO_FLOW_HISTORY,
    );
    expect(history.points.length).toBeGreaterThan(90);
    expect(history.points.length).toBeLessThan(130);
  });
});
