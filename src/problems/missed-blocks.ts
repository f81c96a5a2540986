import type { BridgeInput } from '../facts/bridge/bridge-input.js';
import { required } from '../facts/required-fields.js';
import { recentlyMissed, unsignedBlocks } from '../queries/missed-blocks.js';
import {
  isJudged,
  missedBlocks,
  type MissedBlocks,
  secondsUntilJailed,
  signingInfo,
  stakingStatus,
} from '../queries/validator-queries.js';
import { percent } from '../text/format.js';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../units.js';
import {
  defineProblem,
  eachAnswered,
  type Evidence,
  type Findings,
  type FoundInAnswer,
  type Severity,
} from './problem.js';
import { about } from './sentence.js';

/* Validators of `watch` that do not sign the blocks of the hub. */

type BlocksSeverity = Exclude<Severity, 'info'>;

const RESTART_NODE =
  'Restart the node of the validator, and check its peers, its disk and its clock. Never use its key on a second machine while the first may still sign: that jails the validator for ever.';

/** The findings about bonded validators; none from a node that is behind, which has the misses of an earlier time. */
function eachBonded(
  evidence: Evidence<'module_state'>,
  find: (blocks: MissedBlocks, who: string) => FoundInAnswer,
): Findings {
  const { input, answers } = evidence;
  return eachAnswered(evidence, signingInfo, ({ orchestrator }, _info, who) => {
    const status = stakingStatus.getAnswer(answers, orchestrator);
    if (status === undefined || input.isNodeBehind === true) return null;
    if (!status.isBonded || status.isJailed) return undefined;
    return find(required(missedBlocks(answers, orchestrator)), who);
  });
}

/** "it has missed 743 of the 1800 blocks of the window that it may miss (41 %)", and when it is jailed. */
function missedTexts(input: BridgeInput, blocks: MissedBlocks): readonly string[] {
  const { missed, allowed } = blocks;
  if (allowed === null) return [];
  const left = secondsUntilJailed(input.height, blocks);
  const used = allowed === 0 ? '' : ` (${percent(missed / allowed)})`;
  return [
    `it has missed ${missed} of the ${allowed} blocks of the window that it may miss${used}`,
    left < DAY_SECONDS ? `at this rate it is jailed in ${about(input, left)}` : '',
  ];
}

function signsNoBlocks(severity: BlocksSeverity) {
  const isCritical = severity === 'critical';
  return defineProblem('module_state', {
    name: 'BridgeWatchedValidatorSignsNoBlocks',
    severity,
    afterMinutes: isCritical ? 10 : 2,
    description: 'A bonded watched validator signs none of the blocks of the hub, or hardly any.',
    action: RESTART_NODE,
    find: (evidence: Evidence<'module_state'>) =>
      eachBonded(evidence, (blocks, who) => {
        const unsigned = unsignedBlocks(blocks.counts);
        return (
          unsigned && {
            start: unsigned.since,
            summary: `${who} signs no blocks`,
            details: [
              `none or hardly any of the last ${unsigned.blocks} blocks`,
              ...missedTexts(evidence.input, blocks),
            ],
          }
        );
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

/** The hub jails a validator for missed blocks only after that time. */
const WHOLE_WINDOW = 'Judged once the validator has been bonded for a whole window.';

/** Shares of the blocks that a validator may miss. */
const MISSED_RATIOS = { warning: 0.3, critical: 0.7 } as const;
/**
 * A validator that misses fewer within ten minutes has recovered: its number stays high until the blocks that it missed
 * before leave the window.
 */
const RISE_RATIO = 0.01;
/** Somebody who sleeps needs time to wake up, find the cause and start the node. */
const JAILED_SOON_SECONDS = 2 * HOUR_SECONDS;
/** Misses over a shorter time are no rate: a restart of the node takes less. */
const RATE_SECONDS = 5 * MINUTE_SECONDS;

/**
 * Whether so many are missed, or more are missed so fast, that somebody has to act now; `null` while the answers do not
 * go back far enough.
 */
function isJailingNear(input: BridgeInput, blocks: MissedBlocks, allowed: number): boolean | null {
  const { missed, counts } = blocks;
  const recent = recentlyMissed(counts);
  if (recent === undefined) return null;
  const isRising = recent.blocks >= Math.max(1, allowed * RISE_RATIO);
  const isRateKnown = recent.seconds >= RATE_SECONDS || missed >= allowed * MISSED_RATIOS.warning;
  const isNear =
    missed >= allowed * MISSED_RATIOS.critical ||
    (isRateKnown && secondsUntilJailed(input.height, blocks) < JAILED_SOON_SECONDS);
  if (isRising && isNear) return true;
  return recent.knownSeconds < RATE_SECONDS ? null : false;
}

function missingBlocks(severity: BlocksSeverity) {
  const isCritical = severity === 'critical';
  const shares = { warning: percent(MISSED_RATIOS.warning), critical: percent(MISSED_RATIOS.critical) };
  return defineProblem('module_state', {
    name: 'BridgeWatchedValidatorMissingBlocks',
    severity,
    // Later than BridgeWatchedValidatorSignsNoBlocks, which is the cause if the validator signs no blocks.
    afterMinutes: 10,
    description: isCritical
      ? `A watched validator still misses blocks. It has missed ${shares.critical} of the blocks that the slashing module allows, or is jailed within two hours at the present rate. ${WHOLE_WINDOW}`
      : `A watched validator has missed ${shares.warning} of the blocks that the slashing module allows. ${WHOLE_WINDOW}`,
    action: RESTART_NODE,
    find: (evidence: Evidence<'module_state'>) => {
      const { input } = evidence;
      return eachBonded(evidence, (blocks, who) => {
        const { missed } = blocks;
        const allowed = required(blocks.allowed ?? undefined);
        if (!isJudged(input.height, blocks) || missed === 0) return undefined;
        const isFound = isCritical ? isJailingNear(input, blocks, allowed) : missed >= allowed * MISSED_RATIOS.warning;
        if (isFound !== true) return isFound === null ? null : undefined;
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

export const missedBlocksProblems = {
  signsNone: { critical: signsNoBlocks('critical'), warning: signsNoBlocks('warning') },
  missing: { critical: missingBlocks('critical'), warning: missingBlocks('warning') },
} as const;
