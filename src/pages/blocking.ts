import { problems } from '../problems/problems.js';
import { listedRows } from '../problems/sentence.js';
import { isLate } from '../facts/items/block-spans.js';
import type { Samples } from '../metrics/samples.js';
import { asDecimalString } from '../chain/numeral.js';
import { groupBy } from '../facts/grouping.js';
import type { BlockSpan, BridgeItems, ClaimItem, Member, Members } from '../facts/items/items.js';
import type { Contact } from '../queries/validators.js';
import type { VerdictView } from './target-view.js';

/** A validator whose signatures or votes are late. `powerRatio` is its share of the newest validator set. */
export interface BlockingValidator extends Member {
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
  /** Age of the oldest of these items and alerts. */
  readonly oldestSeconds: number | null;
  /** Hub blocks until it is jailed for a missing confirm of a validator set; `null` without a deadline. */
  readonly jailedIn: BlockSpan | null;
  /** External blocks until the first of these batches times out. */
  readonly timeoutIn: BlockSpan | null;
  /** Absent if none is published. */
  readonly contact?: Contact;
}

/** Something that is late, and for whom it waits. */
interface Waiting extends Partial<
  Pick<BlockingValidator, 'batches' | 'valsets' | 'events' | 'otherClaims' | 'alerts'>
> {
  readonly members: readonly Member[];
  readonly isBlocked: boolean;
  readonly ageSeconds: number | null;
  readonly jailedIn?: BlockSpan | null;
  readonly timeoutIn?: BlockSpan | null;
}

/** The families that this file reads. */
export const blockingFamilies = [
  'bridge_orchestrator_power_ratio',
  'bridge_orchestrator_confirm_deadline_height',
  'bridge_height',
  'bridge_block_time_seconds',
] as const;

type BlockingSamples = Samples<(typeof blockingFamilies)[number]>;

/** The validators that are late: the watched ones first, then by power. Only listed rows and members are known. */
export function blockingValidators(
  items: BridgeItems,
  samples: BlockingSamples,
  firing: readonly VerdictView[],
): readonly BlockingValidator[] {
  const waiting = [...waitingItems(items), ...waitingAlerts(samples, firing)];
  const byMember = groupBy(
    waiting.flatMap((own) => own.members.map((member) => ({ ...own, member }))),
    ({ member }) => member.externalAddress,
  );
  const power = new Map(
    samples.series('bridge_orchestrator_power_ratio').map(({ labels, value }) => [labels['external_address'], value]),
  );
  return Array.from(byMember.values())
    .flatMap((own) => own.slice(0, 1).map(({ member }) => summarize(member, own)))
    .map((validator) => ({ ...validator, powerRatio: power.get(validator.externalAddress) ?? null }))
    .toSorted((a, b) => Number(b.watched) - Number(a.watched) || (b.powerRatio ?? 0) - (a.powerRatio ?? 0));
}

function summarize(member: Member, waiting: readonly Waiting[]): BlockingValidator {
  return {
    ...member,
    isBlocking: waiting.some(({ isBlocked }) => isBlocked),
    batches: waiting.flatMap(({ batches }) => batches ?? []),
    valsets: waiting.flatMap(({ valsets }) => valsets ?? []),
    events: waiting.flatMap(({ events }) => events ?? []),
    otherClaims: waiting.flatMap(({ otherClaims }) => otherClaims ?? []),
    alerts: waiting.flatMap(({ alerts }) => alerts ?? []),
    oldestSeconds: waiting.map(({ ageSeconds }) => ageSeconds).reduce(largest, null),
    jailedIn: waiting.map(({ jailedIn }) => jailedIn ?? null).reduce(shortest, null),
    timeoutIn: waiting.map(({ timeoutIn }) => timeoutIn ?? null).reduce(shortest, null),
  };
}

/** What waits for a signature or vote of a validator for longer than usual; `undefined` if nothing is listed. */
export function lateItemsOf(items: BridgeItems, externalAddress: string): BlockingValidator | undefined {
  const own = Array.from(waitingItems(items)).flatMap((waiting) =>
    waiting.members
      .filter((member) => member.externalAddress === externalAddress)
      .map((member) => ({ ...waiting, member })),
  );
  return own.slice(0, 1).map(({ member }) => summarize(member, own))[0];
}

function* waitingItems({ batches, valsets, claims }: BridgeItems): Generator<Waiting> {
  for (const { nonce, age, belowThreshold, missing, projectedHeadroom } of listedRows(batches)) {
    // Without the validator set in the contract, the signed share is unknown.
    if (belowThreshold === false || !isLate(age)) continue;
    const late = { isBlocked: true, ageSeconds: age?.seconds ?? null, members: membersOf(missing) };
    yield { ...late, batches: [nonce], timeoutIn: projectedHeadroom };
  }
  for (const { nonce, age, belowThreshold, missing, headroom } of listedRows(valsets)) {
    if (!isLate(age)) continue;
    // A member that does not confirm is jailed, even if the signatures of the others are sufficient.
    const isBlocked = belowThreshold !== false;
    const late = { isBlocked, ageSeconds: age?.seconds ?? null, members: membersOf(missing) };
    yield { ...late, valsets: [nonce], jailedIn: headroom };
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

function* waitingAlerts(samples: BlockingSamples, firing: readonly VerdictView[]): Generator<Waiting> {
  for (const { alert, ageSeconds, validators } of firing.filter((verdict) => lateAlerts.has(verdict.alert))) {
    for (const { externalAddress, name, address, isWatched } of validators) {
      const member = {
        externalAddress,
        orchestrator: address === externalAddress ? null : address,
        name: name || null,
        powerRatio: null,
        watched: isWatched,
      };
      const jailedIn = timeToJailing(samples, externalAddress);
      yield { alerts: [alert], isBlocked: false, ageSeconds, members: [member], jailedIn };
    }
  }
}

/** Hub blocks to the first deadline of a validator, also of a validator set that is already relayed and so not among the items. */
function timeToJailing(samples: BlockingSamples, externalAddress: string): BlockSpan | null {
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
