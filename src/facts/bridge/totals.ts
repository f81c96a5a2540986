import { families, gauge, labeledGauge, lengthOf } from '../../metrics/family.js';
import { optional, required, rows } from '../required-fields.js';
import type { BridgeInput } from './input.js';

/** Heights, nonces and list lengths of the module state. The nonces are gauges, because a new contract resets them. */
export const totalFamilies = families<BridgeInput>({
  bridge_height: gauge({
    help: 'Hub height at which the state was read.',
    value: ({ height }) => required(height),
  }),
  bridge_last_observed_nonce: gauge({
    help: 'Highest event nonce executed by the hub.',
    value: ({ state }) => required(state.last_observed_nonce),
  }),
  bridge_last_observed_external_height: gauge({
    help: 'External height of the last observed event; changes only when an event is observed.',
    value: ({ state }) => required(state.last_observed_external_height),
  }),
  bridge_last_outgoing_batch_id: gauge({
    help: 'Nonce of the last created batch.',
    value: ({ state }) => required(state.last_outgoing_batch_id),
  }),
  bridge_last_outgoing_pool_id: gauge({
    help: 'Id of the last created outgoing transfer.',
    value: ({ state }) => required(state.last_outgoing_pool_id),
  }),
  bridge_valsets: gauge({
    help: 'Number of validator sets stored by the hub.',
    value: ({ state }) => lengthOf(state.valsets),
  }),
  bridge_valset_confirms: gauge({
    help: 'Number of signatures of validator sets.',
    value: ({ state }) => lengthOf(state.valset_confirms),
  }),
  bridge_batches: gauge({
    help: 'Number of live outgoing batches.',
    value: ({ state }) => lengthOf(state.batches),
  }),
  bridge_batch_confirms: gauge({
    help: 'Number of signatures of outgoing batches.',
    value: ({ state }) => lengthOf(state.batch_confirms),
  }),
  bridge_orchestrator_addresses: gauge({
    help: 'Number of validators that have registered an orchestrator and an external address; registrations are never removed.',
    value: ({ state }) => lengthOf(state.orchestrator_addresses),
  }),
  bridge_erc20_to_denoms: gauge({
    help: 'Number of hub tokens with an ERC-20 contract on the external chain.',
    value: ({ state }) => lengthOf(state.erc20_to_denoms),
  }),
  bridge_unbatched_transfers: gauge({
    help: 'Number of outgoing transfers that are not yet in a batch.',
    value: ({ state }) => lengthOf(state.unbatched_transfers),
  }),
  bridge_external_blacklist: gauge({
    help: 'Number of external addresses that the bridge rejects.',
    value: ({ state }) => lengthOf(state.external_blacklist),
  }),
  bridge_params_admins: gauge({
    help: 'Number of accounts that can manage the blacklist and the limits.',
    value: ({ state }) => lengthOf(required(state.params).admins),
  }),
  bridge_attestations: labeledGauge({
    help: 'Number of attestations of external events by whether the event is observed (unknown: the flag is missing).',
    // At most three series per target.
    labels: ['observed'],
    overLimit: 'aggregate',
    derive: ({ state }) => {
      const flags = rows(state.attestations).map(({ observed }) => optional(observed));
      const count = (wanted: boolean | undefined): number => flags.filter((observed) => observed === wanted).length;
      return [
        { labels: { observed: 'true' }, value: count(true) },
        { labels: { observed: 'false' }, value: count(false) },
        // Absent when it is 0.
        { labels: { observed: 'unknown' }, value: count(undefined) || undefined },
      ];
    },
  }),
  bridge_batch_transactions: gauge({
    help: 'Number of transfers in live batches.',
    value: ({ state }) => rows(state.batches).reduce((total, { transactions }) => total + lengthOf(transactions), 0),
  }),
});
