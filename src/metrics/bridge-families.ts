import { ratio, type Numeral } from '../chain/numeral.js';
import { type Field, asNumeral } from '../chain/fields.js';
import * as batches from '../facts/bridge/batches.js';
import { estimatedExternalHeight, externalBlockTime, hubBlockTime } from '../facts/bridge/block-times.js';
import * as events from '../facts/bridge/events.js';
import type { BridgeInput } from '../facts/bridge/bridge-input.js';
import * as integrity from '../facts/bridge/integrity.js';
import * as members from '../facts/bridge/members.js';
import { validatorName, watchedOrchestrators } from '../facts/bridge/registrations.js';
import * as signatures from '../facts/bridge/signatures.js';
import * as tokens from '../facts/bridge/tokens.js';
import * as valsets from '../facts/bridge/valsets.js';
import { toLabelValue } from '../facts/plain-values.js';
import { countElements, optional, required, rows, withdrawWithout } from '../facts/required-fields.js';
import { partByPart, families, gauge, gauges, labeledGauge, labelValues, perKind, type Sample } from './family.js';
import { tokenFamilies } from './token-families.js';

const INFO_LABELS = [
  'bridge_id',
  'bridge_chain_id',
  'bridge_external_address',
  'contract_source_hash',
  'hub_coin_denom',
  'hub_coin_erc20_contract',
] as const;

const MEMBER_LABELS = ['orchestrator', 'external_address'] as const;

/** Gauges as a table, with a series for each member of the newest validator set: some tens on real chains. */
function memberGauges(
  table: readonly (readonly [
    name: string,
    value: (input: BridgeInput, member: members.RegisteredMember) => Numeral | undefined,
    help: string,
  ])[],
) {
  return Object.fromEntries(
    table.map(([name, value, help]) => {
      const derive = (input: BridgeInput): readonly Sample<(typeof MEMBER_LABELS)[number]>[] =>
        members.registeredMembers(input).map((member) => ({ labels: member.labels, value: value(input, member) }));
      return [name, labeledGauge({ help, labels: MEMBER_LABELS, derive })];
    }),
  );
}

type Params = Extract<BridgeInput['state']['params'], object>;
type NumericParam = { [Name in keyof Params]: Params[Name] extends Field<Numeral> ? Name : never }[keyof Params];

function param(name: NumericParam) {
  return ({ state }: BridgeInput): Numeral => required(required(state.params)[name]);
}

const flag = (value: boolean | undefined): 0 | 1 | undefined => (value === undefined ? undefined : value ? 1 : 0);
const not = (value: boolean | undefined): boolean | undefined => (value === undefined ? undefined : !value);

/**
 * All families of the module state, in the order of the exposition. The nonces are gauges, because a new contract
 * resets them.
 */
export const bridgeFamilies = families<BridgeInput>({
  // prettier-ignore
  ...gauges<BridgeInput>([
    ['bridge_height', ({ height }) => required(height), 'Hub height at which the state was read.'],
    ['bridge_last_observed_nonce', ({ state }) => required(state.last_observed_nonce), 'Nonce of the last event that the hub has observed.'],
    ['bridge_last_observed_external_height', ({ state }) => required(state.last_observed_external_height),
      'External height of the last observed event, which changes only when an event is observed.'],
    ['bridge_last_outgoing_batch_id', ({ state }) => required(state.last_outgoing_batch_id), 'Nonce of the last created batch.'],
    ['bridge_last_outgoing_pool_id', ({ state }) => required(state.last_outgoing_pool_id), 'Id of the last created outgoing transfer.'],
    ['bridge_valsets', ({ state }) => countElements(state.valsets), 'Number of validator sets stored by the hub.'],
    ['bridge_valset_confirms', ({ state }) => countElements(state.valset_confirms), 'Number of signatures of validator sets.'],
    ['bridge_batches', ({ state }) => countElements(state.batches), 'Number of live batches, which are neither executed nor canceled.'],
    ['bridge_batch_confirms', ({ state }) => countElements(state.batch_confirms), 'Number of signatures of batches.'],
    ['bridge_orchestrator_addresses', ({ state }) => countElements(state.orchestrator_addresses),
      'Number of validators that have registered an orchestrator and an external address.'],
    ['bridge_erc20_to_denoms', ({ state }) => countElements(state.erc20_to_denoms),
      'Number of hub tokens with an ERC-20 contract on the external chain.'],
    ['bridge_unbatched_transfers', ({ state }) => countElements(state.unbatched_transfers),
      'Number of unbatched transfers.'],
    ['bridge_external_blacklist', ({ state }) => countElements(state.external_blacklist), 'Number of external addresses that the bridge rejects.'],
    ['bridge_params_admins', ({ state }) => countElements(required(state.params).admins),
      'Number of accounts that can manage the blacklist and the limits.'],
  ]),
  bridge_attestations: labeledGauge({
    help: 'Number of attestations, by whether the event is observed.',
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
  // prettier-ignore
  ...gauges<BridgeInput>([
    ['bridge_batch_transactions', ({ state }) => rows(state.batches).reduce((total, { transactions }) => total + countElements(transactions), 0),
      'Number of transfers in live batches.'],
    ['bridge_last_observed_valset_nonce', ({ state }) => required(required(state.last_observed_valset).nonce),
      'Nonce of the last observed validator set, which is the hub height of its creation.'],
    ['bridge_last_observed_valset_height', ({ state }) => required(required(state.last_observed_valset).height),
      'Height field of the last observed validator set; 0 once an update of the set in the contract was observed.'],
    ['bridge_last_observed_valset_members', ({ state }) => countElements(required(state.last_observed_valset).members),
      'Number of members of the last observed validator set.'],
    ['bridge_last_observed_valset_power', ({ state }) => valsets.totalPower(required(state.last_observed_valset)),
      'Total power of the last observed validator set, in shares of 4294967295.'],
    ['bridge_last_observed_valset_reward_amount', ({ state }) => required(required(state.last_observed_valset).reward_amount),
      'Reward for relaying the last validator set observed in the contract, in smallest units of the reward token.'],
    ['bridge_newest_valset_nonce', (input) => valsets.readNewestValset(input, ({ nonce }) => required(nonce)),
      'Nonce of the newest validator set, which is the hub height of its creation.'],
    ['bridge_newest_valset_height', (input) => valsets.readNewestValset(input, ({ height }) => required(height)),
      'Hub height at which the newest validator set was created.'],
    ['bridge_newest_valset_members', (input) => valsets.readNewestValset(input, (newest) => countElements(newest.members)),
      'Number of members of the newest validator set.'],
    ['bridge_newest_valset_power', (input) => valsets.readNewestValset(input, valsets.totalPower),
      'Total power of the newest validator set, in shares of 4294967295.'],
    ['bridge_unrelayed_valsets', (input) => valsets.unrelayedValsets(input).length,
      'Number of validator sets newer than the last one observed in the contract.'],
    ['bridge_unrelayed_valset_min_signed_power_ratio', (input) => signatures.lowestSignedShare(signatures.unrelayedValsetPowers(input)),
      'Lowest share of the power in the contract that has signed an unrelayed validator set.'],
    ['bridge_unrelayed_valsets_below_threshold', signatures.countValsetsBelowThreshold,
      'Number of unrelayed validator sets whose signed power is below the configured threshold.'],
    ['bridge_newest_valset_signed_power_ratio', (input) => signatures.signedShare(signatures.newestUnrelayedPower(input)),
      'Share of the power in the contract that has signed the newest validator set; absent once that set is relayed.'],
    ['bridge_batch_min_signed_power_ratio', (input) => signatures.lowestSignedShare(signatures.batchPowers(input)),
      'Lowest share of the power in the contract that has signed a live batch.'],
    ['bridge_batches_below_threshold', (input) => signatures.batchesBelowThreshold(input).length,
      'Number of live batches whose signed power is below the configured threshold.'],
    ['bridge_power_threshold_ratio', ({ settings }) => asNumeral(settings.power_threshold),
      'Configured share of the power that must sign a batch or a validator set before it is relayed.'],
  ]),
  bridge_orchestrator_info: labeledGauge({
    help: 'Account and name of a validator, and whether it is watched, as labels.',
    labels: [...MEMBER_LABELS, 'validator', 'name', 'watched'],
    derive: (input) =>
      members.registeredMembers(input).map(({ labels, registration, isWatched: watched }) => ({
        labels: {
          ...labels,
          validator: toLabelValue(optional(registration.sender) ?? ''),
          name: toLabelValue(validatorName(input, registration)),
          watched: String(watched),
        },
        value: 1,
      })),
  }),
  // prettier-ignore
  ...memberGauges([
    ['bridge_orchestrator_power_ratio', members.memberPowerShare, 'Power of the validator divided by the power of the newest validator set.'],
    ['bridge_orchestrator_missing_valset_confirms', (input, member) => members.missingConfirms.valset(input, member).length,
      'Number of unsigned validator sets that the validator has to sign.'],
  ]),
  bridge_orchestrator_confirm_deadline_height: labeledGauge({
    help: 'Hub height after which the validator is jailed unless it signs the validator set or batch that is due next.',
    // Two series per member.
    labels: [...MEMBER_LABELS, 'confirms'],
    overLimit: 'keep-lowest',
    derive: (input) =>
      partByPart(members.confirmKinds, (confirms) =>
        members.registeredMembers(input).map((member) => ({
          labels: { ...member.labels, confirms },
          value: members.confirmDeadline(input, member, confirms),
        })),
      ),
  }),
  // prettier-ignore
  ...memberGauges([
    ['bridge_orchestrator_missing_batch_confirms', (input, member) => members.missingConfirms.batch(input, member).length,
      'Number of live batches that the validator has not signed.'],
    ['bridge_orchestrator_missing_vote', (input, member) => flag(not(members.hasVoted(events.votersOfLastEvent(input), member))),
      'Whether a vote of the validator for the last observed event is missing; absent when the event is no longer in the state.'],
    ['bridge_orchestrator_dissenting_vote', (input, member) => flag(members.isDissenting(input, member)),
      'Whether the validator voted for a rejected claim of the last observed event; absent when the event is no longer in the state.'],
  ]),
  bridge_watched_validator_active: labeledGauge({
    help: 'Whether an entry of watch is a member of the newest validator set; absent while the set cannot be read.',
    stability: 'experimental',
    // There are as many series as are configured.
    labels: ['address'],
    derive: (input) =>
      members
        .watchedEntries(input)
        .flatMap(({ address, isActive }) =>
          isActive === undefined ? [] : [{ labels: { address: toLabelValue(address) }, value: isActive ? 1 : 0 }],
        ),
  }),
  bridge_watched_orchestrator_info: labeledGauge({
    help: 'Orchestrator of a watched validator for which the node is queried, as labels.',
    stability: 'experimental',
    // There are as many series as are configured.
    labels: ['orchestrator', 'name'],
    derive: (input) =>
      input.settings.node_queries === 'off'
        ? []
        : watchedOrchestrators(input).map(({ orchestrator, name }) => ({
            labels: { orchestrator: toLabelValue(orchestrator), name: toLabelValue(name) },
            value: 1,
          })),
  }),
  bridge_watched_orchestrator_balance_limit_amount: gauge({
    help: 'Configured balance below which a watched orchestrator is low on funds, in smallest units of the hub coin; absent without watch.',
    stability: 'experimental',
    value: ({ settings }) => (settings.watch.length === 0 ? undefined : asNumeral(settings.watch_min_balance)),
  }),
  // prettier-ignore
  ...gauges<BridgeInput>([
    ['bridge_block_time_seconds', (input) => hubBlockTime(input) / 1000,
      'Hub block time in use: the setting, else a measured block time, else the parameter of the hub.'],
    ['bridge_external_block_time_seconds', (input) => externalBlockTime(input) / 1000,
      'External block time in use: the setting, else that of a known chain, else the parameter of the hub.'],
    ['bridge_batch_oldest_height', ({ state }) => batches.oldestBlock(rows(state.batches)),
      'Hub height at which the oldest live batch was created.'],
    ['bridge_oldest_unsigned_batch_height', (input) => batches.oldestBlock(signatures.batchesBelowThreshold(input)),
      'Hub height at which the oldest unsigned batch was created.'],
    ['bridge_relayable_batches', (input) => batches.relayableBatches(input)?.length,
      'Number of live batches that are signed, have not timed out, and do not pay less than the minimum fee of their token.'],
    ['bridge_oldest_relayable_batch_height', (input) => batches.oldestBlock(batches.relayableBatches(input) ?? []),
      'Hub height at which the oldest relayable batch was created.'],
    ['bridge_batch_next_timeout_height', batches.nextTimeout,
      'Lowest external height at which a live batch will time out.'],
  ]),
  bridge_batches_expired: gauge({
    help: 'Number of batches that the hub should have canceled, because their timeout is below the last observed external height.',
    value: (input) => {
      // Without the height, expired batches are unknown even if there is no batch.
      withdrawWithout(input.state.last_observed_external_height);
      return rows(input.state.batches).filter((batch) => batches.isExpired(input, batch)).length;
    },
  }),
  bridge_external_height_projected: gauge({
    help: 'Best known height of the external chain: read with the contract, else estimated from the last observed event.',
    value: estimatedExternalHeight,
  }),
  bridge_batches_overdue: gauge({
    help: 'Number of batches that have timed out on the external chain but are still held by the hub; absent if the external height is unknown or, with batches, unreliable.',
    value: (input) => {
      if (estimatedExternalHeight(input) === undefined) return undefined;
      const overdue = rows(input.state.batches).map((batch) => batches.isOverdue(input, batch));
      return overdue.includes(undefined) ? undefined : overdue.filter(Boolean).length;
    },
  }),
  ...tokenFamilies,
  // prettier-ignore
  ...gauges<BridgeInput>([
    ['bridge_backlog_limit_transfers', ({ settings }) => settings.backlog_limit, 'Configured number of pending transfers above which an alert fires.'],
    ['bridge_oldest_pending_transfer_id', (input) => tokens.lowestId([...tokens.unbatchedTransfers(input), ...tokens.batchedTransfers(input)]),
      'Lowest id of a pending transfer, batched or unbatched.'],
    ['bridge_newest_attested_nonce', events.newestAttestedNonce, 'Highest event nonce claimed by a validator.'],
    ['bridge_pending_events', events.pendingEventCount, 'Number of events that are claimed but not yet observed.'],
    ['bridge_conflicting_claims', (input) => events.conflictingNonces(input).size,
      'Number of unobserved event nonces with conflicting claims.'],
    ['bridge_next_event_voted_power_ratio', (input) => events.leadingClaim(input)?.powerRatio,
      'Share of the power that voted for the leading claim of the next event; absent while nobody has claimed that event.'],
    ['bridge_valset_power_drift_ratio', valsets.powerDrift,
      'Sum of the differences in power share between the newest validator set and the set in the contract, from 0 to 2.'],
  ]),
  bridge_integrity_violations: labeledGauge({
    help: 'Number of validator sets and claims that contradict the state of the hub, by kind.',
    // Five series per target.
    labels: ['kind'],
    overLimit: 'aggregate',
    derive: perKind<BridgeInput>({
      lost_claims: (input) => events.lostClaims(input).length,
      valset_claim_mismatch: (input) => integrity.foreignValsetClaims(input).length,
      valset_mismatch: (input) => Number(integrity.isValsetMismatch(input)),
      valset_unknown: (input) => Number(integrity.isValsetUnknown(input)),
      withdraw_claim_without_batch: (input) => integrity.foreignBatchClaims(input).length,
    }),
  }),
  bridge_anomalies: labeledGauge({
    help: 'Number of inconsistent rows of the state, by kind.',
    // Five series per target.
    labels: ['kind'],
    overLimit: 'aggregate',
    derive: perKind<BridgeInput>({
      orphan_valset_confirms: integrity.orphanValsetConfirms,
      orphan_batch_confirms: integrity.orphanBatchConfirms,
      members_without_orchestrator: integrity.membersWithoutOrchestrator,
      unknown_voters: integrity.unknownVoters,
      duplicate_orchestrators: integrity.duplicateOrchestrators,
    }),
  }),
  bridge_params_info: labeledGauge({
    help: 'Identity of the bridge as labels.',
    // One series per target: the labels are single values of the state.
    labels: INFO_LABELS,
    derive: ({ state }) => {
      const params = optional(state.params);
      const labels = labelValues(INFO_LABELS, (label) => toLabelValue(optional(params?.[label]) ?? ''));
      return [{ labels, value: 1 }];
    },
  }),
  // prettier-ignore
  ...gauges<BridgeInput>([
    ['bridge_params_signed_valsets_window_blocks', param('signed_valsets_window'),
      'Time limit for signing a validator set before the validator is jailed, in hub blocks.'],
    ['bridge_params_signed_batches_window_blocks', param('signed_batches_window'),
      'Time limit for signing a batch before the validator is jailed, in hub blocks.'],
    ['bridge_params_signed_claims_window_blocks', param('signed_claims_window'),
      'Time limit for claiming an event, in hub blocks; not enforced by the known chains.'],
    ['bridge_params_unbond_slashing_valsets_window_blocks', param('unbond_slashing_valsets_window'),
      'Time after unbonding during which a validator must still sign validator sets, in hub blocks.'],
    ['bridge_params_target_batch_timeout_seconds', (input) => ratio(param('target_batch_timeout')(input), 1000n), 'Intended lifetime of a batch.'],
    ['bridge_params_average_block_time_seconds', (input) => ratio(param('average_block_time')(input), 1000n),
      'Hub block time assumed by the bridge module; the real one can differ.'],
    ['bridge_params_average_external_block_time_seconds', (input) => ratio(param('average_external_block_time')(input), 1000n),
      'External block time assumed by the bridge module; the real one can differ.'],
    ['bridge_params_slash_fraction_valset_ratio', param('slash_fraction_valset'), 'Share of the stake slashed for not signing a validator set.'],
    ['bridge_params_slash_fraction_batch_ratio', param('slash_fraction_batch'), 'Share of the stake slashed for not signing a batch.'],
    ['bridge_params_slash_fraction_claim_ratio', param('slash_fraction_claim'), 'Share of the stake slashed for a missing claim.'],
    ['bridge_params_slash_fraction_conflicting_claim_ratio', param('slash_fraction_conflicting_claim'),
      'Share of the stake slashed for a conflicting claim.'],
    ['bridge_params_slash_fraction_bad_eth_signature_ratio', param('slash_fraction_bad_eth_signature'),
      'Share of the stake slashed for signing something that the hub did not create.'],
    ['bridge_params_claim_slashing_enabled', ({ state }) => (required(required(state.params).claim_slashing_enabled) ? 1 : 0),
      'Whether missing claims are slashed.'],
    ['bridge_params_bridge_contract_start_height', param('bridge_contract_start_height'), 'External height at which the contract was deployed.'],
    ['bridge_params_valset_reward_amount', ({ state }) => required(required(required(state.params).valset_reward).amount),
      'Reward for relaying a validator set, in smallest units of the reward token.'],
  ]),
});
