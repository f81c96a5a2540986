import { defaultBridgeSettings, type BridgeSettings } from '../../src/config/endpoint-config.js';
import type { BridgeFlow } from '../../src/flow/bridge-flow.js';
import { isDocument } from '../../src/engine/endpoint-state.js';
import { TARGET_OPTIONS } from '../support/polls.js';
import { flowPolls } from './flow-polls.js';

export interface BridgePollsOptions extends Partial<BridgeSettings> {
  readonly maxSeries?: number;
}

/** An endpoint whose polls get these states. */
export function bridgePolls({ maxSeries = 200, ...settings }: BridgePollsOptions = {}) {
  const { poll, fail, snapshot, values } = flowPolls({
    ...TARGET_OPTIONS,
    maxSeries,
    document: 'module_state',
    settings: { ...defaultBridgeSettings, ...settings },
  });
  const flow = (): BridgeFlow => {
    const last = snapshot();
    if (!isDocument('module_state', last)) throw new Error('no poll has succeeded');
    return last.flow;
  };
  return {
    /** Polls `after` seconds after the last poll. */
    poll: (state: unknown, { height, after = 30 }: { height?: number; after?: number } = {}): void => {
      poll({ state }, after, { height });
    },
    fail,
    values,
    /** Those of the gaps, by reason. */
    gaps: (): Record<string, number> =>
      Object.fromEntries(Object.entries(flow().gaps).filter(([, count]) => count > 0)),
    flow,
  };
}
