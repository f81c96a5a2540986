import type { Instant } from '../clock.js';
import { add, asNumeral, subtract, sum, type Numeral } from '../chain/numeral.js';
import { missedSignature } from '../facts/bridge/duties.js';
import { isNextEventCredible, leadingClaim, newestAttestedNonce } from '../facts/bridge/events.js';
import type { BridgeInput, WatchedOrchestrator } from '../facts/bridge/bridge-input.js';
import { registeredMembers, watchedEntries } from '../facts/bridge/orchestrators.js';
import { matchingRegistrations, watchedOrchestrators } from '../facts/bridge/registrations.js';
import { toLabelValue } from '../facts/label-value.js';
import { orUndefined, required, WITHDRAWN } from '../facts/required-fields.js';
import type { NodeQuery, QueryStates } from '../queries/query.js';
import {
  claimPosition,
  missedBlocks,
  type MissedBlocks,
  orchestratorBalance,
  recentlyMissed,
  signingInfo,
  stakingStatus,
  unsignedBlocks,
} from '../queries/validator-queries.js';
import { count, durationInWords, percent } from '../text/format.js';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../units.js';
import { findEntry } from './marks.js';
import {
  defineProblem,
  type Evidence,
  type Finding,
  type Findings,
  type Found,
  type Problem,
  type Severity,
  type Subject,
} from './problem.js';
import { about, COMMON_CAUSE, hubCoinText, MOST_RATIO, yourValidator } from './sentence.js';

/*
 * The validators of `watch`: whether they are in the validator set, and the answers of the node about each validator.
 */

const UNJAIL = 'then unjail with "injectived tx slashing unjail --from VALIDATOR_KEY".';
const FIND_CAUSE = `Find the cause (missed signatures of batches or validator sets, or missed blocks), correct it, ${UNJAIL}`;

const identifySubject = ({ orchestrator }: WatchedOrchestrator): Subject => ({
  orchestrator: toLabelValue(orchestrator),
  watched: 'true',
});

function yours({ orchestrator: address, name, hasNamesake }: WatchedOrchestrator): string {
  return yourValidator({ name, address, hasNamesake });
}

const TOMBSTONED =
  'It is tombstoned: its key has signed two blocks of one height, so it can never be unjailed. Find out where the key is, then tell the delegators.';

/** The action after jailing, with the cause if the documents prove it. */
function unjailAfter({ input, answers }: Evidence<'module_state'>, { orchestrator }: WatchedOrchestrator): string {
  if (missedBlocks(answers).get(orchestrator)?.isTombstoned === true) return TOMBSTONED;
  const cause = orUndefined(
    () => matchingRegistrations(input, orchestrator)?.map((row) => missedSignature(input, row))[0],
  );
  if (cause === undefined) return FIND_CAUSE;
  return `The reason is a missing signature of ${cause.of} ${cause.nonce}: restart the orchestrator, check its funds and nodes, ${UNJAIL}`;
}

/**
 * The findings in the answers about own validators. While one is unknown (`null`, or without an answer:
 * BridgeWatchedValidatorUnknown), only its own problems do not end.
 */
function eachAnswered<Value>(
  { input, answers, answeredAt }: Evidence<'module_state'>,
  query: { readonly name: string; readonly getAnswers: (answers: QueryStates) => ReadonlyMap<string, Value> },
  find: (watched: WatchedOrchestrator, value: Value, who: string) => Omit<Found, 'subject'> | undefined | null,
): Findings {
  const all = watchedOrchestrators(input);
  const isAnswered = all.some(({ orchestrator }) => answeredAt(query.name, orchestrator) !== undefined);
  if (all.length > 0 && !isAnswered) throw WITHDRAWN;
  const values = query.getAnswers(answers);
  return all.map((watched): Finding => {
    const value = values.get(watched.orchestrator);
    const found = value === undefined ? null : find(watched, value, yours(watched));
    const subject = identifySubject(watched);
    return found === null ? { notShown: subject } : found && { ...found, subject };
  });
}

const jailed = defineProblem('module_state', {
  name: 'BridgeWatchedValidatorJailed',
  severity: 'critical',
  afterMinutes: 2,
  needsTime: true,
  description: 'A watched validator is jailed, by the staking module of the node.',
  action: FIND_CAUSE,
  find: (evidence) =>
    eachAnswered(evidence, stakingStatus, (watched, { isJailed }, who) =>
      isJailed ? { summary: `${who} is jailed`, action: unjailAfter(evidence, watched) } : undefined,
    ),
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
  needsTime: true,
  description:
    'The last claim of a watched validator is behind the last observed event, or the next one that a third of the power has claimed, and does not move.',
  action: 'Check the log of the orchestrator and its node of the external chain; it goes on where it has stopped.',
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

/** The answers of which a problem is made. */
const ANSWERS = [
  { query: stakingStatus, text: (who: string) => `whether ${who} is jailed` },
  { query: signingInfo, text: (who: string) => `whether ${who} misses blocks` },
] as const;

const answerKey = ({ name }: Pick<NodeQuery, 'name'>, { orchestrator }: WatchedOrchestrator) =>
  `${name} ${orchestrator}`;

const validatorUnknown = defineProblem('module_state', {
  name: 'BridgeWatchedValidatorUnknown',
  severity: 'warning',
  afterMinutes: 60,
  description:
    'The node has answered within a day whether a watched validator is jailed or misses blocks, and does not any more.',
  action:
    'Look for "query of the node failed" in the log of the exporter, and request the path by hand; another node may serve it.',
  mark: {
    /** The times of the last answers. */
    next: (
      { input, answeredAt },
      before: Readonly<Record<string, Instant>> | undefined,
    ): Readonly<Record<string, Instant>> =>
      Object.fromEntries(
        watchedOrchestrators(input).flatMap((watched) =>
          ANSWERS.flatMap(({ query }) => {
            const key = answerKey(query, watched);
            const at = answeredAt(query.name, watched.orchestrator) ?? findEntry(before, key);
            return at === undefined ? [] : [[key, at]];
          }),
        ),
      ),
  },
  find: ({ input, answers }, mark) =>
    watchedOrchestrators(input).flatMap((watched) =>
      ANSWERS.flatMap(({ query, text }) => {
        const at = findEntry(mark, answerKey(query, watched));
        const isAnswered = query.getAnswers(answers).has(watched.orchestrator);
        if (isAnswered || at === undefined || input.at - at > DAY_SECONDS) return [];
        const summary = `the node does not say ${text(yours(watched))}`;
        return [{ subject: identifySubject(watched), start: at, summary }];
      }).slice(0, 1),
    ),
});

/** The node of the validator. */
const RESTART_NODE =
  'Restart the node of the validator, and check its peers, its disk and its clock. Never start its key on a second machine while the first may sign: that jails it for ever.';

/**
 * The findings about the blocks of own validators that are bonded. A node that catches up has the misses of an earlier
 * time.
 */
function eachBonded(
  evidence: Evidence<'module_state'>,
  find: (blocks: MissedBlocks, who: string) => Omit<Found, 'subject'> | undefined | null,
): Findings {
  const { input, answers } = evidence;
  const statuses = stakingStatus.getAnswers(answers);
  const blocksByOrchestrator = missedBlocks(answers);
  return eachAnswered(evidence, signingInfo, ({ orchestrator }, _info, who) => {
    const status = statuses.get(orchestrator);
    if (status === undefined || input.isNodeBehind === true) return null;
    if (!status.isBonded || status.isJailed) return undefined;
    return find(required(blocksByOrchestrator.get(orchestrator)), who);
  });
}

/** The time until it is jailed at the present rate; `Infinity` while no more blocks are missed, or that is unknown. */
function secondsUntilJailed(input: BridgeInput, blocks: MissedBlocks): number {
  const { missed, allowed, judgedHeight } = blocks;
  const recent = recentlyMissed(blocks);
  if (allowed === null || judgedHeight === null || recent === undefined || recent.blocks <= 0) return Infinity;
  if (Number(required(input.height)) <= judgedHeight) return Infinity;
  return (Math.max(0, allowed - missed) * recent.seconds) / recent.blocks;
}

/** "743 of the 1800 that it may miss: 41 %", and when it is jailed. */
function missedTexts(input: BridgeInput, blocks: MissedBlocks): readonly string[] {
  const { missed, allowed } = blocks;
  const left = secondsUntilJailed(input, blocks);
  const used = allowed === null || allowed === 0 ? '' : ` (${percent(missed / allowed)})`;
  return [
    allowed === null ? '' : `it has missed ${missed} of the ${allowed} blocks of the window that it may miss${used}`,
    left < DAY_SECONDS ? `at this rate it is jailed in ${about(input, left)}` : '',
  ];
}

/** Shorter is a restart. */
const UNSIGNED_SECONDS = 2 * MINUTE_SECONDS;

function signsNoBlocks(severity: keyof typeof MISSED_RATIOS) {
  const isCritical = severity === 'critical';
  const afterMinutes = isCritical ? 10 : 2;
  return defineProblem('module_state', {
    name: 'BridgeWatchedValidatorSignsNoBlocks',
    severity,
    afterMinutes,
    needsTime: true,
    description: 'A bonded watched validator signs none of the blocks of the hub, or hardly any.',
    action: RESTART_NODE,
    find: (evidence: Evidence<'module_state'>) =>
      eachBonded(evidence, (blocks, who) => {
        const unsigned = unsignedBlocks(blocks);
        if (unsigned === undefined) return null;
        if (unsigned.seconds < UNSIGNED_SECONDS) return undefined;
        return {
          start: unsigned.since,
          summary: `${who} signs no blocks`,
          details: [`none of the last ${unsigned.blocks}, or hardly any`, ...missedTexts(evidence.input, blocks)],
        };
      }),
    inhibits: [
      {
        problem: 'BridgeWatchedValidatorMissingBlocks',
        ...(!isCritical && { severity: 'warning' }),
        equal: ['orchestrator'],
      },
    ],
  });
}

/** Shares of the blocks that a validator may miss. */
const MISSED_RATIOS = { warning: 0.3, critical: 0.7 } as const;
/**
 * While fewer are missed within ten minutes, the number is from before: it stays high until the blocks leave the
 * window.
 */
const RISE_RATIO = 0.01;
/** Somebody who sleeps needs time to wake up, find the cause and start the node. */
const JAILED_SOON_SECONDS = 2 * HOUR_SECONDS;
/** A restart of the node takes less. */
const RATE_SECONDS = 5 * MINUTE_SECONDS;

/** Whether so many are missed, or more are missed so fast, that somebody has to act now. */
function isJailingNear(input: BridgeInput, blocks: MissedBlocks, allowed: number): boolean {
  const { missed } = blocks;
  const { blocks: more = 0, seconds = 0 } = recentlyMissed(blocks) ?? {};
  if (more < Math.max(1, allowed * RISE_RATIO)) return false;
  const isRateKnown = seconds >= RATE_SECONDS || missed >= allowed * MISSED_RATIOS.warning;
  return (
    missed >= allowed * MISSED_RATIOS.critical ||
    (isRateKnown && secondsUntilJailed(input, blocks) < JAILED_SOON_SECONDS)
  );
}

function missingBlocks(severity: keyof typeof MISSED_RATIOS) {
  const isCritical = severity === 'critical';
  const shares = { warning: percent(MISSED_RATIOS.warning), critical: percent(MISSED_RATIOS.critical) };
  return defineProblem('module_state', {
    name: 'BridgeWatchedValidatorMissingBlocks',
    severity,
    // After BridgeWatchedValidatorSignsNoBlocks, its cause if the validator signs none.
    afterMinutes: 10,
    ...(isCritical && { needsTime: true }),
    description: isCritical
      ? `A watched validator goes on missing blocks, and has missed ${shares.critical} of those that the slashing module allows, or is jailed within two hours at the present rate. Judged after a whole window of being bonded.`
      : `It has missed ${shares.warning}.`,
    action: RESTART_NODE,
    find: (evidence: Evidence<'module_state'>) => {
      const { input } = evidence;
      return eachBonded(evidence, (blocks, who) => {
        // Before it is known whether the number rises.
        if (isCritical && recentlyMissed(blocks) === undefined) return null;
        const { missed } = blocks;
        const allowed = required(blocks.allowed ?? undefined);
        if (required(input.height) <= required(blocks.judgedHeight ?? undefined) || missed === 0) return undefined;
        const isFound = isCritical ? isJailingNear(input, blocks, allowed) : missed >= allowed * MISSED_RATIOS.warning;
        if (!isFound) return undefined;
        return {
          summary: isCritical
            ? `${who} misses blocks and is about to be jailed`
            : `${who} has missed many of the blocks that it may miss`,
          details: missedTexts(input, blocks),
        };
      });
    },
    inhibits: isCritical
      ? [{ problem: 'BridgeWatchedValidatorSignsNoBlocks', severity: 'warning', equal: ['orchestrator'] }]
      : [],
  });
}

/** What each orchestrator has spent in each of the last days, and its last balance. */
type FundsMark = Readonly<Record<string, Funds>>;

interface Funds {
  readonly balance: Numeral;
  readonly days: readonly { readonly at: Instant; readonly spent: Numeral }[];
}

/** The rate is that of so many days, and the funds have to last for as long. */
const FUNDS_DAYS = 3;

const fundsLow = defineProblem('module_state', {
  name: 'BridgeWatchedOrchestratorFundsLow',
  severity: 'warning',
  afterMinutes: 15,
  description: `The balance of a watched orchestrator is 0 or below \`watch_min_balance\`; without that setting, it lasts for less than ${FUNDS_DAYS} days at the rate of the last ${FUNDS_DAYS}.`,
  action:
    'Send coins of the hub to the orchestrator; without them it neither signs nor votes, and the validator is jailed.',
  mark: {
    next: ({ input: { at }, answers }, before: FundsMark = {}): FundsMark => {
      const balances = orchestratorBalance.getAnswers(answers);
      const known = new Set([...Object.keys(before), ...balances.keys()]);
      return Object.fromEntries(
        Array.from(known).flatMap((orchestrator): [string, Funds][] => {
          const last = findEntry(before, orchestrator);
          const balance = balances.get(orchestrator) ?? last?.balance;
          const days = withoutOldDays(last?.days ?? [], at);
          const isGone = !balances.has(orchestrator) && at - (days.at(-1)?.at ?? at) >= (FUNDS_DAYS + 1) * DAY_SECONDS;
          if (balance === undefined || isGone) return [];
          return [[orchestrator, { balance, days: withSpent(days, subtract(last?.balance ?? balance, balance), at) }]];
        }),
      );
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

/** Those that have ended before; the last one goes on while no balance is known, such as in an outage. */
function withoutOldDays(days: Funds['days'], at: Instant): Funds['days'] {
  return days.filter((_day, index) => at - (days[index + 1]?.at ?? at) < FUNDS_DAYS * DAY_SECONDS);
}

/** What was spent up to a balance is of the day before it. A balance that rises was filled up. */
function withSpent(days: Funds['days'], spent: Numeral, at: Instant): Funds['days'] {
  const today = days.at(-1);
  const next = { at, spent: 0n };
  if (today === undefined) return [next];
  const known = spent > 0n ? [...days.slice(0, -1), { ...today, spent: add(today.spent, spent) }] : days;
  return at - today.at < DAY_SECONDS ? known : [...known, next];
}

/** The last time in the newest validator set; for an entry that was in none, the first document since it is watched. */
interface Membership {
  readonly wasActive: boolean;
  readonly at: Instant;
}

type MembershipMark = Readonly<Record<string, Membership>>;

function isKnownAsJailed(input: BridgeInput, answers: QueryStates, entry: string): boolean {
  const statuses = stakingStatus.getAnswers(answers);
  const registrations = matchingRegistrations(input, entry) ?? [];
  return registrations.some(
    ({ orchestrator }) => statuses.get(required(orchestrator).toLowerCase())?.isJailed === true,
  );
}

/** A validator that is unjailed is in no set before the hub creates the next set. */
const NEXT_SET_MINUTES = 10;

function inactive(
  severity: Severity,
  declaration: Pick<Problem, 'description' | 'action' | 'afterMinutes' | 'needsTime'>,
) {
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
    find: ({ input, answers }: Evidence<'module_state'>, mark: MembershipMark | undefined) =>
      watchedEntries(input).map(({ address, isActive, isRegistered }): Finding => {
        const subject = { address: toLabelValue(address) };
        if (isRegistered === undefined) return { notShown: subject, isUnjudged: true };
        const { wasActive = false, at = input.at } = findEntry(mark, address) ?? {};
        // BridgeWatchedValidatorJailed says it of one that is jailed.
        if (isActive || wasActive !== isCritical) return undefined;
        if (isKnownAsJailed(input, answers, address)) return undefined;
        const who = yourValidator({ name: '', address, hasNamesake: false });
        if (!isRegistered) {
          const summary = `${who} is in no registration: correct the address in watch`;
          return { subject, start: isCritical ? at : undefined, summary, action: CORRECT_ADDRESS };
        }
        // The warning is at once only about what does not end by itself.
        if (!isCritical && input.at - at < NEXT_SET_MINUTES * MINUTE_SECONDS) return undefined;
        return { subject, start: at, summary: `${who} is not in the newest validator set` };
      }),
  });
}

const CORRECT_ADDRESS =
  'Replace the entry of watch by the orchestrator, operator or external address of your validator on this bridge: no alert covers an address without a registration.';

export const watchedProblems = [
  jailed,
  signsNoBlocks('critical'),
  missingBlocks('critical'),
  inactive('critical', {
    afterMinutes: NEXT_SET_MINUTES,
    needsTime: true,
    description: 'A watched validator was in the newest validator set, and is not any more.',
    action: 'Check whether the validator is jailed; correct the cause, then unjail it.',
  }),
  lagging,
  signsNoBlocks('warning'),
  missingBlocks('warning'),
  inactive('warning', {
    afterMinutes: 0,
    description: `An entry of \`watch\` is in no registration, or has never been in the newest set for ${NEXT_SET_MINUTES} minutes.`,
    action:
      'Correct the address in watch if it is in no registration; otherwise check whether the validator is jailed: no alert covers a validator outside the set.',
  }),
  fundsLow,
  validatorUnknown,
];
