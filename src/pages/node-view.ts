import type { Instant } from '../clock.js';
import { toDecimalString } from '../chain/decimal.js';
import type { DecimalString } from '../chain/numeral.js';
import { inWholeUnits } from '../facts/items/item-list.js';
import type { HubCoin, Items } from '../facts/items/items.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import { latestBlock, syncing } from '../queries/node-status.js';
import { withoutStaleAnswers } from '../queries/query-state.js';
import { claimPosition, orchestratorBalance, stakingStatus } from '../queries/watched-validators.js';
import { markup, type Markup } from './html.js';
import { duration } from '../text/format.js';
import { clockTimeElement, isoTime, timeElement } from './time.js';

/* What the node of an endpoint has answered besides the document. */

export interface NodeView {
  /** Time of its newest block, ISO 8601; `null` if the node does not say. */
  readonly blockTime: string | null;
  /** How old that block was when the node sent it. */
  readonly behindSeconds: number | null;
  readonly syncing: boolean | null;
  /** The watched validators about which the node is asked. */
  readonly watched: readonly WatchedStatus[];
}

/** `null` is what the node has not answered. */
export interface WatchedStatus {
  readonly orchestrator: string;
  /** By the staking module. */
  readonly jailed: boolean | null;
  readonly bonded: boolean | null;
  /** The last event that the orchestrator has claimed. */
  readonly lastEventNonce: DecimalString | null;
  /** Of the orchestrator, in the coin that pays for its transactions. */
  readonly balance: Balance | null;
}

interface Balance {
  readonly amount: DecimalString;
  /** In whole coins; `null` when the decimals are unknown. */
  readonly wholeAmount: DecimalString | null;
  readonly symbol: string;
}

export function nodeView({ queries, staleAfterMs }: EndpointState, items: Items | null, now: Instant): NodeView {
  const answers = withoutStaleAnswers(queries, staleAfterMs, now);
  const [block] = latestBlock.valuesOf(answers).get('') ?? [];
  const askedAt = queries.get(latestBlock.name)?.answers.get('')?.at;
  const [status] = syncing.valuesOf(answers).get('') ?? [];
  const staking = stakingStatus.valuesOf(answers);
  const claims = claimPosition.valuesOf(answers);
  const balances = orchestratorBalance.valuesOf(answers);
  const bridge = items?.document === 'module_state' ? items : null;
  const configured = queries.has(stakingStatus.name) ? (bridge?.watched ?? []) : [];
  const orchestrators = new Set([
    ...configured.flatMap(({ orchestrator }) => orchestrator ?? []),
    ...[staking, claims, balances].flatMap((answered) => Array.from(answered.keys())),
  ]);
  const hubCoin = bridge?.hubCoin ?? null;
  return {
    blockTime: block === undefined ? null : isoTime(block.epochSeconds),
    behindSeconds:
      block === undefined || askedAt === undefined ? null : Math.max(0, askedAt.epochSeconds - block.epochSeconds),
    syncing: status?.isSyncing ?? null,
    watched: Array.from(orchestrators, (orchestrator): WatchedStatus => {
      const [ofStaking] = staking.get(orchestrator) ?? [];
      const [nonce] = claims.get(orchestrator) ?? [];
      const [amount] = balances.get(orchestrator) ?? [];
      return {
        orchestrator,
        jailed: ofStaking?.isJailed ?? null,
        bonded: ofStaking?.isBonded ?? null,
        lastEventNonce: nonce === undefined ? null : toDecimalString(nonce),
        balance: amount === undefined ? null : balanceOf(toDecimalString(amount), hubCoin),
      };
    }),
  };
}

function balanceOf(amount: DecimalString, hubCoin: HubCoin | null): Balance {
  const decimals = hubCoin?.decimals ?? null;
  return {
    amount,
    wholeAmount: decimals === null ? null : inWholeUnits(amount, decimals),
    symbol: hubCoin?.symbol ?? hubCoin?.denom ?? '',
  };
}

/** Blocks take seconds. */
const BEHIND_SECONDS = 60;
/** An older block is shown with its date. */
const LONG_SECONDS = 12 * 60 * 60;

/** The time of the newest block, if what is shown is clearly older than the poll. */
export function blockTimeOf({ blockTime, behindSeconds, syncing: isSyncing }: NodeView): Markup | undefined {
  if (blockTime === null || behindSeconds === null) return undefined;
  if (behindSeconds <= BEHIND_SECONDS && isSyncing !== true) return undefined;
  const time = behindSeconds < LONG_SECONDS ? clockTimeElement(blockTime) : timeElement(blockTime);
  return markup`as of block time ${time}, ${duration(behindSeconds)} behind`;
}
