import { gauge, labelledGauge, lengthOf } from '../family.js';
import type { BridgeFamily } from './input.js';
import { optional, required, rows } from '../withdrawal.js';

/** How long the lists of the state are. */
export const lengthFamilies: readonly BridgeFamily[] = [
  gauge({
    name: 'bridge_valsets',
    help: 'Validator sets the hub still holds.',
    unit: 'validator sets',
    reads: ['state.valsets'],
    value: ({ state }) => lengthOf(state.valsets),
  }),
  gauge({
    name: 'bridge_valset_confirms',
    help: 'Signatures under validator sets.',
    unit: 'confirms',
    reads: ['state.valset_confirms'],
    value: ({ state }) => lengthOf(state.valset_confirms),
  }),
  gauge({
    name: 'bridge_batches',
    help: 'Live outgoing batches.',
    unit: 'batches',
    reads: ['state.batches'],
    value: ({ state }) => lengthOf(state.batches),
  }),
  gauge({
    name: 'bridge_batch_confirms',
    help: 'Signatures under outgoing batches.',
    unit: 'confirms',
    reads: ['state.batch_confirms'],
    value: ({ state }) => lengthOf(state.batch_confirms),
  }),
  gauge({
    name: 'bridge_orchestrator_addresses',
    help: 'Validators that have registered an orchestrator and an external key; it only grows.',
    unit: 'registrations',
    reads: ['state.orchestrator_addresses'],
    value: ({ state }) => lengthOf(state.orchestrator_addresses),
  }),
  gauge({
    name: 'bridge_erc20_to_denoms',
    help: 'Tokens of the hub that have an ERC-20 contract outside.',
    unit: 'tokens',
    reads: ['state.erc20_to_denoms'],
    value: ({ state }) => lengthOf(state.erc20_to_denoms),
  }),
  gauge({
    name: 'bridge_unbatched_transfers',
    help: 'Transfers that wait for a batch.',
    unit: 'transfers',
    reads: ['state.unbatched_transfers'],
    value: ({ state }) => lengthOf(state.unbatched_transfers),
  }),
  gauge({
    name: 'bridge_external_blacklist',
    help: 'External addresses the bridge refuses.',
    unit: 'addresses',
    reads: ['state.external_blacklist'],
    value: ({ state }) => lengthOf(state.external_blacklist),
  }),
  gauge({
    name: 'bridge_params_admins',
    help: 'Accounts that may manage the blacklist and the limits.',
    unit: 'accounts',
    reads: ['state.params.admins'],
    value: ({ state }) => lengthOf(required(state.params).admins),
  }),
  labelledGauge({
    name: 'bridge_attestations',
    help: 'Attestations of external events, by whether the event is observed; unknown only when some do not say.',
    unit: 'attestations',
    reads: ['state.attestations', 'state.attestations[].observed'],
    // Three values at most.
    labels: ['observed'],
    overLimit: 'aggregate',
    derive: ({ state }) => {
      const flags = rows(state.attestations).map(({ observed }) => optional(observed));
      const count = (wanted: boolean | undefined): number => flags.filter((observed) => observed === wanted).length;
      const unknown = count(undefined);
      return [
        { labels: { observed: 'true' }, value: count(true) },
        { labels: { observed: 'false' }, value: count(false) },
        ...(unknown > 0 ? [{ labels: { observed: 'unknown' }, value: unknown }] : []),
      ];
    },
  }),
  gauge({
    name: 'bridge_batch_transactions',
    help: 'Transfers in live batches.',
    unit: 'transfers',
    reads: ['state.batches', 'state.batches[].transactions'],
    value: ({ state }) => rows(state.batches).reduce((total, { transactions }) => total + lengthOf(transactions), 0),
  }),
];
