import { dataPart } from '../chain/addresses.js';
import { toDecimalString } from '../chain/decimal.js';
import { asDecimalString, type DecimalString } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import { groupBy } from '../facts/grouping.js';
import { isLate } from '../facts/items/block-spans.js';
import { inWholeUnits } from '../facts/items/item-list.js';
import type { BlockSpan, BridgeItems, ClaimItem, HubCoin, Member, Members, WatchedItem } from '../facts/items/items.js';
import { labelOf, samplesOf, type Samples } from '../metrics/samples.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import { problems } from '../problems/problems.js';
import { listedRows } from '../problems/sentence.js';
import { withoutStaleAnswers } from '../queries/query-state.js';
import { hasStakingNames, validatorsOf, type Contact, type Contacts } from '../queries/validators.js';
import { claimPosition, orchestratorBalance, stakingStatus } from '../queries/watched-validators.js';
import { firingVerdicts, type TargetView, type VerdictView } from './target-view.js';
import type { ShownEndpoint } from './view.js';

/*
 * The validators of a bridge that somebody has to look at: the watched ones, and those that are late to sign or vote.
 */

/** `powerRatio` is the share of the newest validator set. */
export interface ValidatorView extends Omit<Member, 'externalAddress'> {
  /** `null` for a watched one that is not in the newest validator set. */
  readonly externalAddress: string | null;
  /** Whether something waits for it. Otherwise, the signatures and votes of the others are sufficient. */
  readonly isBlocking: boolean;
  /** Nonces of batches without sufficient signatures. */
  readonly batches: readonly string[];
  /** Nonces of unrelayed validator sets. */
  readonly valsets: readonly string[];
  /** Nonces of pending events for none of whose claims it has voted. */
  readonly events: readonly string[];
  /** Nonces of pending events for which it has voted, but not for the claim with the most power. */
  readonly otherClaims: readonly string[];
  /** The firing alerts about it. They also fire when it is late for many items but never for long. */
  readonly alerts: readonly string[];
  /** Age of the oldest of these items and alerts; `null` if it is not late. */
  readonly oldestSeconds: number | null;
  /** Hub blocks until it is jailed for a missing signature; `null` without a deadline. */
  readonly jailedIn: BlockSpan | null;
  /** External blocks until the first of these batches times out. */
  readonly timeoutIn: BlockSpan | null;
  /** Absent if none is published. */
  readonly contact?: Contact;
  /** Of a watched one. */
  readonly own: OwnValidator | null;
}

/** `null` is what the node has not answered. */
export interface OwnValidator extends WatchedItem {
  /** Whether the node is asked about it. */
  readonly isAsked: boolean;
  /** By the staking module. */
  readonly jailed: boolean | null;
  readonly bonded: boolean | null;
  /** The last event that the orchestrator has claimed. */
  readonly lastEventNonce: DecimalString | null;
  /** Of the orchestrator, in the coin that pays for its transactions. */
  readonly balance: Balance | null;
}

interface Balance {
  readonly amount: DecimalString;
  /** In whole coins; `null` when the decimals are unknown. */
  readonly wholeAmount: DecimalString | null;
  readonly symbol: string;
}

type Late = Pick<ValidatorView, 'batches' | 'valsets' | 'events' | 'otherClaims' | 'alerts'>;

/** Something that is late, and for whom it waits. */
interface Waiting extends Partial<Late> {
  readonly members: readonly Member[];
  readonly isBlocked: boolean;
  readonly ageSeconds: number | null;
  readonly timeoutIn?: BlockSpan | null;
}

type ValidatorSamples = Samples<
  | 'bridge_orchestrator_power_ratio'
  | 'bridge_orchestrator_confirm_deadline_height'
  | 'bridge_orchestrator_info'
  | 'bridge_height'
  | 'bridge_block_time_seconds'
>;

/** The watched ones first, then those for which something waits, each by power. Only listed rows and members are known. */
export function validatorViews(
  items: BridgeItems,
  view: TargetView,
  { state, job }: ShownEndpoint,
  now: Instant,
): readonly ValidatorView[] {
  const samples: ValidatorSamples = samplesOf(state.success?.snapshot.families ?? []);
  const contactOf = contacts(samples, hasStakingNames(job.context) ? validatorsOf(state.queries).contacts : new Map());
  const powers = ratios(samples);
  const waiting = [...waitingItems(items), ...waitingAlerts(firingVerdicts(view))].flatMap((own) =>
    own.members.map((member) => ({ ...own, member })),
  );
  const late = groupBy(waiting, ({ member }) => member.externalAddress);
  const watched = items.watched.map((item): ValidatorView => {
    const { name, orchestrator, externalAddress, powerRatio, jailedIn } = item;
    const member = { name, orchestrator, externalAddress, powerRatio, watched: true, jailedIn };
    const own = { ...item, ...answersAbout(item, items.hubCoin, state, now) };
    return { ...member, ...lateness(late.get(externalAddress ?? '') ?? []), own };
  });
  const listed = new Set(watched.map(({ externalAddress }) => externalAddress));
  const others = Array.from(late.values()).flatMap((own) => {
    const [{ member } = {}] = own;
    if (member === undefined || listed.has(member.externalAddress)) return [];
    const { externalAddress } = member;
    const powerRatio = powers.get(externalAddress) ?? null;
    const jailedIn = items.isNodeBehind ? null : timeToJailing(samples, externalAddress);
    return [{ ...member, powerRatio, ...lateness(own), jailedIn, ...contactOf(externalAddress), own: null }];
  });
  return [
    ...watched,
    ...others.toSorted(
      (a, b) => Number(b.isBlocking) - Number(a.isBlocking) || (b.powerRatio ?? 0) - (a.powerRatio ?? 0),
    ),
  ];
}

function lateness(
  waiting: readonly Waiting[],
): Late & Pick<ValidatorView, 'isBlocking' | 'oldestSeconds' | 'timeoutIn'> {
  return {
    isBlocking: waiting.some(({ isBlocked }) => isBlocked),
    batches: waiting.flatMap(({ batches }) => batches ?? []),
    valsets: waiting.flatMap(({ valsets }) => valsets ?? []),
    events: waiting.flatMap(({ events }) => events ?? []),
    otherClaims: waiting.flatMap(({ otherClaims }) => otherClaims ?? []),
    alerts: waiting.flatMap(({ alerts }) => alerts ?? []),
    oldestSeconds: waiting.map(({ ageSeconds }) => ageSeconds).reduce(largest, null),
    timeoutIn: waiting.map(({ timeoutIn }) => timeoutIn ?? null).reduce(shortest, null),
  };
}

function* waitingItems({ batches, valsets, claims }: BridgeItems): Generator<Waiting> {
  for (const { nonce, age, belowThreshold, missing, projectedHeadroom } of listedRows(batches)) {
    // Without the validator set in the contract, the signed share is unknown.
    if (belowThreshold === false || !isLate(age)) continue;
    const late = { isBlocked: true, ageSeconds: age?.seconds ?? null, members: membersOf(missing) };
    yield { ...late, batches: [nonce], timeoutIn: projectedHeadroom };
  }
  for (const { nonce, age, belowThreshold, missing } of listedRows(valsets)) {
    if (!isLate(age)) continue;
    // A member that does not confirm is jailed, even if the signatures of the others are sufficient.
    const isBlocked = belowThreshold !== false;
    yield { isBlocked, ageSeconds: age?.seconds ?? null, members: membersOf(missing), valsets: [nonce] };
  }
  for (const [nonce, ofEvent] of groupBy(listedRows(claims), ({ eventNonce }) => eventNonce)) {
    const age = oldestAge(ofEvent);
    // Nobody should vote for a claim that contradicts the hub.
    const isPlausible = ofEvent.some(({ violation }) => violation === null);
    if (!isPlausible || !isLate(age)) continue;
    const late = { isBlocked: true, ageSeconds: age?.seconds ?? null };
    yield { ...late, events: [nonce], members: silentMembers(ofEvent) };
    yield { ...late, otherClaims: [nonce], members: deviatingMembers(ofEvent) };
  }
}

/** What validators are late with, by the alert about it. */
export const lateAlerts: ReadonlyMap<string, string> = new Map(
  problems.flatMap(({ name, lateWith }) => (lateWith === undefined ? [] : [[name, lateWith] as const])),
);

function* waitingAlerts(firing: readonly VerdictView[]): Generator<Waiting> {
  for (const { alert, ageSeconds, validators } of firing.filter((verdict) => lateAlerts.has(verdict.alert))) {
    const members = validators.map(({ externalAddress, name, address, isWatched }) => ({
      externalAddress,
      orchestrator: address === externalAddress ? null : address,
      name: name || null,
      powerRatio: null,
      watched: isWatched,
    }));
    yield { alerts: [alert], isBlocked: false, ageSeconds, members };
  }
}

const membersOf = (missing: Members | null): readonly Member[] => missing?.members ?? [];

function oldestAge(claims: readonly ClaimItem[]): BlockSpan | null {
  const ages = claims.flatMap(({ age }) => (age === null ? [] : [age]));
  return ages.toSorted((a, b) => (b.seconds ?? 0) - (a.seconds ?? 0))[0] ?? null;
}

/** Who voted for another claim of the event is not silent. */
function silentMembers(claims: readonly ClaimItem[]): readonly Member[] {
  const [first = [], ...others] = claims.map(({ missing }) => membersOf(missing));
  const addresses = others.map((members) => new Set(members.map(({ externalAddress }) => externalAddress)));
  return first.filter(({ externalAddress }) => addresses.every((members) => members.has(externalAddress)));
}

/** Who voted, but not for the claim with the most power. Who of them is right is for people to decide. */
function deviatingMembers(claims: readonly ClaimItem[]): readonly Member[] {
  const [best] = claims.toSorted((a, b) => (b.votedPowerRatio ?? 0) - (a.votedPowerRatio ?? 0));
  const silent = new Set(silentMembers(claims).map(({ externalAddress }) => externalAddress));
  return membersOf(best?.missing ?? null).filter(({ externalAddress }) => !silent.has(externalAddress));
}

function largest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}

function shortest(a: BlockSpan | null, b: BlockSpan | null): BlockSpan | null {
  if (a === null || b === null) return a ?? b;
  return (b.seconds ?? Infinity) < (a.seconds ?? Infinity) ? b : a;
}

function ratios(samples: ValidatorSamples): ReadonlyMap<string, number> {
  const series = samples.series('bridge_orchestrator_power_ratio');
  return new Map(series.map(({ labels, value }) => [labelOf(labels, 'external_address'), value]));
}

/** The first deadline of a validator, for whatever it has not signed. */
function timeToJailing(samples: ValidatorSamples, externalAddress: string): BlockSpan | null {
  const height = samples.value('bridge_height');
  if (height === undefined) return null;
  const deadlines = samples
    .series('bridge_orchestrator_confirm_deadline_height')
    .filter(({ labels, value }) => labels['external_address'] === externalAddress && value >= height);
  if (deadlines.length === 0) return null;
  const blocks = Math.min(...deadlines.map(({ value }) => value)) - height;
  const blockTime = samples.value('bridge_block_time_seconds');
  // A BigInt, because a large double is written with an exponent.
  const digits = asDecimalString(String(BigInt(Math.round(blocks))));
  return { blocks: digits, seconds: blockTime === undefined ? null : blocks * blockTime };
}

/** How to reach the operators of a validator, as they have published it with the staking module, by its operator address. */
function contacts(samples: ValidatorSamples, published: Contacts) {
  const series = samples.series('bridge_orchestrator_info');
  const operators = new Map(
    series.map(({ labels }) => [labelOf(labels, 'external_address'), labelOf(labels, 'validator')]),
  );
  return (externalAddress: string): Pick<ValidatorView, 'contact'> => {
    const contact = published.get(dataPart(operators.get(externalAddress) ?? ''));
    return contact === undefined ? {} : { contact };
  };
}

/** What the node has answered about a watched validator. */
function answersAbout(
  { orchestrator }: WatchedItem,
  hubCoin: HubCoin | null,
  { queries, staleAfterMs }: EndpointState,
  now: Instant,
): Omit<OwnValidator, keyof WatchedItem> {
  const answers = withoutStaleAnswers(queries, staleAfterMs, now);
  const key = orchestrator ?? '';
  const [staking] = stakingStatus.valuesOf(answers).get(key) ?? [];
  const [nonce] = claimPosition.valuesOf(answers).get(key) ?? [];
  const [amount] = orchestratorBalance.valuesOf(answers).get(key) ?? [];
  return {
    isAsked: orchestrator !== null && queries.has(stakingStatus.name),
    jailed: staking?.isJailed ?? null,
    bonded: staking?.isBonded ?? null,
    lastEventNonce: nonce === undefined ? null : toDecimalString(nonce),
    balance: amount === undefined ? null : balanceOf(toDecimalString(amount), hubCoin),
  };
}

function balanceOf(amount: DecimalString, hubCoin: HubCoin | null): Balance {
  const decimals = hubCoin?.decimals ?? null;
  return {
    amount,
    wholeAmount: decimals === null ? null : inWholeUnits(amount, decimals),
    symbol: hubCoin?.symbol ?? hubCoin?.denom ?? '',
  };
}
