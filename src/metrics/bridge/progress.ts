import { gauge, doubleOf } from '../family.js';
import type { BridgeFamily } from './input.js';

/** How far the bridge has come: the plain counters of the module. Gauges, because a redeployment sets them back. */
export const progressFamilies: readonly BridgeFamily[] = [
  gauge({
    name: 'bridge_height',
    help: 'Hub height the state was read at.',
    unit: 'hub height',
    reads: ['response header Grpc-Metadata-X-Cosmos-Block-Height'],
    value: ({ height }) => doubleOf(height),
  }),
  gauge({
    name: 'bridge_last_observed_nonce',
    help: 'Highest event nonce of the external contract that the hub has executed.',
    unit: 'event nonce',
    reads: ['state.last_observed_nonce'],
    value: ({ state }) => doubleOf(state.last_observed_nonce),
  }),
  gauge({
    name: 'bridge_last_observed_external_height',
    help: 'External height of the last observed event; it moves only when an event is observed.',
    unit: 'external height',
    reads: ['state.last_observed_external_height'],
    value: ({ state }) => doubleOf(state.last_observed_external_height),
  }),
  gauge({
    name: 'bridge_last_outgoing_batch_id',
    help: 'Last batch nonce given out.',
    unit: 'batch nonce',
    reads: ['state.last_outgoing_batch_id'],
    value: ({ state }) => doubleOf(state.last_outgoing_batch_id),
  }),
  gauge({
    name: 'bridge_last_outgoing_pool_id',
    help: 'Last transfer id given out.',
    unit: 'transfer id',
    reads: ['state.last_outgoing_pool_id'],
    value: ({ state }) => doubleOf(state.last_outgoing_pool_id),
  }),
];
