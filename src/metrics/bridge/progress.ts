import { gauge, doubleOf } from '../family.js';
import type { BridgeFamily } from './input.js';

/** Sequence numbers of the bridge module. They are gauges, because a redeployment of the contract resets them. */
export const progressFamilies: readonly BridgeFamily[] = [
  gauge({
    name: 'bridge_height',
    help: 'Hub height at which the state was read.',
    unit: 'hub height',
    value: ({ height }) => doubleOf(height),
  }),
  gauge({
    name: 'bridge_last_observed_nonce',
    help: 'Highest event nonce executed by the hub.',
    unit: 'event nonce',
    value: ({ state }) => doubleOf(state.last_observed_nonce),
  }),
  gauge({
    name: 'bridge_last_observed_external_height',
    help: 'External height of the last observed event; changes only when an event is observed.',
    unit: 'external height',
    value: ({ state }) => doubleOf(state.last_observed_external_height),
  }),
  gauge({
    name: 'bridge_last_outgoing_batch_id',
    help: 'Nonce of the last created batch.',
    unit: 'batch nonce',
    value: ({ state }) => doubleOf(state.last_outgoing_batch_id),
  }),
  gauge({
    name: 'bridge_last_outgoing_pool_id',
    help: 'Id of the last created outgoing transfer.',
    unit: 'transfer id',
    value: ({ state }) => doubleOf(state.last_outgoing_pool_id),
  }),
];
