import { dataPart } from '../chain/addresses.js';
import { asNumeral, highest } from '../chain/numeral.js';
import { isoTime, wallSeconds, type Moment } from '../clock.js';
import { freshAnswers } from '../engine/endpoint-state.js';
import { firingVerdicts, type TargetVerdicts, type Verdict } from '../engine/verdicts.js';
import type { HubCoin } from '../facts/bridge/coins.js';
import type { BridgeItems } from '../facts/items/bridge.js';
import type { DutyItem, ValidatorItem } from '../facts/items/validator-items.js';
import type { QueryStates } from '../queries/query.js';
import {
  claimPosition,
  hasStakingNames,
  knownValidators,
  missedBlocks,
  type MissedBlocks,
  orchestratorBalance,
  stakingStatus,
} from '../queries/validator-queries.js';
import type { ShownEndpoint } from './view.js';
import { inWholeUnits } from '../facts/plain-values.js';

/*
 * The facts about each validator of a bridge: the document, the answers of the node, and the alerts about the
 * validator.
 */

export type ValidatorView = Readonly<ReturnType<typeof validatorViews>[number]>;

/** Own validators, then those that are late or have an alert: first those that something waits for, then by power. */
export function validatorViews(
  items: BridgeItems,
  verdicts: TargetVerdicts['verdicts'],
  { state, job }: ShownEndpoint,
  now: Moment,
) {
  const contacts = hasStakingNames(job.context) ? knownValidators(state.queries).contacts : undefined;
  const answers = freshAnswers(state, now.at);
  const firing = firingVerdicts({ verdicts });
  const views = items.validators.map((item) => ({
    ...item,
    ...answersAbout(item, items.hubCoin, answers, now),
    /** Whether the node is asked about the validator. */
    isAsked: item.own !== null && item.orchestrator !== null && state.queries.has(stakingStatus.name),
    /** `null` for an own validator, and without a published contact. */
    contact: (item.own === null && contacts?.get(dataPart(item.sender ?? ''))) || null,
    /** The worst firing problem about the validator. */
    problem: findProblem(firing, item),
  }));
  const others = views.filter((view) => view.own === null && (view.problem !== null || lateDuties(view).length > 0));
  const rankView = (view: ValidatorItem): number => Number(lateDuties(view).some(({ isAwaited }) => isAwaited));
  return [...views.filter(({ own }) => own !== null), ...others.toSorted((a, b) => rankView(b) - rankView(a))];
}

/** The duties of the kinds of which something is late. */
export function lateDuties({ duties }: Pick<ValidatorItem, 'duties'>): readonly DutyItem[] {
  return Object.values(duties).flatMap((duty) => (duty !== null && duty.late > 0 ? [duty] : []));
}

/** Problems of several validators list them; problems of an own validator have its address as a label. */
function findProblem(firing: readonly Verdict[], { own, orchestrator, externalAddress }: ValidatorItem) {
  const worst = firing.find(
    ({ subject, validators }) =>
      validators.some((late) => late.externalAddress === externalAddress) ||
      (own !== null && (subject.address === own.entry || subject.orchestrator === (orchestrator ?? ''))),
  );
  if (worst === undefined) return null;
  const { alert, severity, summary, action, ageSeconds } = worst;
  return { alert, severity, summary, action, ageSeconds };
}

/** The answers of the node about an own validator; `null` without an answer. */
function answersAbout(
  { orchestrator, duties }: ValidatorItem,
  hubCoin: HubCoin | null,
  answers: QueryStates,
  now: Moment,
) {
  const key = orchestrator ?? '';
  // An answer can be older than the document, and the document has no old votes.
  const voted = duties.events?.squares?.findLast(({ state }) => state === 'done')?.nonce;
  const nonce = highest([
    claimPosition.getAnswers(answers).get(key),
    voted === undefined ? undefined : asNumeral(voted),
  ]);
  const amount = orchestratorBalance.getAnswers(answers).get(key);
  const blocks = missedBlocks(answers).get(key);
  return {
    /** By the staking module. */
    jailed: stakingStatus.getAnswers(answers).get(key)?.isJailed ?? null,
    /** The blocks of the hub that it has not signed. */
    blocks: blocks === undefined ? null : blocksItem(blocks, now),
    /** The last event that the orchestrator has claimed, by the node or by its votes in the document. */
    lastEventNonce: nonce === undefined ? null : String(nonce),
    /** The balance of the orchestrator in the coin that pays for its transactions. */
    funds: amount === undefined ? null : fundsItem(String(amount), hubCoin),
  };
}

/** In whole coins if the decimals are known. */
function fundsItem(amount: string, hubCoin: HubCoin | null) {
  const decimals = hubCoin?.decimals ?? null;
  const wholeAmount = decimals === null ? null : inWholeUnits(amount, decimals);
  return { amount, wholeAmount, symbol: hubCoin?.symbol ?? hubCoin?.denom ?? '' };
}

function blocksItem({ missed, allowed, isTombstoned, counts }: MissedBlocks, now: Moment) {
  return {
    /** Within the window of the slashing module. */
    missed,
    /** How many it may miss within the window; `null` when unknown. */
    allowed,
    /** Whether it is jailed for ever. */
    tombstoned: isTombstoned,
    /** The answers about a minute apart, with the blocks that were missed since the answer before. */
    minutes: counts.slice(1).map(({ at, missed: later }, index) => ({
      until: isoTime(wallSeconds(at, now)),
      // Blocks that leave the window, and jailing, lower the number.
      missed: Math.max(0, later - (counts[index]?.missed ?? later)),
    })),
  };
}
