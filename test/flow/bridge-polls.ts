import { defaultBridgeSettings, type BridgeSettings } from '../../src/config/endpoint-config.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import type { BridgeFlow } from '../../src/flow/bridge-flow.js';
import type { Poll } from '../../src/poll/step.js';
import { isOf, type Snapshot } from '../../src/poll/endpoint-state.js';
import { recordedStates } from '../support/endpoint-states.js';
import { seriesOf } from '../support/exposition-text.js';
import { pollOf, TARGET_OPTIONS } from '../support/polls.js';
import type { StepContext } from '../../src/document-types.js';

const STALE_AFTER_MS = 300_000;

export interface BridgePollsOptions extends Partial<BridgeSettings> {
  readonly maxSeries?: number;
}

/** An endpoint whose polls get these documents, as in the daemon. */
export function bridgePolls({ maxSeries = 200, ...settings }: BridgePollsOptions = {}) {
  const source: StepContext<'module_state'> = {
    ...TARGET_OPTIONS,
    maxSeries,
    document: 'module_state',
    settings: { ...defaultBridgeSettings, ...settings },
  };
  const states = recordedStates([source], { maxBodyBytes: 2 ** 26, staleAfterMs: STALE_AFTER_MS });
  let seconds = 0;
  const instant = () => ({ epochSeconds: 1_790_000_000 + seconds, monotonicMs: seconds * 1000 });
  const last = () => states.states()[0]?.success?.snapshot;
  const record = (result: Poll): void => void states.record(source, result, instant());

  /** The values of the families of the flow that are not 0, without the label target. */
  const values = (): Record<string, number> => {
    const series = seriesOf(renderEndpoints(states.states(), 'text', instant()));
    return Object.fromEntries(
      series
        .filter(({ name, value }) => FLOW.test(name) && value !== 0)
        .map(({ name, labels, value }) => {
          const others = labels.replace(/^target="t",?/, '').replace(/^document="module_state",?/, '');
          return [others === '' ? name : `${name}{${others}}`, value];
        }),
    );
  };
  return {
    /** Polls `after` seconds after the last poll. */
    poll: (state: unknown, { height, after = 30 }: { height?: number; after?: number } = {}): void => {
      seconds += after;
      record(pollOf(source, { state }, { height, at: instant() }));
    },
    fail: (after = 30): void => {
      seconds += after;
      record({ outcome: { ok: false, error: { reason: 'timeout', message: 'slow' } }, phaseSeconds: {} });
    },
    values,
    /** Those of the gaps, by reason. */
    gaps: (): Record<string, number> =>
      Object.fromEntries(Object.entries(flowOf(last()).gaps).filter(([, count]) => count > 0)),
    flow: (): BridgeFlow => flowOf(last()),
  };
}

function flowOf(snapshot: Snapshot | undefined): BridgeFlow {
  if (!isOf('module_state', snapshot)) throw new Error('no poll has succeeded');
  return snapshot.flow;
}

const FLOW =
  /^bridge_(?:flow_gaps|batches_(?:executed|canceled)|transfers_(?:executed|canceled)|token_(?:withdrawn|deposited)_amount)_total|^bridge_(?:batch|transfer)_duration_seconds_(?:sum|count)/;
