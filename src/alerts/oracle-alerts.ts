import type { ClaimItem } from '../pending/items.js';
import { count, percent } from '../text/format.js';
import { above, aboveWhileUnchanged, dataAlert } from './alert.js';
import { bridgeItemsOf, listedRows, missingOf, missingValidators, ownFirst, parts } from './sentences.js';
import type { PollView } from './view.js';

/* Alerts on the events of the external chain that validators vote for. */

const STALLED_MINUTES = 15;

const CONTACT_VOTERS =
  'Contact the operators of the validators that have not voted; deposits and executed batches do not reach the hub.';

type Items = Pick<PollView, 'items'>;

/** The next event that the hub has to observe, and its claim with the most power. */
function nextClaim(view: Items): ClaimItem | undefined {
  const [first, ...others] = listedRows(bridgeItemsOf(view)?.claims);
  if (first === undefined) return undefined;
  const same = others.filter(({ eventNonce }) => eventNonce === first.eventNonce);
  return [first, ...same].toSorted((a, b) => (b.votedPowerRatio ?? 0) - (a.votedPowerRatio ?? 0))[0];
}

/** Who has not voted for a claim; with conflicting claims they may have voted for another one. */
function missingVoters(claim: ClaimItem | undefined): string {
  const voted = claim?.conflicting === true ? 'voted for the leading claim' : 'voted';
  return missingValidators(claim?.missing ?? null, voted);
}

/** Each claim of the first disputed event with its share of the power. */
function disputedEvent(view: Items): string {
  const disputed = listedRows(bridgeItemsOf(view)?.claims).filter(({ conflicting }) => conflicting);
  const [first] = disputed;
  if (first === undefined) return '';
  const claims = disputed.filter(({ eventNonce }) => eventNonce === first.eventNonce);
  const power = claims.flatMap(({ votedPowerRatio }) => (votedPowerRatio === null ? [] : percent(votedPowerRatio)));
  const having = power.length === 0 ? '' : ` with ${power.join(' and ')} of the power`;
  return `event ${first.eventNonce} has ${count(claims.length, 'claim')}${having}`;
}

export const oracleAlerts = [
  dataAlert('module_state', {
    name: 'BridgeConflictingClaims',
    severity: 'critical',
    dashboard: 'bridge-signers',
    comment: 'A single deviating claim is outvoted within minutes.',
    when: 'Validators claim different things for an event that is not observed yet.',
    ...above('bridge_conflicting_claims', 0),
    forMinutes: 10,
    summary: 'validators disagree about an event.',
    description:
      'For 10 minutes, validators of {{ $labels.target }} have submitted different claims for {{ $value }} events that are not observed yet. The oracle can halt until the conflict is resolved by hand.',
    action:
      'Compare the claims with the event on the external chain. Until one claim has enough power, no later event is observed.',
    sentence: ({ oldest, duration }, view) =>
      parts(`validators have disagreed about ${count(oldest.value, 'event')} for ${duration}`, disputedEvent(view)),
  }),
  dataAlert('module_state', {
    name: 'BridgeOracleStalled',
    severity: 'critical',
    dashboard: 'bridge-signers',
    comment: 'Requires pending events throughout: an unchanged nonce is normal on a quiet bridge.',
    when: `Events have been pending for ${STALLED_MINUTES} minutes, and none was observed.`,
    ...aboveWhileUnchanged('bridge_pending_events', 0, 'bridge_last_observed_nonce', STALLED_MINUTES),
    forMinutes: 5,
    summary: 'the oracle has stalled.',
    description: `For ${STALLED_MINUTES} minutes, at least {{ $value }} events of {{ $labels.target }} have been pending and none was observed.`,
    action: CONTACT_VOTERS,
    sentence: ({ oldest, duration }, view) =>
      parts(`no event observed for ${duration}, ${oldest.value} waiting`, missingVoters(nextClaim(view))),
    actionFor: (_, view) => ownFirst(missingOf(nextClaim(view)?.missing), CONTACT_VOTERS),
    inhibits: [{ alert: 'BridgeOrchestratorMissingVotes' }],
  }),
];
