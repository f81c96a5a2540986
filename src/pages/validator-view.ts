import { dataPart } from '../chain/addresses.js';
import { asNumeral, highest } from '../chain/numeral.js';
import type { Moment } from '../clock.js';
import { freshAnswers, type EndpointState } from '../engine/endpoint-state.js';
import type { PollJob } from '../engine/jobs.js';
import { firingVerdicts, type TargetStatus, type TargetVerdicts, type Verdict } from '../engine/verdicts.js';
import { inWholeUnits } from '../facts/plain-values.js';
import type { HubCoin } from '../facts/bridge/coins.js';
import type { BridgeHeadline } from '../items/headline.js';
import type { ValidatorItem } from '../items/validator-items.js';
import type { ProblemName } from '../problems/problems.js';
import {
  claimPosition,
  hasStakingNames,
  knownValidators,
  missedBlocks,
  orchestratorBalance,
  stakingStatus,
} from '../queries/validator-queries.js';
import { durationInWords } from '../text/format.js';

/* The validators of a bridge as plain data: by the document, the answers of the node, and the alerts about them. */

export type ValidatorView = Readonly<ReturnType<typeof validatorViews>[number]>;

/** Own validators, then those that are late or have an alert: first those that something waits for, then by power. */
export function validatorViews(
  items: readonly ValidatorItem[],
  { hubCoin, isNodeBehind }: Pick<BridgeHeadline, 'hubCoin' | 'isNodeBehind'>,
  verdicts: TargetVerdicts['verdicts'],
  { state, job }: { readonly state: EndpointState; readonly job: Pick<PollJob, 'context'> },
  now: Moment,
) {
  const contacts = hasStakingNames(job.context) ? knownValidators(state.queries).contacts : undefined;
  const answers = freshAnswers(state, now.at);
  const firing = firingVerdicts({ verdicts });
  const views = items.map((item) => {
    const { own, orchestrator, missing, lastVote, deadlineText, missedSignature } = item;
    const key = orchestrator ?? '';
    const problem = findProblem(firing, item);
    // By the staking module; unknown while the node has not answered.
    const jailed = stakingStatus.getAnswers(answers).get(key)?.isJailed ?? null;
    const isAsked = own !== null && orchestrator !== null && state.queries.has(stakingStatus.name);
    const waiting = findWaiting(firing, item);
    const stateOf = { problem, waiting, jailed, isUnknown: isAsked && jailed === null, isNodeBehind };
    const blocks = missedBlocks(answers).get(key);
    // An answer can be older than the document, and the document has no old votes.
    const lastClaim = highest([
      claimPosition.getAnswers(answers).get(key),
      lastVote === null ? undefined : asNumeral(lastVote),
    ]);
    const balance = orchestratorBalance.getAnswers(answers).get(key);
    const { deadline } = item;
    return {
      ...item,
      ...judgeState(item, stateOf),
      jailed,
      missing: joinMissing(missing ?? (missing === undefined && own === null ? problem?.summary : missing), blocks),
      deadline: jailed === true ? undefined : deadline === undefined && isAsked && jailed === null ? null : deadline,
      deadlineText:
        jailed === true
          ? missedSignature
            ? `jailed: did not sign ${missedSignature.of} ${missedSignature.nonce}`
            : 'jailed'
          : deadlineText,
      /** The last event that the orchestrator has claimed, by the node or by its votes in the document. */
      lastClaim: own === null ? undefined : lastClaim === undefined ? null : String(lastClaim),
      /** The balance of the orchestrator in the coin that pays for its transactions. */
      funds: own === null ? undefined : balance === undefined ? null : fundsCoin(String(balance), hubCoin),
      /** The worst firing problem about the validator. */
      problem: problem?.alert ?? null,
      /** The first action of that problem, else of the alert about what waits for an own validator. */
      action: problem?.action ?? (own === null ? undefined : waiting?.action),
      /** Published with the staking module, of others than own validators; nobody verifies it. */
      contact: (own === null && contacts?.get(dataPart(item.sender ?? ''))) || null,
    };
  });
  const others = views.filter((view) => view.own === null && (view.problem !== null || view.isLate));
  return [
    ...views.filter(({ own }) => own !== null),
    ...others.toSorted((a, b) => Number(b.isAwaited) - Number(a.isAwaited)),
  ];
}

/** Problems of several validators list them; problems of an own validator have its address as a label. */
function findProblem(firing: readonly Verdict[], { own, orchestrator, externalAddress }: ValidatorItem) {
  return firing.find(
    ({ subject, validators }) =>
      validators.some((late) => late.externalAddress === externalAddress) ||
      (own !== null && (subject.address === own.entry || subject.orchestrator === (orchestrator ?? ''))),
  );
}

/** The alerts about what waits for a signature or vote. */
const WAITING_ALERTS = {
  event: 'BridgeOracleStalled',
  batch: 'BridgeBatchUnsigned',
  valset: 'BridgeValsetUnsigned',
} as const satisfies Record<NonNullable<ValidatorItem['missingKinds']>[number], ProblemName>;

/** The worst alert about what waits for the validator. */
function findWaiting(firing: readonly Verdict[], { missingKinds }: ValidatorItem): Verdict | undefined {
  return firing.find(({ alert }) => missingKinds?.some((kind) => WAITING_ALERTS[kind] === alert));
}

interface JudgedBy {
  readonly problem: Verdict | undefined;
  readonly waiting: Verdict | undefined;
  readonly jailed: boolean | null;
  readonly isUnknown: boolean;
  readonly isNodeBehind: boolean;
}

/** As severe as its problem, else as the alert about what waits for the validator. */
function judgeState(
  { own, isLate, lateSeconds, missingKinds }: ValidatorItem,
  { problem, waiting, jailed, isUnknown, isNodeBehind }: JudgedBy,
): { readonly state: string; readonly severity: TargetStatus } {
  const as = (severity: TargetStatus, state: string) => ({ state, severity: problem?.severity ?? severity });
  if (jailed === true) return as('critical', 'jailed');
  if (own?.membership === 'inactive') return as('unknown', 'not in the set');
  if (own?.membership === 'unregistered') return as('unknown', 'not registered');
  if (isLate || (problem !== undefined && own === null)) {
    const oldest = Math.max(problem?.ageSeconds ?? 0, lateSeconds ?? 0);
    return as(waiting?.severity ?? 'pending', oldest > 0 ? `late for ${durationInWords(oldest)}` : 'late');
  }
  if (problem !== undefined) return as(problem.severity, problem.severity);
  if (isUnknown || own?.membership === null || missingKinds === null) return as('unknown', 'cannot be judged');
  return isNodeBehind ? as('unknown', 'node is behind') : as('ok', 'signs and votes');
}

/** What it has not signed, with the blocks of the hub that it has missed of those that it may miss. */
function joinMissing(
  missing: string | null | undefined,
  blocks: { readonly missed: number; readonly allowed: number | null } | undefined,
): string | null | undefined {
  if (blocks === undefined || blocks.missed === 0 || missing === null) return missing;
  const text = `${blocks.missed} blocks${blocks.allowed === null ? '' : ` of the ${blocks.allowed} that it may miss`}`;
  return missing === undefined ? text : `${missing}; ${text}`;
}

/** In whole coins if the decimals are known. */
function fundsCoin(amount: string, hubCoin: HubCoin | null) {
  const decimals = hubCoin?.decimals ?? null;
  const wholeAmount = decimals === null ? null : inWholeUnits(amount, decimals);
  return { amount, wholeAmount, symbol: hubCoin?.symbol ?? hubCoin?.denom ?? null };
}
