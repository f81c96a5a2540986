import { lowest } from '../chain/numeral.js';
import type { Attestation } from '../chain/module-state.js';
import type { Instant } from '../clock.js';
import { pendingAttestations } from '../facts/bridge/events.js';
import { timeOfHeight } from '../facts/bridge/block-times.js';
import type { BridgeInput } from '../facts/bridge/bridge-input.js';
import {
  foreignBatchClaims,
  highestVotedShare,
  isValsetMismatch,
  isValsetUnknown,
  suspiciousValsetClaims,
} from '../facts/bridge/integrity.js';
import { QUORUM_RATIO, THIRD_RATIO } from '../facts/bridge/valsets.js';
import { orElse, required } from '../facts/required-fields.js';
import { percent } from '../text/format.js';
import { DAY_SECONDS } from '../units.js';
import { claimants } from './oracle-problems.js';
import { claimText } from './sentence.js';
import {
  defineProblem,
  OTHERS_UNJUDGED,
  type Evidence,
  type Finding,
  type Found,
  type Inhibition,
  HIDDEN_WITHOUT_EVENTS,
} from './problem.js';
import { claimItem } from '../facts/bridge/claims.js';

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
    `which the hub does not have; it halts at ${percent(QUORUM_RATIO)}`,
    isCredible,
  );

export const integrityProblems = [
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
