import type { Instant } from '../clock.js';
import { lowest } from '../chain/numeral.js';
import type { Attestation, Batch } from '../chain/module-state.js';
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
import {
  type ClaimItem,
  claimItem,
  foreignBatchClaims,
  highestVotedShare,
  isValsetMismatch,
  isValsetUnknown,
  suspiciousValsetClaims,
} from '../facts/bridge/integrity.js';
import { isBatchSigned } from '../facts/bridge/signatures.js';
import {
  MINORITY_RATIO,
  QUORUM_RATIO,
  THIRD_RATIO,
  newestPowers,
  shareOfNewest,
  sumPower,
} from '../facts/bridge/valsets.js';
import { orElse, required, rows, withdrawWithout } from '../facts/required-fields.js';
import { count, list, percent } from '../text/format.js';
import { DAY_SECONDS, HOUR_SECONDS } from '../units.js';
import {
  defineProblem,
  HIDDEN_WITHOUT_EVENTS,
  HIDDEN_WITHOUT_RELAYS,
  OTHERS_UNJUDGED,
  type Evidence,
  type Finding,
  type Found,
  type Inhibition,
} from './problem.js';
import { claimText, listMembers, missingTexts, numberAndPower, validators } from './sentence.js';

/* Votes for events of the external chain, and claims that contradict what the hub has. */

const CONTACT_VOTERS =
  'Contact the operators of the validators that have not voted. Until they vote, deposits and executed batches do not reach the hub.';
const DO_NOT_VOTE =
  'Do not ask anybody to vote: the claim contradicts what the hub has stored. Compare it with the external chain first.';

function leadingItem(input: BridgeInput): ClaimItem | undefined {
  const leading = leadingClaim(input);
  const claim = pendingAttestations(input).find(({ attestation }) => attestation === leading?.attestation);
  return claim && claimItem(input, claim);
}

/** The progress key: once the next event is observed, a later one is another problem. */
const nextEvent = (input: BridgeInput): string => String(required(input.state.last_observed_nonce));

function firstVote(input: BridgeInput): number | undefined {
  return timeOfHeight(input, () => required(leadingClaim(input)?.attestation.height));
}

const stalled = defineProblem('module_state', {
  name: 'BridgeOracleStalled',
  severity: 'critical',
  afterMinutes: 20,
  description: `Validators with a third of the power or more have claimed the next event, but the hub has not observed it. That takes ${percent(QUORUM_RATIO)} of the power.`,
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
      details: [missing.details(voted)],
      action: claim?.violation ? DO_NOT_VOTE : missing.action(CONTACT_VOTERS),
    };
  },
  inhibits: HIDDEN_WITHOUT_EVENTS,
});

const claimedByFew = defineProblem('module_state', {
  name: 'BridgeOracleStalled',
  severity: 'warning',
  afterMinutes: 65,
  description:
    'Validators with less than a third of the power have claimed the next event. It does not exist, or the other validators have not seen it.',
  action:
    'Look up the event on the external chain. If it does not exist, tell the operators who claim it; the next real event ends the problem. If it exists, the other validators are behind.',
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
function claimants(claim: ClaimItem | undefined): string {
  if (claim?.voted === undefined || claim.voted === null) return '';
  const { total, powerRatio } = claim.voted;
  const who = validators(listMembers(claim.voted), total);
  return `${claimText(claim)} is claimed by ${numberAndPower(total, powerRatio)}${who === '' ? '' : `: ${who}`}`;
}

const SILENT_SECONDS = 12 * HOUR_SECONDS;
/** A bridge without requested withdrawals in one of these periods is quiet, not silent. */
const PERIOD_SECONDS = 3 * HOUR_SECONDS;
/** The problem is found from half of its limit on. */
const NOTABLE_SECONDS = SILENT_SECONDS / 2;

/**
 * A silence: no event is observed or claimed, while withdrawals are requested. With a later beginning, it is another
 * problem.
 */
interface SilenceMark {
  readonly event: string;
  readonly beganAt: Instant;
  /** The highest batch id at the beginning of the silence: a batch was built since. Others may have to wait for it. */
  readonly batch: number;
  readonly periodBeganAt: Instant;
  /** The highest transfer id at the beginning of the period. */
  readonly transfer: number;
}

const oracleSilent = defineProblem('module_state', {
  name: 'BridgeOracleSilent',
  severity: 'critical',
  afterMinutes: SILENT_SECONDS / 60 + 5,
  description:
    'For half a day, withdrawals were requested and a batch was signed, but no event was claimed or observed.',
  action:
    'Compare the last event nonce of the contract with the last observed nonce of the hub. If the contract is ahead, the orchestrators have lost the external chain. If not, nothing is relayed.',
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
      const items = claims.map((claim) => claimItem(input, claim));
      const shares = items.flatMap(({ votedPowerRatio }) => votedPowerRatio ?? []).toSorted((a, b) => b - a);
      return {
        progressKey: String(first),
        // The dispute began with the second claim.
        start: times.every((time) => time !== undefined) ? times.toSorted((a, b) => a - b)[1] : undefined,
        summary: `validators disagree about event ${first}${isCritical ? ', and no claim can be observed' : ''}`,
        details: [
          `claims with ${list(shares.map(percent))} of the power`,
          events.size > 1 ? `${count(events.size, 'event')} in all` : '',
        ],
      };
    },
    inhibits: isCritical ? [{ problem: 'BridgeOracleStalled' }, ...HIDDEN_WITHOUT_EVENTS] : [],
  });
}

/*
 * Contradictions that only an attack, a forged signature, a bug or a restored old state explains. Time does not resolve
 * a contradiction within one document, so these problems have no limit.
 */

/** Hides the alerts that ask for votes, because votes for such a claim would do the harm. */
const INHIBITS_VOTES: readonly Inhibition[] = [
  { problem: 'BridgeOracleStalled' },
  ...HIDDEN_WITHOUT_EVENTS,
  { problem: 'BridgeOrchestratorMissingVotes' },
  { problem: 'BridgeWatchedOrchestratorLagging' },
];

export const COMPARE_VALSETS =
  'Save the document. Compare it with a second node and with the validator set update on the external chain. If the mismatch is confirmed, alert the other validators and the owner of the contract, who can pause it.';

/** Finds the claims of a kind that have a third of the power (credible), or those that have less. */
function claimsByPower(
  claims: (input: BridgeInput) => readonly Attestation[],
  kind: string,
  consequence: string,
  isCredible: boolean,
) {
  return ({ input }: Evidence<'module_state'>): Found | undefined => {
    const accused = claims(input);
    if (accused.length === 0) return undefined;
    if (required(highestVotedShare(input, accused)) >= THIRD_RATIO !== isCredible) return undefined;
    const items = pendingAttestations(input)
      .filter(({ attestation }) => accused.includes(attestation))
      .map((claim) => claimItem(input, claim));
    const [first] = items;
    const share = isCredible ? 'a third of the power or more' : 'less than a third of the power';
    return {
      subject: { kind },
      start: timeOfHeight(input, () => lowest(accused.map(({ height }) => required(height)))),
      summary: `${share} claims ${first === undefined ? 'an event' : claimText(first)}, ${consequence}`,
      details: items.map(claimants),
    };
  };
}

const findValsetClaims = (isCredible: boolean) =>
  claimsByPower(suspiciousValsetClaims, 'valset_claim_mismatch', 'a set that the hub does not have', isCredible);

const valsetMismatches = defineProblem('module_state', {
  name: 'BridgeContractValsetMismatch',
  severity: 'critical',
  afterMinutes: 0,
  description:
    'The validator set in the contract has other members than that of the hub with its nonce (`valset_mismatch`). Or the hub had the set within a day and has lost it (`valset_unknown`). Or a third of the power claims a set that the hub does not have (`valset_claim_mismatch`).',
  action: COMPARE_VALSETS,
  /** The time of the last document with the validator set in the contract; 0 for none. */
  mark: {
    next: ({ input }, before: Instant | undefined) => (isValsetUnknown(input) ? (before ?? 0) : input.at),
  },
  find: (evidence, knownAt: Instant | undefined) => {
    const { input } = evidence;
    const kinds: readonly (() => Finding)[] = [
      () =>
        isValsetMismatch(input)
          ? {
              subject: { kind: 'valset_mismatch' },
              summary: 'the validator set in the contract differs from the one of the hub with its nonce',
            }
          : undefined,
      // A set that has been unknown for longer can be of an old state of the node.
      () =>
        isValsetUnknown(input) && input.at - (knownAt ?? 0) < DAY_SECONDS
          ? {
              subject: { kind: 'valset_unknown' },
              summary: 'the hub does not know the validator set in the contract',
            }
          : undefined,
      () => findValsetClaims(true)(evidence),
    ];
    return kinds.map((find) => orElse(find, () => OTHERS_UNJUDGED));
  },
  inhibits: INHIBITS_VOTES,
});

const valsetClaims = defineProblem('module_state', {
  name: 'BridgeContractValsetMismatch',
  severity: 'warning',
  afterMinutes: 5,
  description:
    'Less than a third of the power claims a validator set that the hub does not have (`valset_claim_mismatch`).',
  action: COMPARE_VALSETS,
  find: findValsetClaims(false),
});

const findBatchClaims = (isCredible: boolean) =>
  claimsByPower(
    foreignBatchClaims,
    'withdraw_claim_without_batch',
    `which the hub does not have; the hub halts at ${percent(QUORUM_RATIO)}`,
    isCredible,
  );

const integrityProblems = [
  valsetMismatches,
  defineProblem('module_state', {
    name: 'BridgeClaimWithoutBatch',
    severity: 'critical',
    afterMinutes: 0,
    description:
      'Validators with a third of the power or more claim the execution of a batch that the hub does not have.',
    action: `Look up the batch on the external chain. If it was executed, stop every orchestrator that has not voted, yours too: the hub halts at ${percent(QUORUM_RATIO)}. If not, the validators that claim it must correct their nodes. Warn the developers.`,
    find: findBatchClaims(true),
    inhibits: INHIBITS_VOTES,
  }),
  valsetClaims,
  defineProblem('module_state', {
    name: 'BridgeClaimWithoutBatch',
    severity: 'warning',
    afterMinutes: 5,
    description:
      'Validators with less than a third of the power claim the execution of a batch that the hub does not have.',
    action: `Look up the batch on the external chain. If it was not executed, the validators that claim it must correct their nodes. If it was, warn the developers and the other validators at once: the hub halts at ${percent(QUORUM_RATIO)} of the power.`,
    find: findBatchClaims(false),
  }),
];

export const oracleProblems = [
  ...integrityProblems,
  conflicting('critical', {
    description: `Validators claim different things for an event that is not observed, and no claim can still reach ${percent(QUORUM_RATIO)} of the power.`,
    action:
      'Compare the claims with the event on the external chain. Votes cannot be changed, so only an upgrade or a new contract ends the problem. Until then, no later event is observed.',
  }),
  stalled,
  oracleSilent,
  conflicting('warning', {
    description: `Validators claim different things for an event that is not observed, but one claim can still reach ${percent(QUORUM_RATIO)} of the power.`,
    action:
      'Compare the claims with the event on the external chain, and tell the operators whose validators have voted for a wrong claim.',
  }),
  claimedByFew,
];
