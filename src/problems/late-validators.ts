import { dataPart } from '../chain/addresses.js';
import { compare, highest, lowest, subtract, type Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import { blockTimeOfAges, estimateDuration, timeOfHeight } from '../facts/bridge/block-times.js';
import {
  duties,
  identifySignature,
  isDone,
  missingConfirms,
  nextDeadline,
  type Duty,
  hasVoted,
  memberPowerShare,
  registeredMembers,
  type RegisteredMember,
} from '../facts/bridge/members.js';
import {
  eventAttestations,
  heightOfLastObserved,
  isNextEventCredible,
  leadingClaim,
  voters,
  votersOfLastEvent,
  votersOfNextEvent,
} from '../facts/bridge/events.js';
import type { BridgeInput } from '../facts/bridge/bridge-input.js';
import { LATE_RATIO, QUORUM_RATIO, THIRD_RATIO } from '../facts/bridge/valsets.js';
import { hasNamesake, validatorName } from '../facts/bridge/registrations.js';
import { standsStill } from '../facts/hub-blocks.js';
import { memoize, memoizePerRow } from '../facts/memoize.js';
import { orUndefined, required } from '../facts/required-fields.js';
import { claimPosition } from '../queries/validator-queries.js';
import { count, percent } from '../text/format.js';
import { HOUR_SECONDS } from '../units.js';
import { findEntry } from './marks.js';
import {
  defineProblem,
  OTHERS_OUTDATED,
  type Evidence,
  type Found,
  type FoundValidator,
  type Severity,
} from './problem.js';
import { clockTime, COMMON_CAUSE, validators, yourValidator } from './sentence.js';
import { areMost } from './subjects.js';

/* Missing signatures and votes of validators: of each watched validator, and of unwatched ones together. */

const CONTACT_LATE = `Tell the operators, the most power first. Without ${percent(QUORUM_RATIO)} of the power, nothing is relayed and no event is observed.`;

/** A finding about a member. */
function findingAbout(
  input: BridgeInput,
  member: RegisteredMember,
  { subject, summary, ...found }: Omit<Found, 'summary'> & { readonly summary: (who: string) => string },
): Found {
  const { registration, labels, isWatched } = member;
  const orchestrator = labels.orchestrator || labels.external_address;
  const validator: FoundValidator = {
    name: validatorName(input, registration),
    address: orchestrator,
    isWatched,
    hasNamesake: hasNamesake(input, registration),
    externalAddress: labels.external_address,
    power: orUndefined(() => memberPowerShare(input, member)),
  };
  return {
    ...found,
    subject: { orchestrator, watched: String(isWatched), ...subject },
    validator,
    summary: summary(isWatched ? yourValidator(validator) : validators([validator])),
  };
}

const UNWATCHED_TOGETHER = `Unwatched validators are judged together, from ${LATE_RATIO * 100} % of the power on.`;

const MAX_REMEMBERED_MEMBERS = 300;

/** A mark with a value of each member, by external address. */
type ByMember<Value> = Readonly<Record<string, Value>>;

function findMember<Value>(mark: ByMember<Value> | undefined, { labels }: RegisteredMember): Value | undefined {
  return findEntry(mark, labels.external_address);
}

function markMembers<Value>(
  input: BridgeInput,
  before: ByMember<Value> | undefined,
  next: (member: RegisteredMember, last: Value | undefined) => Value | undefined,
): ByMember<Value> {
  const remembered = registeredMembers(input).slice(0, MAX_REMEMBERED_MEMBERS);
  return Object.fromEntries(
    remembered.flatMap((member) => {
      const value = next(member, findMember(before, member));
      return value === undefined ? [] : [[member.labels.external_address, value] as const];
    }),
  );
}

/** The number of live batches with a signature of the member, and when that number last grew. */
interface Signing {
  readonly signed: number;
  readonly lastSignedAt?: Instant | undefined;
}

const confirmsMissing = defineProblem('module_state', {
  name: 'BridgeOrchestratorMissingConfirms',
  severity: 'warning',
  afterMinutes: 65,
  description: `A watched validator signs no batches, or has not signed the validator set whose deadline is next. ${UNWATCHED_TOGETHER}`,
  action: 'Check the orchestrator of the validator: it has stopped, has no funds, or cannot reach its nodes.',
  // An orchestrator signs a batch a minute, the newest first, so a signature of any batch is progress.
  mark: {
    next: ({ input }, before: ByMember<Signing> | undefined): ByMember<Signing> =>
      markMembers(input, before, (member, last) => {
        const signed = signedBatches(input, member).length;
        const isProgress = last !== undefined && signed > last.signed;
        return { signed, lastSignedAt: isProgress ? input.at : last?.lastSignedAt };
      }),
  },
  find: ({ input }, mark) =>
    registeredMembers(input).flatMap((member) => [
      unsignedBatches(input, member, findMember(mark, member)?.lastSignedAt),
      unsignedValsets(input, member),
    ]),
  together: {
    minimumPower: LATE_RATIO,
    summary: `validators with ${percent(LATE_RATIO)} of the power or more do not sign`,
    summaryOfMost: 'validators with two thirds of the power or more do not sign',
    action: CONTACT_LATE,
  },
});

const signedBatches = memoizePerRow((input: BridgeInput, member: RegisteredMember): readonly Duty[] =>
  duties(input, 'batch').filter((batch) => isDone(member, batch)),
);

function unsignedBatches(
  input: BridgeInput,
  member: RegisteredMember,
  lastSignedAt: Instant | undefined,
): Found | undefined {
  const missing = missingConfirms.batch(input, member);
  if (missing.length === 0) return undefined;
  const newestSigned = highest(signedBatches(input, member).map(({ height }) => required(height)));
  // Batches older than the newest signed one may wait for their turn.
  const due = missing
    .map(({ height }) => required(height))
    .filter((height) => newestSigned === undefined || height > newestSigned);
  const created = timeOfHeight(input, () => lowest(due));
  const lacking = count(missing.length, 'live batch lacks', 'live batches lack');
  return findingAbout(input, member, {
    subject: { kind: 'batch' },
    progressKey: String(lastSignedAt ?? ''),
    start: created === undefined ? undefined : Math.max(created, lastSignedAt ?? created),
    summary: (who) => `${who} signs no batch`,
    details: [`${lacking} its signature`],
  });
}

function unsignedValsets(input: BridgeInput, member: RegisteredMember): Found | undefined {
  const missing = missingConfirms.valset(input, member);
  const first = missing.toSorted((a, b) => compare(required(a.height), required(b.height)))[0];
  if (first === undefined) return undefined;
  return findingAbout(input, member, {
    subject: { kind: 'valset' },
    progressKey: String(required(first.nonce)),
    start: timeOfHeight(input, () => required(first.height)),
    summary: (who) => `${who} has not signed validator set ${required(first.nonce)}`,
    details: missing.length > 1 ? [`nor ${count(missing.length - 1, 'later one')}`] : [],
  });
}

/** The highest event nonce with a vote of each validator, by data part. */
const newestVotes = memoize((input: BridgeInput): ReadonlyMap<string, Numeral> => {
  const newest = new Map<string, Numeral>();
  for (const { nonce, attestation } of eventAttestations(input)) {
    for (const voter of voters(attestation)) {
      const last = newest.get(voter);
      if (last === undefined || nonce > last) newest.set(voter, nonce);
    }
  }
  return newest;
});

const votesMissing = defineProblem('module_state', {
  name: 'BridgeOrchestratorMissingVotes',
  severity: 'warning',
  afterMinutes: 30,
  description: `A watched validator has not voted for the last observed event, or not for the next one although a third of the power has. A vote for any claim of the event counts. ${UNWATCHED_TOGETHER}`,
  action: 'Check the orchestrator of the validator, and its node of the external chain.',
  mark: {
    /** The highest event nonce with a vote so far: it does not go back when the hub deletes a vote. */
    next: ({ input, answers }, before: ByMember<Numeral> | undefined): ByMember<Numeral> =>
      markMembers(input, before, ({ registration, labels }, last) =>
        highest([
          last,
          newestVotes(input).get(dataPart(required(registration.sender))),
          // An orchestrator that catches up votes for old events, which are no longer in the document.
          claimPosition.getAnswer(answers, labels.orchestrator),
        ]),
      ),
  },
  find: ({ input }, mark) => {
    const isNextCredible = isNextEventCredible(input) === true;
    return registeredMembers(input).map((member) => {
      const missesLast = hasVoted(votersOfLastEvent(input), member) === false;
      const missesNext = isNextCredible && hasVoted(votersOfNextEvent(input), member) === false;
      if (!missesLast && !missesNext) return undefined;
      return findingAbout(input, member, {
        progressKey: String(findMember(mark, member) ?? ''),
        start: timeOfHeight(input, () =>
          missesLast ? heightOfLastObserved(input) : required(leadingClaim(input)?.attestation.height),
        ),
        summary: (who) => `${who} votes for no event`,
      });
    });
  },
  together: {
    minimumPower: LATE_RATIO,
    summary: `validators with ${percent(LATE_RATIO)} of the power or more vote for no event`,
    summaryOfMost: 'validators with two thirds of the power or more vote for no event',
    action: CONTACT_LATE,
  },
});

function deadlineNear(severity: Severity, hours: number, when: 'now' | 'today') {
  const limit = hours * HOUR_SECONDS;
  return defineProblem('module_state', {
    name: 'BridgeOrchestratorDeadlineNear',
    severity,
    // Signatures are usually given within minutes.
    afterMinutes: 15,
    description: `Less than ${hours} hours are left for a watched validator to sign a validator set or a batch. Unwatched validators are judged together, from a third of the power on.`,
    action: `Check the log, funds and key of the orchestrator, then restart it ${when}.`,
    find: ({ input }: Evidence<'module_state'>) => {
      // The signature may have been given since the old height, so no new deadline is found. Known ones of watched
      // validators can still fire: they are jailed if the hub goes on without this node.
      if (input.isNodeBehind === true || standsStill(input)) return OTHERS_OUTDATED;
      const found = registeredMembers(input).map((member) => {
        const deadline = nextDeadline(input, member);
        if (deadline === undefined) return undefined;
        const { duty, height } = deadline;
        const signature = identifySignature(duty);
        const left = estimateDuration(subtract(height, required(input.height)), blockTimeOfAges(input));
        if (left >= limit) return undefined;
        const created = timeOfHeight(input, () => required(duty.height));
        const near = input.at + left - limit;
        return findingAbout(input, member, {
          // On a busy bridge some batch lacks a signature in every poll: each batch is another problem.
          progressKey: String(height),
          start: created === undefined ? undefined : Math.max(created, near),
          summary: (who) => `${who} must sign ${signature.what} ${signature.nonce} or be jailed`,
          details: [`by ${clockTime(input, left)}`],
        });
      });
      // Watched validators are never joined, because each is jailed whatever the cause is. Only the action names it.
      const action = areMost(found.flatMap((one) => one?.validator ?? [])) ? COMMON_CAUSE : undefined;
      return found.map((one) => one && { ...one, action });
    },
    together: {
      minimumPower: THIRD_RATIO,
      summary: `validators with a third of the power must sign within ${hours} hours or be jailed`,
      action:
        'Tell the operators of the validators that have not signed, the most power first. When a third of the power is jailed, no batch is signed and no event observed.',
    },
    inhibits: [{ problem: 'BridgeOrchestratorMissingConfirms', equal: ['orchestrator', 'watched'] }],
  });
}

export const validatorProblems = [
  deadlineNear('critical', 12, 'now'),
  deadlineNear('warning', 24, 'today'),
  confirmsMissing,
  votesMissing,
];
