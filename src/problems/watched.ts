import { asNumeral } from '../chain/fields.js';
import type { Instant } from '../clock.js';
import { add, subtract, sum, type Numeral } from '../chain/numeral.js';
import { registeredMembers, watchedEntries } from '../facts/bridge/members.js';
import { isNextEventCredible, leadingClaim, newestAttestedNonce } from '../facts/bridge/events.js';
import { matchingRegistrations, watchedOrchestrators } from '../facts/bridge/registrations.js';
import { toLabelValue } from '../facts/plain-values.js';
import { required } from '../facts/required-fields.js';
import type { QueryStates } from '../queries/query.js';
import {
  claimPosition,
  missedBlocks,
  orchestratorBalance,
  signingInfo,
  stakingStatus,
} from '../queries/validator-queries.js';
import { count, durationInWords } from '../text/format.js';
import { DAY_SECONDS, MINUTE_SECONDS } from '../units.js';
import { findEntry } from './marks.js';
import { missedBlocksProblems } from './missed-blocks.js';
import {
  defineProblem,
  eachAnswered,
  identifySubject,
  type Evidence,
  type Finding,
  type Problem,
  type Severity,
} from './problem.js';
import { COMMON_CAUSE, hubCoinText, MOST_RATIO, yours, yourValidator } from './sentence.js';

/*
 * The validators of `watch`: whether they are in the validator set, and the answers of the node about each validator.
 */

const FIND_CAUSE =
  'Find the cause (missed signatures of batches or validator sets, or missed blocks), correct it, then unjail with "injectived tx slashing unjail --from VALIDATOR_KEY".';

const TOMBSTONED =
  'The validator is tombstoned: its key has signed two blocks of one height, so it can never be unjailed. Find out which machines have the key, then tell the delegators.';

const jailed = defineProblem('module_state', {
  name: 'BridgeWatchedValidatorJailed',
  severity: 'critical',
  afterMinutes: 2,
  description: 'A watched validator is jailed according to the staking module of the hub.',
  action: FIND_CAUSE,
  find: (evidence) =>
    eachAnswered(evidence, stakingStatus, ({ orchestrator }, status, who) => {
      if (!status.isJailed) return undefined;
      const isTombstoned = missedBlocks(evidence.answers, orchestrator)?.isTombstoned === true;
      return { summary: `${who} is jailed`, action: isTombstoned ? TOMBSTONED : FIND_CAUSE };
    }),
  inhibits: [
    { problem: 'BridgeWatchedOrchestratorLagging', equal: ['orchestrator'] },
    { problem: 'BridgeOrchestratorMissingVotes', equal: ['orchestrator'] },
    { problem: 'BridgeOrchestratorMissingConfirms', equal: ['orchestrator'] },
    { problem: 'BridgeWatchedValidatorMissingBlocks', equal: ['orchestrator'] },
    { problem: 'BridgeWatchedValidatorSignsNoBlocks', equal: ['orchestrator'] },
  ],
});

const lagging = defineProblem('module_state', {
  name: 'BridgeWatchedOrchestratorLagging',
  severity: 'warning',
  // Before BridgeOrchestratorMissingVotes, of which it is the cause.
  afterMinutes: 25,
  description:
    'The last claim of a watched validator does not advance. It is behind the last observed event, or behind the next event that a third of the power has claimed.',
  action:
    'Check the log of the orchestrator and its node of the external chain. After a restart, the orchestrator continues where it stopped.',
  find: (evidence) => {
    const { input } = evidence;
    const observed = required(input.state.last_observed_nonce);
    const claimed = add(observed, isNextEventCredible(input) === true ? 1n : 0n);
    const newest = newestAttestedNonce(input) ?? claimed;
    const voted = leadingClaim(input)?.powerRatio;
    const areMostSilent = claimed > observed && voted !== undefined && 1 - voted >= MOST_RATIO;
    // The orchestrator of a validator outside the set makes no claims, and continues when the validator is a member
    // again.
    const members = new Set(registeredMembers(input).map(({ registration }) => registration.sender));
    return eachAnswered(evidence, claimPosition, (watched, position, who) => {
      if (!members.has(watched.sender) || position >= claimed) return undefined;
      return {
        progressKey: String(position),
        summary: `${who} claims no events`,
        details: [
          `its last claim is event ${position}, ${count(Number(subtract(newest, position)), 'event')} before the newest claim`,
        ],
        action: areMostSilent ? COMMON_CAUSE : undefined,
      };
    });
  },
  inhibits: [{ problem: 'BridgeOrchestratorMissingVotes', equal: ['orchestrator'] }],
});

/** The queries whose answers are judged by a problem. */
const ANSWERS = [
  { query: stakingStatus, text: (who: string) => `whether ${who} is jailed` },
  { query: signingInfo, text: (who: string) => `whether ${who} misses blocks` },
] as const;

const validatorUnknown = defineProblem('module_state', {
  name: 'BridgeWatchedValidatorUnknown',
  severity: 'warning',
  afterMinutes: 60,
  description: 'The node no longer answers whether a watched validator is jailed or misses blocks.',
  action:
    'Look for "query of the node failed" in the log of the exporter, and request the logged path by hand. Another node may serve it.',
  find: ({ input, answers, answeredAt }) =>
    watchedOrchestrators(input).map((watched): Finding => {
      const { orchestrator } = watched;
      const asked = ANSWERS.filter(({ query }) => answers.has(query.name)).map((each) => ({
        ...each,
        isAnswered: each.query.getAnswer(answers, orchestrator) !== undefined,
        at: answeredAt(each.query.name, orchestrator),
      }));
      const subject = identifySubject(watched);
      const unknown = asked.find(({ at, isAnswered }) => at !== undefined && !isAnswered);
      if (unknown !== undefined)
        return { subject, start: unknown.at, summary: `the node does not answer ${unknown.text(yours(watched))}` };
      // Before the first answers to this process, a problem that an earlier process found goes on.
      return asked.every(({ isAnswered }) => isAnswered) ? undefined : { notShown: subject };
    }),
});

/** What each orchestrator has spent in each of the last days, and its last two balances. */
type FundsMark = Readonly<Record<string, Funds>>;

interface Funds {
  readonly before: Numeral;
  readonly balance: Numeral;
  readonly days: readonly { readonly at: Instant; readonly spent: Numeral }[];
}

/** The rate is measured over so many days, and the funds have to last for as long. */
const FUNDS_DAYS = 3;

const fundsLow = defineProblem('module_state', {
  name: 'BridgeWatchedOrchestratorFundsLow',
  severity: 'warning',
  afterMinutes: 15,
  description: `The balance of a watched orchestrator is 0 or below \`watch_min_balance\`. Without that setting, the balance lasts for less than ${FUNDS_DAYS} days at the spending rate of the last ${FUNDS_DAYS} days.`,
  action:
    'Send coins of the hub to the orchestrator. Without funds, it neither signs nor votes, and the validator is jailed.',
  mark: {
    next: ({ input: { at }, newAnswers }, before: FundsMark = {}): FundsMark => {
      const known = Object.entries(before).filter(
        ([, { days }]) => at - (days.at(-1)?.at ?? at) < (FUNDS_DAYS + 1) * DAY_SECONDS,
      );
      const answered = Array.from(
        orchestratorBalance.getAnswers(newAnswers),
        ([orchestrator, balance]) => [orchestrator, fundsAfter(findEntry(before, orchestrator), balance, at)] as const,
      );
      return Object.fromEntries([...known, ...answered]);
    },
  },
  find: (evidence, mark) => {
    const { input } = evidence;
    const minimum = asNumeral(input.settings.watch_min_balance);
    return eachAnswered(evidence, orchestratorBalance, ({ orchestrator }, balance, who) => {
      const { days = [] } = findEntry(mark, orchestrator) ?? {};
      const measured = input.at - (days[0]?.at ?? input.at);
      const spent = Number(sum(days.map((day) => day.spent)));
      const left = spent === 0 ? Infinity : (Number(balance) * measured) / spent;
      const isLow = minimum > 0n ? balance < minimum : left < Math.min(FUNDS_DAYS * DAY_SECONDS, measured);
      if (balance !== 0n && !isLow) return undefined;
      return {
        summary: `the orchestrator of ${who} is low on funds`,
        details: [
          `it has ${hubCoinText(input, balance)} left`,
          left > 0 && left < Infinity
            ? `enough for about ${durationInWords(left)} at the rate of the last ${durationInWords(measured)}`
            : '',
        ],
      };
    });
  },
});

/**
 * The funds with the next balance. What was spent up to it counts for the day before. A higher balance was filled up.
 * The higher of two successive balances counts, so that an odd answer of 0 is not spending.
 */
function fundsAfter(last: Funds | undefined, balance: Numeral, at: Instant): Funds {
  const next = { at, spent: 0n };
  if (last === undefined) return { before: balance, balance, days: [next] };
  const spent = subtract(higher(last.before, last.balance), higher(last.balance, balance));
  // The last day goes on while no balance is known, such as in an outage.
  const days = last.days.filter((_day, index) => at - (last.days[index + 1]?.at ?? at) < FUNDS_DAYS * DAY_SECONDS);
  const today = days.at(-1) ?? next;
  const known = spent > 0n ? [...days.slice(0, -1), { ...today, spent: add(today.spent, spent) }] : days;
  return { before: last.balance, balance, days: at - today.at < DAY_SECONDS ? known : [...known, next] };
}

const higher = (a: Numeral, b: Numeral): Numeral => (a > b ? a : b);

/** The last time in the newest validator set; for an entry that was in none, the first document since it is watched. */
interface Membership {
  readonly wasActive: boolean;
  readonly at: Instant;
}

type MembershipMark = Readonly<Record<string, Membership>>;

/** Whether the node says that it is jailed; `undefined` between two answers. */
function isJailed({ input, answers, newAnswers }: Evidence<'module_state'>, entry: string): boolean | undefined {
  const orchestrators = (matchingRegistrations(input, entry) ?? []).map((row) =>
    required(row.orchestrator).toLowerCase(),
  );
  const isAnswered = (states: QueryStates): boolean =>
    orchestrators.some((each) => stakingStatus.getAnswer(states, each) !== undefined);
  if (isAnswered(answers) && !isAnswered(newAnswers)) return undefined;
  return orchestrators.some((each) => stakingStatus.getAnswer(newAnswers, each)?.isJailed === true);
}

/** A validator that is unjailed is in no set before the hub creates the next set. */
const NEXT_SET_MINUTES = 10;

function inactive(severity: Severity, declaration: Pick<Problem, 'description' | 'action' | 'afterMinutes'>) {
  const isCritical = severity === 'critical';
  return defineProblem('module_state', {
    name: 'BridgeWatchedValidatorInactive',
    severity,
    ...declaration,
    mark: {
      next: ({ input }: Evidence<'module_state'>, before: MembershipMark | undefined): MembershipMark =>
        Object.fromEntries(
          watchedEntries(input).map(({ address, isActive = false }): [string, Membership] => {
            const now = { wasActive: isActive, at: input.at };
            return [address, isActive ? now : (findEntry(before, address) ?? now)];
          }),
        ),
    },
    find: (evidence: Evidence<'module_state'>, mark: MembershipMark | undefined) =>
      watchedEntries(evidence.input).map(({ address, isActive, isRegistered }): Finding => {
        const subject = { address: toLabelValue(address) };
        if (isRegistered === undefined) return { notShown: subject, isUnjudged: true };
        const { input } = evidence;
        const { wasActive = false, at = input.at } = findEntry(mark, address) ?? {};
        if (isActive || wasActive !== isCritical) return undefined;
        // A jailed validator has BridgeWatchedValidatorJailed instead.
        const isKnownAsJailed = isJailed(evidence, address);
        if (isKnownAsJailed !== false) return isKnownAsJailed === undefined ? { notShown: subject } : undefined;
        const who = yourValidator({ name: '', address, hasNamesake: false });
        if (!isRegistered) {
          const summary = `${who} matches no registration: correct the address in watch`;
          return { subject, start: isCritical ? at : undefined, summary, action: CORRECT_ADDRESS };
        }
        // The warning has no limit, so that a wrong address is reported at once. A membership may still come by itself.
        if (!isCritical && input.at - at < NEXT_SET_MINUTES * MINUTE_SECONDS) return undefined;
        return { subject, start: at, summary: `${who} is not in the newest validator set` };
      }),
  });
}

const CORRECT_ADDRESS =
  'Replace the entry of watch by the orchestrator, operator or external address of your validator on this bridge. An address without a registration is not monitored.';

export const watchedProblems = [
  jailed,
  missedBlocksProblems.signsNone.critical,
  missedBlocksProblems.missing.critical,
  inactive('critical', {
    afterMinutes: NEXT_SET_MINUTES,
    description: 'A watched validator has left the newest validator set.',
    action: 'Check whether the validator is jailed. If so, correct the cause, then unjail the validator.',
  }),
  lagging,
  missedBlocksProblems.signsNone.warning,
  missedBlocksProblems.missing.warning,
  inactive('warning', {
    afterMinutes: 0,
    description: `An entry of \`watch\` matches no registration, or has been watched for ${NEXT_SET_MINUTES} minutes and was never in the newest validator set.`,
    action:
      'If the address in watch matches no registration, correct it. Otherwise, check whether the validator is jailed: signatures and votes are not monitored of a validator outside the set.',
  }),
  fundsLow,
  validatorUnknown,
];
