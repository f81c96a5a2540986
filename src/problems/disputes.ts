import { count, list, percent } from '../text/format.js';
import { coinName, listedRows, shortAddress } from './sentence.js';
import type { BridgeItems } from '../facts/items/bridge.js';
import type { ClaimItem } from '../facts/items/claims.js';

/* What validators disagree about: the fields in which the claims of an event differ. */

interface ClaimField {
  readonly name: string;
  /** What is compared; `null` when it is unknown or the type of claim does not have it. */
  readonly value: (claim: ClaimItem) => string | null;
  /** What distinguishes the claim; by default the name and the value. */
  readonly text?: (claim: ClaimItem) => string;
}

const typeWords = {
  deposit: 'a deposit',
  withdraw: 'an executed batch',
  valset: 'a validator set',
  erc20_deployed: 'a new contract',
} as const satisfies Record<NonNullable<ClaimItem['type']>, string>;

const tokenText = ({ token }: ClaimItem): string => (token === null ? '' : coinName(token)) || 'an unknown token';

/** Exact, because rounding could hide the difference. */
function amountText(claim: ClaimItem): string {
  const { amount = null, wholeAmount = null } = claim.amount ?? {};
  if (wholeAmount !== null) return `${wholeAmount} ${tokenText(claim)}`;
  return `${amount ?? 'an unknown number of'} smallest units of ${tokenText(claim)}`;
}

/** The most important one first. */
const claimFields: readonly ClaimField[] = [
  {
    name: 'type',
    value: ({ type }) => type,
    text: ({ type }) => (type === null ? 'something unknown' : typeWords[type]),
  },
  { name: 'token', value: ({ token }) => token?.contract ?? null, text: tokenText },
  { name: 'amount', value: ({ amount }) => amount?.amount ?? null, text: amountText },
  { name: 'receiver', value: ({ receiver }) => receiver },
  { name: 'sender', value: ({ sender }) => sender },
  { name: 'batch', value: ({ batchNonce }) => batchNonce },
  { name: 'validator set', value: ({ valsetNonce }) => valsetNonce },
  { name: 'external height', value: ({ externalHeight }) => externalHeight },
];

function fieldText({ name, value, text }: ClaimField, claim: ClaimItem): string {
  return text?.(claim) ?? `${name} ${shortAddress(value(claim) ?? 'unknown')}`;
}

interface Dispute {
  readonly eventNonce: string;
  /** The names of the fields that differ; empty when the difference is in none that is read. */
  readonly fields: readonly string[];
  /** The claims by descending power. */
  readonly claims: readonly { readonly claim: ClaimItem; readonly text: string }[];
}

/** The first event with several claims. */
export function firstDispute(items: Pick<BridgeItems, 'claims'>): Dispute | undefined {
  const disputed = listedRows(items.claims).filter(({ conflicting }) => conflicting);
  const [first] = disputed;
  return first && disputeOf(disputed.filter(({ eventNonce }) => eventNonce === first.eventNonce));
}

/** What the claims of one event say that the others do not. */
export function disputeOf(claims: readonly ClaimItem[]): Dispute {
  const differing = claimFields.filter(({ value }) => new Set(claims.map(value)).size > 1);
  // Claims of different types have different fields.
  const fields = differing[0]?.name === 'type' ? differing.slice(0, 1) : differing;
  const byPower = claims.toSorted((a, b) => (b.votedPowerRatio ?? 0) - (a.votedPowerRatio ?? 0));
  return {
    eventNonce: claims[0]?.eventNonce ?? '',
    fields: fields.map(({ name }) => name),
    claims: byPower.map((claim) => ({ claim, text: fields.map((field) => fieldText(field, claim)).join(' and ') })),
  };
}

/** "the amount of event 31"; the first one of several events. */
export function disputedThing(dispute: Dispute | undefined, events: number): string {
  if (dispute === undefined) return count(events, 'event');
  const { eventNonce, fields } = dispute;
  const what = fields.length === 0 ? `event ${eventNonce}` : `the ${fields.join(' and the ')} of event ${eventNonce}`;
  return events > 1 ? `${what} and ${count(events - 1, 'other event')}` : what;
}

/** "54 % of the power claim 5 usdt, 46 % claim 6 usdt". */
export function disputedClaims(dispute: Dispute | undefined): string {
  if (dispute === undefined) return '';
  const { claims, fields } = dispute;
  const power = claims.map(({ claim: { votedPowerRatio } }) => votedPowerRatio);
  const having = (ratio: number | null, index: number): string =>
    ratio === null ? 'an unknown share' : `${percent(ratio)}${index === 0 ? ' of the power' : ''}`;
  return fields.length === 0
    ? `it has ${count(claims.length, 'claim')} with ${list(power.map(having))}`
    : list(claims.map(({ text }, index) => `${having(power[index] ?? null, index)} claim ${text}`));
}
