import type { Instant } from '../clock.js';
import { add, asNumeral, highest, subtract, type Numeral } from '../chain/numeral.js';
import { missedSignature } from '../facts/bridge/duties.js';
import { isNextEventCredible, newestAttestedNonce } from '../facts/bridge/events.js';
import type { BridgeInput } from '../facts/bridge/bridge-input.js';
import { registeredMembers, watchedEntries } from '../facts/bridge/orchestrators.js';
import {
  matchingRegistrations,
  watchedOrchestrators,
  type WatchedOrchestrator,
} from '../facts/bridge/registrations.js';
import { toLabelValue } from '../facts/label-value.js';
import { orUndefined, required, WITHDRAWN } from '../facts/required-fields.js';
import type { NodeQuery, QueryStates } from '../queries/query.js';
import {
  claimPosition,
  missedBlocks,
  orchestratorBalance,
  recentlyMissed,
  signingInfo,
  stakingStatus,
} from '../queries/validator-queries.js';
import { count, percent } from '../text/format.js';
import { DAY_SECONDS, MINUTE_SECONDS } from '../units.js';
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
import { about, yourValidator } from './sentence.js';

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
  description:
    'A validator of `watch` is jailed, by the staking module of the node. It earns nothing, and signs and votes for nothing.',
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
  ],
});

const lagging = defineProblem('module_state', {
  name: 'BridgeWatchedOrchestratorLagging',
  severity: 'warning',
  afterMinutes: 30,
  needsTime: true,
  description:
    'The last claim of a validator of `watch` is behind the last observed event, or behind the next one that a third of the power has claimed, and does not move. It claims events in order, so it votes for none until it moves.',
  action: 'Check the log of the orchestrator and its node of the external chain; it goes on where it has stopped.',
  find: (evidence) => {
    const { input } = evidence;
    const observed = required(input.state.last_observed_nonce);
    const claimed = add(observed, isNextEventCredible(input) === true ? 1n : 0n);
    const newest = newestAttestedNonce(input) ?? claimed;
    // The orchestrator of a validator outside the set makes no claims, and continues when the validator is a member
    // again.
    const members = new Set(registeredMembers(input).map(({ registration }) => registration.sender));
    return eachAnswered(evidence, claimPosition, (watched, position, who) => {
      if (!members.has(watched.sender) || position >= claimed) return undefined;
      const behind = count(Number(subtract(newest, position)), 'event');
      return {
        progressKey: String(position),
        summary: `${who} claims no events`,
        details: [`it is ${behind} behind the newest claim`],
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
    'The node has not answered for an hour whether a validator of `watch` is jailed or misses blocks, had done so within a day, and still serves the document.',
  action:
    'Look for "query of the node failed" in the log of the exporter, and request the path by hand; another node may serve it.',
  mark: {
    version: 2,
    /** The times of the last answers, in Unix seconds. */
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

/** Shares of the blocks that a validator may miss. */
const MISSED_RATIOS = { warning: 0.3, critical: 0.7 } as const;
/**
 * While fewer are missed within ten minutes, the number is from before: it stays high until the blocks leave the
 * window.
 */
const RISE_RATIO = 0.01;

function missingBlocks(severity: keyof typeof MISSED_RATIOS) {
  const isCritical = severity === 'critical';
  const share = percent(MISSED_RATIOS[severity]);
  return defineProblem('module_state', {
    name: 'BridgeWatchedValidatorMissingBlocks',
    severity,
    // The last 30 % can be a minute of a short window.
    afterMinutes: isCritical ? 0 : 5,
    ...(isCritical && { needsTime: true }),
    description: `A validator of \`watch\` has missed ${share} of the blocks that it may miss within the window of the slashing module${isCritical ? ', and goes on missing blocks' : ''}. Above 100 % it is jailed. Judged only after a whole window of being bonded.`,
    action:
      'Restart the node of the validator, and check its peers, its disk and its clock. Never start its key on a second machine while the first may sign: that jails it for ever.',
    find: (evidence: Evidence<'module_state'>) => {
      const { input, answers } = evidence;
      const statuses = stakingStatus.getAnswers(answers);
      const missedByOrchestrator = missedBlocks(answers);
      return eachAnswered(evidence, signingInfo, ({ orchestrator }, _info, who) => {
        const status = statuses.get(orchestrator);
        const blocks = required(missedByOrchestrator.get(orchestrator));
        const recent = recentlyMissed(blocks);
        // A node that catches up has the misses of an earlier time.
        if (status === undefined || input.isNodeBehind === true) return null;
        // Before it is known whether the number rises.
        if (isCritical && recent === undefined) return null;
        const { missed } = blocks;
        const allowed = required(blocks.allowed ?? undefined);
        const judgedHeight = required(blocks.judgedHeight ?? undefined);
        const isJudged = status.isBonded && !status.isJailed && required(input.height) > judgedHeight;
        if (!isJudged || missed === 0 || missed < allowed * MISSED_RATIOS[severity]) return undefined;
        if (isCritical && (recent?.blocks ?? 0) < Math.max(1, allowed * RISE_RATIO)) return undefined;
        const isRising = recent !== undefined && recent.blocks > 0;
        const left = isRising ? (Math.max(0, allowed - missed) * recent.seconds) / recent.blocks : Infinity;
        return {
          summary: isCritical
            ? `${who} misses blocks and is about to be jailed`
            : `${who} has missed ${share} of the blocks that it may miss`,
          details: [
            `${missed} of the ${allowed} that it may miss`,
            left < DAY_SECONDS ? `at this rate it is jailed in ${about(input, left)}` : '',
          ],
        };
      });
    },
  });
}

/** The highest balance of each orchestrator in each of the last days. */
type FundsMark = Readonly<Record<string, readonly { readonly at: Instant; readonly highest: Numeral }[]>>;

const FUNDS_DAYS = 3;

const fundsLow = defineProblem('module_state', {
  name: 'BridgeWatchedOrchestratorFundsLow',
  severity: 'warning',
  afterMinutes: 15,
  description: `The balance of an orchestrator of \`watch\` is 0 or below \`watch_min_balance\`; without that setting, below a third of the most that it had in ${FUNDS_DAYS} days.`,
  action:
    'Send coins of the hub to the orchestrator; without them it neither signs nor votes, and the validator is jailed.',
  mark: {
    version: 1,
    next: ({ input: { at }, answers }, before: FundsMark = {}): FundsMark => {
      const balances = orchestratorBalance.getAnswers(answers);
      const known = new Set([...Object.keys(before), ...balances.keys()]);
      return Object.fromEntries(
        Array.from(known).flatMap((orchestrator) => {
          const days = (findEntry(before, orchestrator) ?? []).filter((day) => at - day.at < FUNDS_DAYS * DAY_SECONDS);
          const balance = balances.get(orchestrator);
          const next = balance === undefined ? days : withBalance(days, balance, at);
          return next.length === 0 ? [] : [[orchestrator, next]];
        }),
      );
    },
  },
  find: (evidence, mark) => {
    const minimum = asNumeral(evidence.input.settings.watch_min_balance);
    return eachAnswered(evidence, orchestratorBalance, ({ orchestrator }, balance, who) => {
      const most = highest((findEntry(mark, orchestrator) ?? []).map((day) => day.highest)) ?? balance;
      const isBelow = minimum > 0n ? balance < minimum : add(balance, add(balance, balance)) < most;
      if (balance !== 0n && !isBelow) return undefined;
      return {
        summary: `the orchestrator of ${who} is low on funds`,
        details: [`it has ${balance} smallest units left`],
      };
    });
  },
});

/** A day begins with the first balance after the day before. */
function withBalance(days: FundsMark[string], balance: Numeral, at: Instant): FundsMark[string] {
  const today = days.at(-1);
  if (today === undefined || at - today.at >= DAY_SECONDS) return [...days, { at, highest: balance }];
  return balance > today.highest ? [...days.slice(0, -1), { ...today, highest: balance }] : days;
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
      version: 2,
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
  missingBlocks('critical'),
  inactive('critical', {
    afterMinutes: NEXT_SET_MINUTES,
    needsTime: true,
    description:
      'An entry of `watch` was in the newest validator set, and is not any more. Its signatures and votes are not monitored.',
    action: 'Check whether the validator is jailed; correct the cause, then unjail it.',
  }),
  lagging,
  missingBlocks('warning'),
  inactive('warning', {
    afterMinutes: 0,
    description: `An entry of \`watch\` is in no registration, or is registered and has not been in the newest validator set for ${NEXT_SET_MINUTES} minutes since it is watched. No signature or vote of it is monitored.`,
    action:
      'Correct the address in watch if it is in no registration; otherwise check whether the validator is jailed: no alert covers a validator outside the set.',
  }),
  fundsLow,
  validatorUnknown,
];
