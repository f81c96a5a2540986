import type { Instant } from '../clock.js';
import { lowest } from '../chain/numeral.js';
import type { Batch } from '../chain/module-state.js';
import {
  conflictingNonces,
  isNextEventCredible,
  leadingClaim,
  nextEventAttestations,
  pendingAttestations,
  pendingEventCount,
  votedAddresses,
} from '../facts/bridge/events.js';
import { paysMinimum } from '../facts/bridge/batches.js';
import { timeOfHeight } from '../facts/bridge/block-times.js';
import type { BridgeInput } from '../facts/bridge/bridge-input.js';
import { MINORITY_RATIO, QUORUM_RATIO, newestPowers, shareOfNewest, sumPower } from '../facts/bridge/valsets.js';
import { isBatchSigned } from '../facts/bridge/signatures.js';
import { required, rows, withdrawWithout } from '../facts/required-fields.js';
import { count, list, percent } from '../text/format.js';
import { HOUR_SECONDS } from '../units.js';
import { defineProblem, type Evidence, HIDDEN_WITHOUT_EVENTS, HIDDEN_WITHOUT_RELAYS } from './problem.js';
import {
  claimText,
  coinName,
  contentText,
  listMembers,
  missingTexts,
  numberAndPower,
  shortAddress,
  validators,
  eventsText,
  waitingText,
} from './sentence.js';
import { type ClaimItem, claimItem } from '../facts/bridge/claims.js';

/* Votes for events of the external chain. */

const CONTACT_VOTERS =
  'Contact the operators of the validators that have not voted; deposits and executed batches do not reach the hub.';
const DO_NOT_VOTE =
  'Do not ask anybody to vote: the claim contradicts what the hub has stored. Compare it with the external chain first.';

function leadingItem(input: BridgeInput): ClaimItem | undefined {
  const leading = leadingClaim(input);
  const claim = pendingAttestations(input).find(({ attestation }) => attestation === leading?.attestation);
  return claim && claimItem(input, claim);
}

/** Observing the event is progress. */
const nextEvent = (input: BridgeInput): string => String(required(input.state.last_observed_nonce));

function firstVote(input: BridgeInput): number | undefined {
  return timeOfHeight(input, () => required(leadingClaim(input)?.attestation.height));
}

const stalled = defineProblem('module_state', {
  name: 'BridgeOracleStalled',
  severity: 'critical',
  afterMinutes: 20,
  description: `A third of the power has claimed the next event, and it is not observed, which takes ${percent(QUORUM_RATIO)}.`,
  action: CONTACT_VOTERS,
  find: ({ input }) => {
    if (isNextEventCredible(input) !== true) return undefined;
    const claim = leadingItem(input);
    // If claims conflict, the validators may have voted for another claim.
    const voted = claim?.conflicting === true ? 'voted for the leading claim' : 'voted';
    const missing = missingTexts(claim?.missing, 'voted');
    return {
      progressKey: nextEvent(input),
      start: firstVote(input),
      summary: missing.summary(`${claim === undefined ? 'the next event' : claimText(claim)} is not observed`),
      details: [eventsText(input), missing.details(voted), waitingText(input)],
      action: claim?.violation ? DO_NOT_VOTE : missing.action(CONTACT_VOTERS),
    };
  },
  inhibits: HIDDEN_WITHOUT_EVENTS,
});

const claimedByFew = defineProblem('module_state', {
  name: 'BridgeOracleStalled',
  severity: 'warning',
  afterMinutes: 65,
  description: 'Less has claimed it for an hour: it does not exist, or only they have seen it.',
  action:
    'Look up the event on the external chain. If it does not exist, tell the operators who claim it; the next real event ends this. If it does, the others are behind.',
  find: ({ input }) => {
    if (isNextEventCredible(input) !== false) return undefined;
    const claim = leadingItem(input);
    return {
      progressKey: nextEvent(input),
      start: firstVote(input),
      summary: `only a few claim ${claim === undefined ? 'the next event' : claimText(claim)}`,
      details: [claimants(claim)],
    };
  },
});

/** "event 31 (deposit of 5 usdt) is claimed by 1 validator with 2 % of the power: Alpha". */
export function claimants(claim: ClaimItem | undefined): string {
  if (claim?.voted === undefined || claim.voted === null) return '';
  const { total, powerRatio } = claim.voted;
  const who = validators(listMembers(claim.voted), total);
  return `${claimText(claim)} is claimed by ${numberAndPower(total, powerRatio)}${who === '' ? '' : `: ${who}`}`;
}

const SILENT_SECONDS = 12 * HOUR_SECONDS;
/** The bridge is only quiet unless withdrawals are requested in each of these periods. */
const PERIOD_SECONDS = 3 * HOUR_SECONDS;
/** Shown from half of the time on. */
const NOTABLE_SECONDS = SILENT_SECONDS / 2;

/**
 * The time without observed or claimed events while withdrawals were requested. With another beginning it is another
 * silence.
 */
interface SilenceMark {
  readonly event: string;
  readonly beganAt: Instant;
  /**
   * The highest id at the beginning of the silence: at least one batch was built since. Others may have to wait for it.
   */
  readonly batch: number;
  readonly periodBeganAt: Instant;
  /** The highest id at the beginning of the period. */
  readonly transfer: number;
}

const oracleSilent = defineProblem('module_state', {
  name: 'BridgeOracleSilent',
  severity: 'critical',
  afterMinutes: SILENT_SECONDS / 60 + 5,
  needsTime: true,
  description:
    'Without `external`: for half a day, withdrawals were requested and a batch was signed, but no event was claimed or observed.',
  action:
    'Compare the last event nonce of the contract with the last observed one: if it is ahead, the orchestrators have lost the external chain; if not, nothing is relayed.',
  mark: {
    isDebounced: true,
    next: ({ input }, before: SilenceMark | undefined): SilenceMark => {
      const { state, at } = input;
      const event = nextEvent(input);
      const transfer = Number(required(state.last_outgoing_pool_id));
      const batch = Number(required(state.last_outgoing_batch_id));
      const anew = { event, beganAt: at, periodBeganAt: at, transfer, batch };
      if (before?.event !== event || pendingEventCount(input) > 0) return anew;
      if (at - before.periodBeganAt < PERIOD_SECONDS) return before;
      return transfer > before.transfer ? { ...before, periodBeganAt: at, transfer } : anew;
    },
  },
  find: ({ input }, mark) => {
    // Nobody executes a batch that pays too little.
    const canBeExecuted = (batch: Batch): boolean =>
      isBatchSigned(input, batch) === true && paysMinimum(input, batch) !== false;
    const hasExecutable = rows(input.state.batches).some(canBeExecuted);
    withdrawWithout(input.state.last_observed_nonce);
    const lastBatch = Number(required(input.state.last_outgoing_batch_id));
    if (mark === undefined || input.at - mark.beganAt < NOTABLE_SECONDS) return undefined;
    if (lastBatch <= mark.batch || !hasExecutable) return undefined;
    return {
      progressKey: `${mark.event} ${mark.beganAt}`,
      start: mark.beganAt,
      summary: 'no event is claimed, although withdrawals are requested and batches signed',
    };
  },
  inhibits: [{ problem: 'BridgeBatchNotRelayed' }, { problem: 'BridgeBatchOverdue' }, ...HIDDEN_WITHOUT_RELAYS],
});

/** Whether other claims of the next event have so much power that the leading claim cannot be observed any more. */
function isUndecidable(input: BridgeInput): boolean {
  const leading = leadingClaim(input);
  const others = nextEventAttestations(input).filter((attestation) => attestation !== leading?.attestation);
  const voters = new Set(others.flatMap((attestation) => Array.from(votedAddresses(input, attestation))));
  return required(shareOfNewest(input, sumPower(newestPowers(input), voters))) > MINORITY_RATIO;
}

/* Disputes: the claims of an event with their power, and what they differ in. */

/** What claims can differ in, the most important first; `null` when unknown, and of a type without the field. */
const claimFields = {
  type: ({ type }) => type,
  token: ({ token }) => token?.contract ?? null,
  amount: ({ amount }) => amount?.amount ?? null,
  receiver: ({ receiver }) => receiver,
  sender: ({ sender }) => sender,
  batch: ({ batchNonce }) => batchNonce,
  'validator set': ({ valsetNonce }) => valsetNonce,
  'external height': ({ externalHeight }) => externalHeight,
} as const satisfies Readonly<Record<string, (claim: ClaimItem) => string | null>>;

type ClaimField = keyof typeof claimFields;

interface Dispute {
  readonly eventNonce: string;
  /** The most important field that differs; `undefined` when only unread fields differ. */
  readonly field: ClaimField | undefined;
  /** By descending power, each with the value of the field; empty when only unread fields differ. */
  readonly claims: readonly { readonly claim: ClaimItem; readonly text: string }[];
}

/** The first event with several claims. */
export function firstDispute(claims: readonly ClaimItem[]): Dispute | undefined {
  const disputed = claims.filter((claim) => claim.conflicting);
  const [first] = disputed;
  return first && describeDispute(disputed.filter(({ eventNonce }) => eventNonce === first.eventNonce));
}

function describeDispute(claims: readonly ClaimItem[]): Dispute {
  const field = (Object.keys(claimFields) as ClaimField[]).find(
    (name) => new Set(claims.map(claimFields[name])).size > 1,
  );
  const byPower = claims.toSorted((a, b) => (b.votedPowerRatio ?? 0) - (a.votedPowerRatio ?? 0));
  return {
    eventNonce: claims[0]?.eventNonce ?? '',
    field,
    claims: byPower.map((claim) => ({ claim, text: field === undefined ? '' : fieldText(field, claim) })),
  };
}

function fieldText(field: ClaimField, claim: ClaimItem): string {
  const { wholeAmount = null, amount = null } = claim.amount ?? {};
  const token = (claim.token === null ? '' : coinName(claim.token)) || 'an unknown token';
  if (field === 'type') return contentText(claim) || 'something unknown';
  if (field === 'token') return token;
  if (field !== 'amount') return `${field} ${shortAddress(claimFields[field](claim) ?? 'unknown')}`;
  // Exact, because rounding could hide the difference.
  return wholeAmount === null
    ? `${amount ?? 'an unknown number of'} smallest units of ${token}`
    : `${wholeAmount} ${token}`;
}

/** "the amount of event 31"; of the first of several events. */
export function disputedThing({ eventNonce, field }: Dispute, events: number): string {
  const what = `${field === undefined ? '' : `the ${field} of `}event ${eventNonce}`;
  return events > 1 ? `${what} and ${count(events - 1, 'other event')}` : what;
}

/** "54 % of the power claim 5 usdt, 46 % claim 6 usdt". */
export function disputedClaims({ claims, field }: Dispute): string {
  const sides = claims.map(({ claim: { votedPowerRatio: share }, text }, index) => {
    const power = share === null ? 'an unknown share' : `${percent(share)}${index === 0 ? ' of the power' : ''}`;
    return field === undefined ? power : `${power} claim ${text}`;
  });
  return field === undefined ? `it has ${count(claims.length, 'claim')} with ${list(sides)}` : list(sides);
}

/**
 * The height is the last field, so nothing else differs: the block of the event was replaced after some had claimed it.
 */
const REORGANIZATION_ACTIONS = {
  critical:
    'Only the height differs: most likely a reorganization of the external chain. Tell the developers of the chain and the other validators: votes cannot be changed, so only an upgrade or a new contract ends it.',
  warning:
    'Only the height differs: most likely a reorganization of the external chain. Compare the heights with the chain, and tell the operators of the wrong ones to check the node of their orchestrator.',
} as const;

function conflicting(
  severity: 'critical' | 'warning',
  texts: { readonly description: string; readonly action: string },
) {
  const isCritical = severity === 'critical';
  return defineProblem('module_state', {
    name: 'BridgeConflictingClaims',
    severity,
    afterMinutes: 10,
    ...texts,
    find: ({ input }: Evidence<'module_state'>) => {
      const events = conflictingNonces(input);
      if (events.size === 0 || (isCritical && !isUndecidable(input))) return undefined;
      const first = lowest(events);
      const claims = pendingAttestations(input).filter(({ nonce }) => nonce === first);
      const times = claims.map(({ attestation }) => timeOfHeight(input, () => required(attestation.height)));
      const dispute = describeDispute(claims.map((claim) => claimItem(input, claim)));
      return {
        progressKey: String(first),
        // The dispute began with the second claim.
        start: times.every((time) => time !== undefined) ? times.toSorted((a, b) => a - b)[1] : undefined,
        summary: `validators disagree about ${disputedThing(dispute, events.size)}${isCritical ? ', and no claim can win' : ''}`,
        details: [disputedClaims(dispute), eventsText(input), waitingText(input)],
        action: dispute.field === 'external height' ? REORGANIZATION_ACTIONS[severity] : undefined,
      };
    },
    inhibits: isCritical ? [{ problem: 'BridgeOracleStalled' }, ...HIDDEN_WITHOUT_EVENTS] : [],
  });
}

export const oracleProblems = [
  conflicting('critical', {
    description: `Validators claim different things for an event that is not observed, and no claim can still reach ${percent(QUORUM_RATIO)} of the power.`,
    action:
      'Compare the claims with the event on the external chain. Votes cannot be changed, so only an upgrade or a new contract ends it; no later event is observed.',
  }),
  stalled,
  oracleSilent,
  conflicting('warning', {
    description: 'One claim can still win.',
    action: 'Compare the claims with the event on the external chain, and tell the operators of those who are wrong.',
  }),
  claimedByFew,
];
