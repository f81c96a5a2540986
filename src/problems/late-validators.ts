import { dataPart } from '../chain/addresses.js';
import { compare, highest, lowest, subtract, type Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import { estimateDuration, hubBlockTime, timeOfHeight } from '../facts/bridge/block-times.js';
import { duties, isDone, missingConfirms, nextDeadline, type Duty } from '../facts/bridge/duties.js';
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
import { hasVoted, memberPowerShare, registeredMembers, type RegisteredMember } from '../facts/bridge/orchestrators.js';
import { JAILED_RATIO, LATE_RATIO } from '../facts/bridge/power-shares.js';
import { hasNamesake, validatorName } from '../facts/bridge/registrations.js';
import { memoize, memoizePerRow } from '../facts/memoize.js';
import { orUndefined, required } from '../facts/required-fields.js';
import { claimPosition } from '../queries/watched-validators.js';
import { count, percent } from '../text/format.js';
import { HOUR_SECONDS } from '../units.js';
import { findEntry } from './marks.js';
import {
  defineProblem,
  type Evidence,
  type Found,
  type FoundValidator,
  type Severity,
  type Together,
} from './problem.js';
import { clockTime, numberAndPower, validators, yourValidator } from './sentence.js';

/* Missing signatures and votes of validators: of each watched validator, and of unwatched ones together. */

const CHECK_CONFIRMS =
  'Check the orchestrator: one that does not sign has stopped, has no funds or cannot reach its nodes.';
const CHECK_VOTES = 'Check the orchestrator and its node of the external chain.';
const CONTACT_LATE =
  'Tell the operators, the largest first; without 66 % of the power nothing is relayed and no event is observed.';

/** Validators that are not watched, as one problem with their number and power, if the power of each is known. */
function together(minimumPower: number, summary: string, action: string): Together {
  const details = (found: readonly FoundValidator[]): string => {
    const powers = found.flatMap(({ power }) => power ?? []);
    const all = powers.length === found.length ? powers.reduce((sum, power) => sum + power, 0) : null;
    return `${numberAndPower(found.length, all)}: ${validators(found)}`;
  };
  return { minimumPower, summary, action, details };
}

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

const MAX_REMEMBERED_MEMBERS = 300;

/** A mark with a value for each member, by external address. */
function byMember<Value>(input: BridgeInput, deriveValue: (member: RegisteredMember) => Value | undefined) {
  const entries = registeredMembers(input)
    .slice(0, MAX_REMEMBERED_MEMBERS)
    .map((member) => [member.labels.external_address, deriveValue(member)] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, Value] => entry[1] !== undefined));
}

/**
 * The number of live batches with a signature of each member, and the time of the last poll with one more, in Unix
 * seconds.
 */
type SigningByMember = Readonly<
  Record<string, { readonly signed: number; readonly progressSeconds?: Instant | undefined }>
>;

const confirmsMissing = defineProblem('module_state', {
  name: 'BridgeOrchestratorMissingConfirms',
  severity: 'warning',
  afterMinutes: 65,
  dashboard: 'bridge-validator',
  summary: `one of your validators does not sign, or others with ${percent(LATE_RATIO)} of the power or more`,
  description: `One of your validators (\`watch\`) has signed nothing for an hour, or has not signed the validator set whose deadline is next; or others that together have ${LATE_RATIO * 100} % of the power or more. A validator that misses a deadline is jailed. From 34 % on, nothing can be relayed.`,
  action: CHECK_CONFIRMS,
  // An orchestrator signs a batch a minute, the newest first, so a signature of any batch is progress.
  mark: {
    version: 1,
    next: ({ input }, before: SigningByMember | undefined): SigningByMember =>
      byMember(input, (member) => {
        const last = findEntry(before, member.labels.external_address);
        const signed = signedBatches(input, member).length;
        const isProgress = last !== undefined && signed > last.signed;
        return { signed, progressSeconds: isProgress ? input.at : last?.progressSeconds };
      }),
  },
  find: ({ input }, mark) =>
    registeredMembers(input).flatMap((member) => [
      unsignedBatches(input, member, findEntry(mark, member.labels.external_address)?.progressSeconds),
      unsignedValsets(input, member),
    ]),
  together: together(
    LATE_RATIO,
    `validators with ${percent(LATE_RATIO)} of the power or more do not sign`,
    CONTACT_LATE,
  ),
});

const signedBatches = memoizePerRow((input: BridgeInput, member: RegisteredMember): readonly Duty[] =>
  duties(input, 'batch').filter((batch) => isDone(member, batch)),
);

function unsignedBatches(
  input: BridgeInput,
  member: RegisteredMember,
  progressSeconds: number | undefined,
): Found | undefined {
  const missing = missingConfirms.batch(input, member);
  if (missing.length === 0) return undefined;
  const newestSigned = highest(signedBatches(input, member).map(({ height }) => required(height)));
  // Older batches may wait for their turn.
  const due = missing
    .map(({ height }) => required(height))
    .filter((height) => newestSigned === undefined || height > newestSigned);
  const created = timeOfHeight(input, () => lowest(due));
  const lacking = count(missing.length, 'live batch lacks', 'live batches lack');
  return findingAbout(input, member, {
    subject: { kind: 'batch' },
    progressKey: String(progressSeconds ?? ''),
    start: created === undefined ? undefined : Math.max(created, progressSeconds ?? created),
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

/** The highest event nonce with a vote of each member in the polls so far. */
type VoteByMember = Readonly<Record<string, Numeral>>;

const votesMissing = defineProblem('module_state', {
  name: 'BridgeOrchestratorMissingVotes',
  severity: 'warning',
  afterMinutes: 30,
  dashboard: 'bridge-validator',
  summary: `one of your validators does not vote, or others with ${percent(LATE_RATIO)} of the power or more`,
  description: `One of your validators (\`watch\`) has not voted for an event that others have claimed, nor for any later one; or others that together have ${LATE_RATIO * 100} % of the power or more. A vote for another claim is not missing. From 34 % on, no event is observed.`,
  action: CHECK_VOTES,
  mark: {
    version: 1,
    // The nonce does not go back when the hub deletes a vote.
    next: ({ input, answers }, before: VoteByMember | undefined): VoteByMember => {
      // An orchestrator that catches up votes for events that are no longer in the state.
      const positions = claimPosition.getAnswers(answers);
      return byMember(input, (member) => {
        const { registration, labels } = member;
        return highest([
          findEntry(before, member.labels.external_address),
          newestVotes(input).get(dataPart(required(registration.sender))),
          positions.get(labels.orchestrator),
        ]);
      });
    },
  },
  find: ({ input }, mark) => {
    const isNextCredible = isNextEventCredible(input) === true;
    return registeredMembers(input).map((member) => {
      const missesLast = hasVoted(votersOfLastEvent(input), member) === false;
      const missesNext = isNextCredible && hasVoted(votersOfNextEvent(input), member) === false;
      if (!missesLast && !missesNext) return undefined;
      return findingAbout(input, member, {
        progressKey: String(findEntry(mark, member.labels.external_address) ?? ''),
        start: timeOfHeight(input, () =>
          missesLast ? heightOfLastObserved(input) : required(leadingClaim(input)?.attestation.height),
        ),
        summary: (who) => `${who} votes for no event`,
      });
    });
  },
  together: together(
    LATE_RATIO,
    `validators with ${percent(LATE_RATIO)} of the power or more vote for no event`,
    CONTACT_LATE,
  ),
});

const CRITICAL_HOURS = 12;
const WARNING_HOURS = 24;

const TELL_OPERATORS =
  'Tell the operators of those that have not signed, the most power first: when a third of the power is jailed, nothing is signed or observed.';

function deadlineNear(severity: Severity, hours: number, when: 'now' | 'today') {
  const limit = hours * HOUR_SECONDS;
  const remedy = `Check the log, funds and key of the orchestrator, then restart it ${when}.`;
  return defineProblem('module_state', {
    name: 'BridgeOrchestratorDeadlineNear',
    severity,
    // Signatures are usually given within minutes.
    afterMinutes: 15,
    // A forged validator set has deadlines.
    ...(severity === 'critical' && { isDoubtful: true }),
    dashboard: 'bridge-validator',
    summary: `one of your validators, or others with a third of the power, must sign within ${hours} hours or be jailed`,
    description: `Less than ${hours} hours are left for one of your validators (\`watch\`) to sign a validator set or a batch, or for others that together have a third of the power. Who has not signed by then is jailed, and neither signs nor votes.`,
    action: remedy,
    find: ({ input }: Evidence<'module_state'>) => {
      // A signature that is missing at an old height may be given since then.
      if (input.isNodeBehind === true) return { inPart: [] };
      return registeredMembers(input).map((member) => {
        const deadline = nextDeadline(input, member);
        if (deadline === undefined) return undefined;
        const { duty, height } = deadline;
        const left = estimateDuration(subtract(height, required(input.height)), hubBlockTime(input));
        if (left >= limit) return undefined;
        const created = timeOfHeight(input, () => required(duty.height));
        const near = input.at + left - limit;
        return findingAbout(input, member, {
          // On a busy bridge some batch lacks a signature in every poll: each batch is another problem.
          progressKey: String(height),
          start: created === undefined ? undefined : Math.max(created, near),
          summary: (who) =>
            `${who} must sign ${duty.kind === 'batch' ? 'batch' : 'validator set'} ${required(duty.nonce)} or be jailed`,
          details: [`by ${clockTime(input, left)}`],
        });
      });
    },
    together: together(
      JAILED_RATIO,
      `validators with a third of the power must sign within ${hours} hours or be jailed`,
      TELL_OPERATORS,
    ),
    inhibits: [{ problem: 'BridgeOrchestratorMissingConfirms', equal: ['orchestrator', 'watched'] }],
  });
}

export const validatorProblems = [
  deadlineNear('critical', CRITICAL_HOURS, 'now'),
  deadlineNear('warning', WARNING_HOURS, 'today'),
  confirmsMissing,
  votesMissing,
];
