import { describe, expect, it } from 'vitest';
import { verdictsOf } from '../../src/engine/verdicts.js';
import { edited } from '../support/faults.js';
import { startPolledNodes, type PolledNodes } from './polled-nodes.js';

const forgedSet = edited(({ state, ...rest }: { state: { last_observed_valset: { members: object[] } } }) => ({
  ...rest,
  state: {
    ...state,
    last_observed_valset: { ...state.last_observed_valset, members: state.last_observed_valset.members.slice(1) },
  },
}));

const shown = (polled: PolledNodes) =>
  verdictsOf([polled.state()], polled.now())
    .flatMap(({ verdicts }) => verdicts)
    .filter(({ severity, alert }) => severity === 'critical' || alert === 'BridgeNodesDisagree')
    .map(({ alert, severity, state, details, summary }) => ({ alert, severity, state, summary, details }));

describe('x', () => {
  it('forged by one', async () => {
    const polled = await startPolledNodes();
    for (let i = 0; i < 4; i += 1) await polled.poll();
    polled.nodes[0]?.fault('module_state', forgedSet);
    for (let i = 0; i < 9; i += 1) {
      await polled.poll();
      console.log(i * 30, JSON.stringify(shown(polled)), polled.nodes[1]?.requests.module_state);
    }
    expect(1).toBe(1);
  });
});
