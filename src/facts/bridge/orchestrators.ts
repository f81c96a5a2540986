import {
  add,
  compare,
  exactSeconds,
  highest,
  lowest,
  ratio,
  ZERO,
  type Decimal,
  type Exact,
} from '../../chain/decimal.js';
import { dataPart } from '../../chain/addresses.js';
import type { Batch, OrchestratorAddress, Valset } from '../../chain/module-state.js';
import type { Numeral } from '../../chain/numeral.js';
import {
  compareLabels,
  families,
  labeledGauge,
  type LabelValues,
  type ExactSample,
  toLabelValue,
} from '../../metrics/family.js';
import { memoize, memoizePerRow } from '../memoize.js';
import { optional, orEmpty, required, rows } from '../required-fields.js';
import { dissentersOfLastEvent, votersOfLastEvent, votersOfNextEvent } from './events.js';
import type { BridgeInput } from './input.js';
import { isWatched, matchingRegistrations, registrationByAddress, validatorName } from './registrations.js';
import { batchSigners, valsetSigners } from './signing.js';
import { memberAddresses, newestMemberAddresses, newestPowers, newestTotalPower } from './valsets.js';

const LABELS = ['orchestrator', 'external_address'] as const;

/** A member of the newest validator set whose orchestrator is known. */
export interface RegisteredMember {
  readonly address: string;
  readonly registration: OrchestratorAddress;
  readonly labels: LabelValues<'orchestrator' | 'external_address'>;
  readonly isWatched: boolean;
}

/** The members with series: the watched ones first, then by descending power, in which order the limit on series keeps them. */
export const registeredMembers = memoize((input: BridgeInput): readonly RegisteredMember[] => {
  const registrationOf = registrationByAddress(input);
  const members = Array.from(newestMemberAddresses(input)).flatMap((address) => {
    const registration = registrationOf.get(address);
    if (registration === undefined) return [];
    const orchestrator = toLabelValue(optional(registration.orchestrator) ?? '');
    const labels = { orchestrator, external_address: toLabelValue(address) };
    return [{ address, registration, labels, isWatched: isWatched(input, registration) }];
  });
  const powers = new Map(orEmpty(() => Array.from(newestPowers(input))));
  const memberPower = ({ address }: RegisteredMember): Decimal => powers.get(address) ?? ZERO;
  return members.toSorted(
    (a, b) =>
      Number(b.isWatched) - Number(a.isWatched) ||
      compare(memberPower(b), memberPower(a)) ||
      compareLabels(LABELS, a.labels, b.labels),
  );
});

/** Each validator set with its nonce and members. */
const valsetMembers = memoize(({ state }: BridgeInput) =>
  rows(state.valsets).map((valset) => ({
    valset,
    nonce: required(valset.nonce),
    members: memberAddresses(valset),
  })),
);

/** Validator sets whose signing deadline has not passed or is unknown, with their members and signers. */
const openValsets = memoize((input: BridgeInput) => {
  const { state, height } = input;
  // Without the list of signatures, missing signatures are unknown even if no validator set is open.
  required(state.valset_confirms);
  const window = optional(optional(state.params)?.signed_valsets_window);
  const isOpen = (valset: Valset): boolean =>
    height === undefined || window === undefined || compare(confirmDeadline(valset, window), height) >= 0;
  return valsetMembers(input)
    .filter(({ valset }) => isOpen(valset))
    .map((open) => ({ ...open, signers: valsetSigners(input, open.valset) }));
});

/** The last hub height at which a member can sign a validator set without being jailed. */
export function confirmDeadline({ height }: Valset, window: Exact): Decimal {
  return add(required(height), window);
}

/**
 * The nonce of the newest validator set without a member, which is its hub height. A validator that left and came back is not jailed
 * for what was created before.
 */
const lastAbsence = memoizePerRow((input: BridgeInput, { address }: RegisteredMember): Numeral | undefined =>
  highest(
    valsetMembers(input)
      .filter(({ members }) => !members.has(address))
      .map(({ nonce }) => nonce),
  ),
);

function isSinceReturn(input: BridgeInput, member: RegisteredMember, height: Exact): boolean {
  const absence = lastAbsence(input, member);
  return absence === undefined || compare(height, absence) > 0;
}

/** The open validator sets that a member has to sign and has not. */
export function missingValsetConfirms(input: BridgeInput, member: RegisteredMember): readonly Valset[] {
  return openValsets(input)
    .filter(({ nonce }) => isSinceReturn(input, member, nonce))
    .filter(({ members, signers }) => members.has(member.address) && !signers.has(member.address))
    .map(({ valset }) => valset);
}

const signersOfBatches = memoize((input: BridgeInput) => {
  // Without the list of signatures, missing signatures are unknown even if there is no batch.
  required(input.state.batch_confirms);
  return rows(input.state.batches).map((batch) => ({ batch, signers: batchSigners(input, batch) }));
});

/** The live batches that a member has not signed. */
export function missingBatchConfirms(input: BridgeInput, { address }: RegisteredMember): readonly Batch[] {
  const missing: Batch[] = [];
  for (const { batch, signers } of signersOfBatches(input)) if (!signers.has(address)) missing.push(batch);
  return missing;
}

export function lowestDeadline(input: BridgeInput, member: RegisteredMember): Decimal | undefined {
  const missing = missingValsetConfirms(input, member);
  if (missing.length === 0) return undefined;
  const window = required(required(input.state.params).signed_valsets_window);
  return lowest(missing.map((valset) => confirmDeadline(valset, window)));
}

export function lowestBatchDeadline(input: BridgeInput, member: RegisteredMember): Decimal | undefined {
  const missing = missingBatchConfirms(input, member)
    .map(({ block }) => required(block))
    .filter((block) => isSinceReturn(input, member, block));
  const window = optional(optional(input.state.params)?.signed_batches_window);
  return window === undefined ? undefined : lowest(missing.map((block) => add(block, window)));
}

/** Whether the vote of the member is among those of an event (1) or not (0); `undefined` without such an event. */
export function hasVoted(
  voters: ReadonlySet<string> | undefined,
  { registration }: RegisteredMember,
): 0 | 1 | undefined {
  if (voters === undefined) return undefined;
  return voters.has(dataPart(required(registration.sender))) ? 1 : 0;
}

const inverted = (flag: 0 | 1 | undefined): 0 | 1 | undefined => (flag === undefined ? undefined : flag === 1 ? 0 : 1);

function eachMember(value: (input: BridgeInput, member: RegisteredMember) => Exact | undefined) {
  return (input: BridgeInput): readonly ExactSample<(typeof LABELS)[number]>[] =>
    registeredMembers(input).map((member) => ({ labels: member.labels, value: value(input, member) }));
}

/** The entries of `watch` with a registration, and whether one of a member of the newest validator set is among them. */
const watchedEntries = memoize((input: BridgeInput) => {
  const members = newestMemberAddresses(input);
  if (members.size === 0) return [];
  return input.settings.watch.flatMap((address) => {
    const registrations = matchingRegistrations(input, address);
    if (registrations.length === 0) return [];
    return [{ address, isActive: registrations.some(({ eth_address }) => members.has(required(eth_address))) }];
  });
});

/** When each entry of `watch` was last active, in Unix seconds, as far as the exporter remembers. */
export const lastActiveTimes = memoize((input: BridgeInput): ReadonlyMap<string, number> => {
  const earlier = input.settings.watch.flatMap((address): [string, number][] => {
    const seconds = input.previous?.lastActive.get(address);
    return seconds === undefined ? [] : [[address, seconds]];
  });
  const active = orEmpty(() => watchedEntries(input)).filter(({ isActive }) => isActive);
  return new Map([...earlier, ...active.map(({ address }): [string, number] => [address, input.at.epochSeconds])]);
});

/** One series per member of the newest validator set, some tens on real chains. */
const PER_MEMBER = { labels: LABELS } as const;

/** Name, power, missing signatures and missing votes of each member of the newest validator set. */
export const orchestratorFamilies = families<BridgeInput>({
  bridge_orchestrator_info: labeledGauge({
    help: 'Who the validator is: its account, its name, and whether it is configured in watch.',
    labels: [...LABELS, 'validator', 'name', 'watched'],
    derive: (input) =>
      registeredMembers(input).map(({ labels, registration, isWatched: watched }) => ({
        labels: {
          ...labels,
          validator: toLabelValue(optional(registration.sender) ?? ''),
          name: toLabelValue(validatorName(input, registration)),
          watched: String(watched),
        },
        value: 1,
      })),
  }),
  bridge_watched_validator_last_active_timestamp_seconds: labeledGauge({
    help: 'Time of the last document that the exporter remembers in which the validator of an entry of watch was a member of the newest validator set; absent before one.',
    // As many as are configured.
    labels: ['address'],
    derive: (input) =>
      Array.from(lastActiveTimes(input), ([address, seconds]) => ({
        labels: { address: toLabelValue(address) },
        value: exactSeconds(seconds),
      })),
  }),
  bridge_watched_validator_active: labeledGauge({
    help: 'Whether the validator of an entry of watch is a member of the newest validator set (1) or not (0); absent while it is not registered.',
    // As many as are configured.
    labels: ['address'],
    derive: (input) =>
      watchedEntries(input).map(({ address, isActive }) => ({
        labels: { address: toLabelValue(address) },
        value: isActive ? 1 : 0,
      })),
  }),
  bridge_orchestrator_power_ratio: labeledGauge({
    help: 'Share of the validator in the power of the newest validator set.',
    ...PER_MEMBER,
    derive: eachMember((input, { address }) =>
      ratio(newestPowers(input).get(address) ?? ZERO, newestTotalPower(input)),
    ),
  }),
  bridge_orchestrator_missing_valset_confirms: labeledGauge({
    help: 'Number of validator sets since the validator last joined that it has not signed, and whose signing deadline has not passed.',
    ...PER_MEMBER,
    derive: eachMember((input, member) => missingValsetConfirms(input, member).length),
  }),
  bridge_orchestrator_confirm_deadline_height: labeledGauge({
    help: 'Hub height of the earliest deadline for a missing signature of a validator set, after which the validator is jailed; absent when none is missing.',
    ...PER_MEMBER,
    overLimit: 'keep-lowest',
    derive: eachMember(lowestDeadline),
  }),
  bridge_orchestrator_missing_batch_confirms: labeledGauge({
    help: 'Number of live batches that the validator has not signed.',
    ...PER_MEMBER,
    derive: eachMember((input, member) => missingBatchConfirms(input, member).length),
  }),
  bridge_orchestrator_batch_confirm_deadline_height: labeledGauge({
    help: 'Hub height of the earliest deadline for a missing signature of a live batch, after which the validator is jailed; absent when none is missing.',
    ...PER_MEMBER,
    overLimit: 'keep-lowest',
    derive: eachMember(lowestBatchDeadline),
  }),
  bridge_orchestrator_missing_votes: labeledGauge({
    help: 'Whether the validator has voted for no claim of the last observed event (1) or for one (0); absent when the event is no longer in the state.',
    ...PER_MEMBER,
    derive: eachMember((input, member) => inverted(hasVoted(votersOfLastEvent(input), member))),
  }),
  bridge_orchestrator_dissenting_votes: labeledGauge({
    help: 'Whether the validator voted for a claim that lost against that of the last observed event (1) or not (0); absent when the event is no longer in the state.',
    ...PER_MEMBER,
    derive: eachMember((input, member) => {
      const dissenters = dissentersOfLastEvent(input);
      return dissenters?.size === 0 ? 0 : hasVoted(dissenters, member);
    }),
  }),
  bridge_orchestrator_missing_next_votes: labeledGauge({
    help: 'Whether the validator has voted for no claim of the next event (1) or for one (0); absent when nobody has claimed it.',
    ...PER_MEMBER,
    derive: eachMember((input, member) => inverted(hasVoted(votersOfNextEvent(input), member))),
  }),
});
