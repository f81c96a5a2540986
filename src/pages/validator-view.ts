import { asNumeral } from '../chain/fields.js';
import { dataPart } from '../chain/addresses.js';
import { highest } from '../chain/numeral.js';
import type { Moment } from '../clock.js';
import { freshAnswers, type EndpointState } from '../engine/endpoint-state.js';
import type { PollJob } from '../engine/jobs.js';
import { firingProblems, type TargetStatus, type JudgedTarget, type TargetProblem } from '../engine/target-problems.js';
import { orUndefined } from '../facts/required-fields.js';
import { amountItem } from '../facts/bridge/tokens.js';
import type { BridgeHeadline } from '../items/headline.js';
import type { ValidatorItem } from '../items/validator-items.js';
import {
  claimPosition,
  hasStakingNames,
  knownValidators,
  missedBlocks,
  type MissedBlocks,
  orchestratorBalance,
  secondsUntilJailed,
  stakingStatus,
  type Contact,
} from '../queries/validator-queries.js';
import { joinTexts } from '../problems/sentence.js';
import { durationInWords } from '../text/format.js';
import { DAY_SECONDS } from '../units.js';

/* The validators of a bridge as plain data: by the document, the answers of the node, and the alerts about them. */

export type ValidatorView = Readonly<ReturnType<typeof validatorViews>[number]>;

/** Own validators, then those that are late or have an alert, by power. */
export function validatorViews(
  items: readonly ValidatorItem[],
  { hubCoin, isNodeBehind }: Pick<BridgeHeadline, 'hubCoin' | 'isNodeBehind'>,
  problems: JudgedTarget['problems'],
  { state, job }: { readonly state: EndpointState; readonly job: Pick<PollJob, 'context'> },
  now: Moment,
) {
  const contacts = hasStakingNames(job.context) ? knownValidators(state.queries).contacts : undefined;
  const answers = freshAnswers(state, now.at);
  const firing = firingProblems({ problems });
  const views = items.map((item) => {
    const { own, orchestrator, missing, lastVote, deadlineText } = item;
    const key = orchestrator ?? '';
    const problem = findProblem(firing, item);
    // By the staking module; unknown while the node has not answered.
    const status = stakingStatus.getAnswer(answers, key);
    const jailed = status?.isJailed ?? null;
    const isAsked = own !== null && orchestrator !== null && state.queries.has(stakingStatus.name);
    const judgedBy = { problem, jailed, isUnknown: isAsked && jailed === null, isNodeBehind };
    const blocks = missedBlocks(answers, key);
    // The later of both: the answer can be older than the document, and the document does not keep old votes.
    const lastClaim = highest([
      claimPosition.getAnswer(answers, key),
      lastVote === null ? undefined : asNumeral(lastVote),
    ]);
    const balance = orchestratorBalance.getAnswer(answers, key);
    const { deadline } = item;
    const jailing = status?.isBonded === true && !isNodeBehind ? jailingItem(blocks, state) : undefined;
    return {
      ...item,
      ...judgeState(item, judgedBy),
      jailed,
      missing: joinMissing(missing ?? (missing === undefined && own === null ? problem?.summary : missing), blocks),
      deadline: jailed === true ? undefined : deadline === undefined && isAsked && jailed === null ? null : deadline,
      deadlineText: jailed === true ? 'jailed' : deadlineText,
      ...(jailed !== true && (deadline?.seconds ?? Infinity) > (jailing?.deadline.seconds ?? Infinity) && jailing),
      /** The last event that the orchestrator has claimed, by the node or by its votes in the document. */
      lastClaim: own === null ? undefined : lastClaim === undefined ? null : String(lastClaim),
      /** The balance of the orchestrator in the coin that pays for its transactions. */
      funds:
        own === null ? undefined : balance === undefined ? null : amountItem(hubCoin ?? undefined, String(balance)),
      /** The worst firing problem about the validator. */
      problem: problem?.alert ?? null,
      /** The first action of that problem. */
      action: problem?.action,
      /** Whether it is an own validator; of another one, its unverified contact in the staking module. */
      note:
        own === null
          ? contactText(contacts?.get(dataPart(item.sender ?? '')))
          : orchestrator === null
            ? `yours: ${own.entry}`
            : 'yours',
    };
  });
  return views.filter(({ own, problem, isLate }) => own !== null || problem !== null || isLate);
}

/** Problems of several validators list them; problems of an own validator have its address as a label. */
function findProblem(firing: readonly TargetProblem[], { own, orchestrator, externalAddress }: ValidatorItem) {
  return firing.find(
    ({ subject, validators }) =>
      validators.some((late) => late.externalAddress === externalAddress) ||
      (own !== null && (subject.address === own.entry || subject.orchestrator === (orchestrator ?? ''))),
  );
}

interface JudgedBy {
  readonly problem: TargetProblem | undefined;
  readonly jailed: boolean | null;
  readonly isUnknown: boolean;
  readonly isNodeBehind: boolean;
}

/** The state of a validator in words, with the severity of its worst problem. */
function judgeState(
  { own, isLate, lateSeconds, isKnown }: ValidatorItem,
  { problem, jailed, isUnknown, isNodeBehind }: JudgedBy,
): { readonly state: string; readonly severity: TargetStatus } {
  const as = (severity: TargetStatus, state: string) => ({ state, severity: problem?.severity ?? severity });
  if (jailed === true) return as('critical', 'jailed');
  if (own?.membership === 'inactive') return as('unknown', 'not in the set');
  if (own?.membership === 'unregistered') return as('unknown', 'not registered');
  if (isLate || (problem !== undefined && own === null)) {
    const oldest = Math.max(problem?.ageSeconds ?? 0, lateSeconds ?? 0);
    return as('pending', oldest > 0 ? `late for ${durationInWords(oldest)}` : 'late');
  }
  if (problem !== undefined) return as(problem.severity, problem.severity);
  if (isUnknown || own?.membership === null || !isKnown) return as('unknown', 'cannot be judged');
  return isNodeBehind ? as('unknown', 'node is behind') : as('ok', 'signs and votes');
}

function contactText(contact: Contact | undefined): string | undefined {
  const { securityContact = null, website = null } = contact ?? {};
  const published = joinTexts(', ', securityContact ?? '', website ?? '');
  return published === '' ? undefined : `published contact: ${published}`;
}

/** Missing signatures and votes, then missed hub blocks: "batch 4; 30 blocks of the 500 that it may miss". */
function joinMissing(
  missing: string | null | undefined,
  blocks: { readonly missed: number; readonly allowed: number | null } | undefined,
): string | null | undefined {
  if (blocks === undefined || blocks.missed === 0 || missing === null) return missing;
  const text = `${blocks.missed} blocks${blocks.allowed === null ? '' : ` of the ${blocks.allowed} that it may miss`}`;
  return missing === undefined ? text : `${missing}; ${text}`;
}

/** When a validator will be jailed for missed blocks, if that is within a day. */
function jailingItem(blocks: MissedBlocks | undefined, { lastSuccess }: EndpointState) {
  const seconds = blocks && orUndefined(() => secondsUntilJailed(lastSuccess?.snapshot.height, blocks));
  if (seconds === undefined || seconds >= DAY_SECONDS) return undefined;
  // The blocks that the validator may still miss.
  const deadline = { blocks: String(Math.max(0, (blocks?.allowed ?? 0) - (blocks?.missed ?? 0))), seconds };
  return { deadline, deadlineText: 'jailed then for missed blocks, at this rate' };
}
