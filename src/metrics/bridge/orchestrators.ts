import { add, compare, lowest, ratio, ZERO, type Decimal, type Exact } from '../../chain/decimal.js';
import { dataPart } from '../../chain/addresses.js';
import type { OrchestratorAddress, Valset } from '../../chain/module-state.js';
import { compareLabels, families, labeledGauge, type LabelValues, type ExactSample, toLabelValue } from '../family.js';
import { memoize } from '../memoize.js';
import { optional, orEmpty, required, rows } from '../required-fields.js';
import { votersOfLastObserved } from './events.js';
import type { BridgeInput } from './input.js';
import { isWatched, registrationByAddress, validatorName } from './registrations.js';
import { batchSigners, valsetSigners } from './signing.js';
import { memberAddresses, newestMemberAddresses, newestPowers, newestTotalPower } from './valsets.js';

const LABELS = ['orchestrator', 'external_address'] as const;

/** A member of the newest validator set whose orchestrator is known. */
interface Member {
  readonly address: string;
  readonly registration: OrchestratorAddress;
  readonly labels: LabelValues<'orchestrator' | 'external_address'>;
  readonly isWatched: boolean;
}

/** The members with series: the watched ones first, then by descending power, in which order the limit on series keeps them. */
const exportedMembers = memoize((input: BridgeInput): readonly Member[] => {
  const registrationOf = registrationByAddress(input);
  const members = Array.from(newestMemberAddresses(input)).flatMap((address) => {
    const registration = registrationOf.get(address);
    if (registration === undefined) return [];
    const orchestrator = toLabelValue(optional(registration.orchestrator) ?? '');
    const labels = { orchestrator, external_address: toLabelValue(address) };
    return [{ address, registration, labels, isWatched: isWatched(input, registration) }];
  });
  const powers = new Map(orEmpty(() => Array.from(newestPowers(input))));
  const memberPower = ({ address }: Member): Decimal => powers.get(address) ?? ZERO;
  return members.toSorted(
    (a, b) =>
      Number(b.isWatched) - Number(a.isWatched) ||
      compare(memberPower(b), memberPower(a)) ||
      compareLabels(LABELS, a.labels, b.labels),
  );
});

/** Validator sets whose signing deadline has not passed or is unknown, with their members and signers. */
const openValsets = memoize((input: BridgeInput) => {
  const { state, height } = input;
  // Without the list of signatures, missing signatures are unknown even if no validator set is open.
  required(state.valset_confirms);
  const window = optional(optional(state.params)?.signed_valsets_window);
  const isOpen = (valset: Valset): boolean =>
    height === undefined || window === undefined || compare(confirmDeadline(valset, window), height) >= 0;
  return rows(state.valsets)
    .filter(isOpen)
    .map((valset) => ({ valset, members: memberAddresses(valset), signers: valsetSigners(input, valset) }));
});

/** The last hub height at which a member can sign a validator set without being jailed. */
export function confirmDeadline({ height }: Valset, window: Exact): Decimal {
  return add(required(height), window);
}

/** The open validator sets that a member has not signed. */
function unsignedValsets(input: BridgeInput, { address }: Member): readonly Valset[] {
  return openValsets(input)
    .filter(({ members, signers }) => members.has(address) && !signers.has(address))
    .map(({ valset }) => valset);
}

const signersOfBatches = memoize((input: BridgeInput) => {
  // Without the list of signatures, missing signatures are unknown even if there is no batch.
  required(input.state.batch_confirms);
  return rows(input.state.batches).map((batch) => batchSigners(input, batch));
});

function lowestDeadline(input: BridgeInput, member: Member): Decimal | undefined {
  const missing = unsignedValsets(input, member);
  if (missing.length === 0) return undefined;
  const window = required(required(input.state.params).signed_valsets_window);
  return lowest(missing.map((valset) => confirmDeadline(valset, window)));
}

function eachMember(value: (input: BridgeInput, member: Member) => Exact | undefined) {
  return (input: BridgeInput): readonly ExactSample<(typeof LABELS)[number]>[] =>
    exportedMembers(input).map((member) => ({ labels: member.labels, value: value(input, member) }));
}

/** The addresses by which a validator can be configured. Without one of them, it is unknown which entries match. */
function allKeys({ orchestrator, sender, eth_address }: OrchestratorAddress): string[] {
  return [required(orchestrator), required(sender), required(eth_address)].map(dataPart);
}

/** One series per member of the newest validator set, some tens on real chains. */
const PER_MEMBER = { labels: LABELS } as const;

/** Name, power, missing signatures and missing votes of each member of the newest validator set. */
export const orchestratorFamilies = families<BridgeInput>({
  bridge_orchestrator_info: labeledGauge({
    help: 'Who the validator is: its account, its name, and whether it is configured in watch.',
    unit: '1',
    labels: [...LABELS, 'validator', 'name', 'watched'],
    derive: (input) =>
      exportedMembers(input).map(({ labels, registration, isWatched: watched }) => ({
        labels: {
          ...labels,
          validator: toLabelValue(optional(registration.sender) ?? ''),
          name: toLabelValue(validatorName(input, registration)),
          watched: String(watched),
        },
        value: 1,
      })),
  }),
  bridge_watched_validator_active: labeledGauge({
    help: 'Whether the validator of an entry of watch is a member of the newest validator set (1) or not (0).',
    unit: '1 or 0',
    // As many as are configured.
    labels: ['address'],
    stability: 'experimental',
    derive: (input) => {
      const { watch } = input.settings;
      if (watch.length === 0 || newestMemberAddresses(input).size === 0) return [];
      const active = new Set(exportedMembers(input).flatMap(({ registration }) => allKeys(registration)));
      return watch.map((address) => ({
        labels: { address: toLabelValue(address) },
        value: active.has(dataPart(address)) ? 1 : 0,
      }));
    },
  }),
  bridge_orchestrator_power_ratio: labeledGauge({
    help: 'Share of the validator in the power of the newest validator set.',
    unit: 'ratio, 0 to 1',
    ...PER_MEMBER,
    derive: eachMember((input, { address }) =>
      ratio(newestPowers(input).get(address) ?? ZERO, newestTotalPower(input)),
    ),
  }),
  bridge_orchestrator_missing_valset_confirms: labeledGauge({
    help: 'Number of validator sets that the validator is a member of and has not signed, and whose signing deadline has not passed.',
    unit: 'validator sets',
    ...PER_MEMBER,
    derive: eachMember((input, member) => unsignedValsets(input, member).length),
  }),
  bridge_orchestrator_confirm_deadline_height: labeledGauge({
    help: 'Hub height of the earliest deadline for a missing signature of a validator set, after which the validator is jailed; absent when none is missing.',
    unit: 'hub height',
    ...PER_MEMBER,
    overLimit: 'keep-lowest',
    derive: eachMember(lowestDeadline),
  }),
  bridge_orchestrator_missing_batch_confirms: labeledGauge({
    help: 'Number of live batches that the validator has not signed.',
    unit: 'batches',
    ...PER_MEMBER,
    derive: eachMember(
      (input, { address }) => signersOfBatches(input).filter((signers) => !signers.has(address)).length,
    ),
  }),
  bridge_orchestrator_missing_votes: labeledGauge({
    help: 'Whether the vote of the validator for the last observed event is missing (1) or present (0); absent when the event is no longer in the state.',
    unit: '1 or 0',
    ...PER_MEMBER,
    derive: eachMember((input, { registration }) => {
      const voters = votersOfLastObserved(input);
      return voters && (voters.has(dataPart(required(registration.sender))) ? 0 : 1);
    }),
  }),
});
