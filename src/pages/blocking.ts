import type {
  BlockSpan,
  BridgeItems,
  ClaimItem,
  DecimalString,
  ItemList,
  MissingMember,
  MissingMembers,
} from '../pending/items.js';

/** A validator whose signature or vote is missing where something waits for it. */
export interface BlockingValidator extends MissingMember {
  /** Nonces of batches without sufficient signatures. */
  readonly batches: readonly DecimalString[];
  /** Nonces of unrelayed validator sets. */
  readonly valsets: readonly DecimalString[];
  /** Nonces of pending events for none of whose claims it has voted. */
  readonly events: readonly DecimalString[];
  /** Nonces of pending events for which it has voted, but not for the claim with the most power. */
  readonly otherClaims: readonly DecimalString[];
  /** Age of the oldest of these items. */
  readonly oldestSeconds: number | null;
  /** Hub blocks until it is jailed for a missing confirm of a validator set; `null` without a deadline. */
  readonly jailedIn: BlockSpan | null;
  /** External blocks until the first of these batches times out. */
  readonly timeoutIn: BlockSpan | null;
}

/** Signatures and votes take a minute or two. */
const USUAL_SECONDS = 300;

/** Whether something has waited longer for signatures or votes than usual. An item of unknown age may have. */
export function isLate(age: BlockSpan | null): boolean {
  return (age?.seconds ?? USUAL_SECONDS) >= USUAL_SECONDS;
}

interface Waiting {
  readonly list: 'batches' | 'valsets' | 'events' | 'otherClaims';
  readonly nonce: DecimalString;
  readonly age: BlockSpan | null;
  readonly members: readonly MissingMember[];
  readonly jailedIn: BlockSpan | null;
  readonly timeoutIn: BlockSpan | null;
}

/** The validators that block something, largest power first. Only listed rows and members are known. */
export function blockingValidators(items: BridgeItems): readonly BlockingValidator[] {
  const byAddress = new Map<string, Found>();
  for (const waiting of waitingItems(items)) {
    for (const member of waiting.members) {
      const found = byAddress.get(member.externalAddress);
      if (found) found.waiting.push(waiting);
      else byAddress.set(member.externalAddress, { member, waiting: [waiting] });
    }
  }
  return Array.from(byAddress.values(), summarize).toSorted((a, b) => (b.powerRatio ?? 0) - (a.powerRatio ?? 0));
}

interface Found {
  readonly member: MissingMember;
  readonly waiting: Waiting[];
}

function summarize({ member, waiting }: Found): BlockingValidator {
  const noncesIn = (wanted: Waiting['list']): DecimalString[] =>
    waiting.flatMap(({ list, nonce }) => (list === wanted ? [nonce] : []));
  return {
    ...member,
    batches: noncesIn('batches'),
    valsets: noncesIn('valsets'),
    events: noncesIn('events'),
    otherClaims: noncesIn('otherClaims'),
    oldestSeconds: waiting.map(({ age }) => age?.seconds ?? null).reduce(largest, null),
    jailedIn: waiting.map(({ jailedIn }) => jailedIn).reduce(shortest, null),
    timeoutIn: waiting.map(({ timeoutIn }) => timeoutIn).reduce(shortest, null),
  };
}

function* waitingItems({ batches, valsets, claims }: BridgeItems): Generator<Waiting> {
  const none = { jailedIn: null, timeoutIn: null };
  for (const { nonce, age, belowThreshold, missing, projectedHeadroom } of rowsOf(batches)) {
    // Without the validator set in the contract, the signed share is unknown.
    if (belowThreshold === false || !isLate(age)) continue;
    yield { ...none, list: 'batches', nonce, age, members: membersOf(missing), timeoutIn: projectedHeadroom };
  }
  // A member that does not confirm is jailed, even if the signatures of the others are sufficient.
  for (const { nonce, age, missing, headroom } of rowsOf(valsets)) {
    if (!isLate(age)) continue;
    yield { ...none, list: 'valsets', nonce, age, members: membersOf(missing), jailedIn: headroom };
  }
  for (const [nonce, ofEvent] of claimsByEvent(rowsOf(claims))) {
    const age = oldestAge(ofEvent);
    if (!isLate(age)) continue;
    yield { ...none, list: 'events', nonce, age, members: silentMembers(ofEvent) };
    yield { ...none, list: 'otherClaims', nonce, age, members: deviatingMembers(ofEvent) };
  }
}

function claimsByEvent(claims: readonly ClaimItem[]): ReadonlyMap<DecimalString, readonly ClaimItem[]> {
  const byEvent = new Map<DecimalString, ClaimItem[]>();
  for (const claim of claims) {
    const known = byEvent.get(claim.eventNonce);
    if (known) known.push(claim);
    else byEvent.set(claim.eventNonce, [claim]);
  }
  return byEvent;
}

function rowsOf<Row>(list: ItemList<Row>): readonly Row[] {
  return list.readable ? list.rows : [];
}

const membersOf = (missing: MissingMembers | null): readonly MissingMember[] => missing?.members ?? [];

function oldestAge(claims: readonly ClaimItem[]): BlockSpan | null {
  const ages = claims.flatMap(({ age }) => (age === null ? [] : [age]));
  return ages.toSorted((a, b) => (b.seconds ?? 0) - (a.seconds ?? 0))[0] ?? null;
}

/** Who voted for another claim of the event is not silent. */
function silentMembers(claims: readonly ClaimItem[]): readonly MissingMember[] {
  const [first = [], ...others] = claims.map(({ missing }) => membersOf(missing));
  const addresses = others.map((members) => new Set(members.map(({ externalAddress }) => externalAddress)));
  return first.filter(({ externalAddress }) => addresses.every((members) => members.has(externalAddress)));
}

/** Who voted, but not for the claim with the most power. Who of them is right is for people to decide. */
function deviatingMembers(claims: readonly ClaimItem[]): readonly MissingMember[] {
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
