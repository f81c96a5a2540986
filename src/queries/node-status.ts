import { subtract, type Numeral } from '../chain/numeral.js';
import { boolean, numeral, object, string, type ValueOf } from '../chain/fields.js';
import { wallSeconds, type Moment } from '../clock.js';
import type { Field } from '../chain/field.js';
import { families, labeledGauge } from '../metrics/family.js';
import { toLabelValue } from '../facts/label-value.js';
import { optional, required } from '../facts/required-fields.js';
import { cleanText } from '../text/untrusted-text.js';
import { HOUR_MS, HOUR_SECONDS, MEBIBYTE } from '../units.js';
import { isOn, nodeQuery, responseReader, type QueryInput } from './query.js';
import type { QueryStates } from './query-state.js';

/* Whether the node is up to date: the time of its newest block, and whether it is catching up (Cosmos SDK, CometBFT service). */

export interface Block {
  readonly height: Numeral;
  readonly epochSeconds: number;
}

/** A block with its transactions; on busy chains up to some megabytes. */
const MAX_BLOCK_BYTES = 8 * MEBIBYTE;

const header = object({ header: object({ height: numeral, time: string }) });
const blockResponse = object({ sdk_block: header, block: header });

/** Unix seconds of an RFC 3339 time in UTC, as CometBFT writes it; its nanoseconds are cut off. Another string is invalid. */
function unixSeconds(time: string): number {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(time) ? Date.parse(time) : NaN;
  return required(Number.isFinite(ms) ? ms / 1000 : undefined);
}

function blockOf(block: { readonly header: Field<{ height: Field<Numeral>; time: Field<string> }> }): Block {
  const { height, time } = required(block.header);
  return { height: required(height), epochSeconds: unixSeconds(required(time)) };
}

/** A series for each document. */
const LABELS = ['document'] as const;

function ofDocument<Value>(exact: (value: Value) => Numeral) {
  return ({ context: { document }, value }: QueryInput<Value>) => [{ labels: { document }, value: exact(value) }];
}

export const LATEST_BLOCK_PATH = '/cosmos/base/tendermint/v1beta1/blocks/latest';

const blockReader = {
  maxBodyBytes: MAX_BLOCK_BYTES,
  schema: blockResponse,
  // `block` is deprecated; older nodes send only this.
  value: ({ sdk_block: sdkBlock, block }: ValueOf<typeof blockResponse>) => blockOf(required(sdkBlock ?? block)),
};

interface KeptBlock extends Block {
  /** Up to two earlier blocks an hour apart, to measure the block time; absent in the first answer. */
  readonly earlier?: readonly Block[];
}

export const latestBlock = nodeQuery({
  ...blockReader,
  name: 'latest_block',
  isEnabled: isOn,
  isOfNode: true,
  path: LATEST_BLOCK_PATH,
  keep: (block, _request, { answers }): KeptBlock => {
    const last = latestBlock.valuesOf(answers).get('');
    const { earlier = last === undefined ? [] : [last] } = last ?? {};
    const isHourOld = block.epochSeconds - (earlier.at(-1)?.epochSeconds ?? Infinity) > HOUR_SECONDS;
    return {
      ...block,
      ...(last && { earlier: isHourOld ? [...earlier.slice(-1), blockAlone(last)] : earlier.map(blockAlone) }),
    };
  },
  families: families<QueryInput<Block>>({
    bridge_exporter_node_block_timestamp_seconds: labeledGauge({
      help: 'Time of the newest block of the node, by its own header.',
      stability: 'experimental',
      labels: LABELS,
      derive: ofDocument(({ epochSeconds }) => Math.round(epochSeconds * 1000) / 1000),
    }),
  }),
});

const blockAlone = ({ height, epochSeconds }: Block): Block => ({ height, epochSeconds });

export const syncing = nodeQuery({
  name: 'syncing',
  isEnabled: isOn,
  isOfNode: true,
  path: '/cosmos/base/tendermint/v1beta1/syncing',
  schema: object({ syncing: boolean }),
  value: (page) => ({ isSyncing: required(page.syncing) }),
  families: families<QueryInput<{ readonly isSyncing: boolean }>>({
    bridge_exporter_node_syncing: labeledGauge({
      help: 'Whether the node is catching up with the chain (1) or not (0), as it says itself.',
      stability: 'experimental',
      labels: LABELS,
      derive: ofDocument(({ isSyncing }) => (isSyncing ? 1 : 0)),
    }),
  }),
});

/*
 * Probes of a node that is one of several. The first response is small, and older nodes do not serve it; a whole block is large, and names the chain.
 */

interface NewestBlock extends Block {
  readonly chainId?: string;
}

export const STATUS_PATH = '/cosmos/base/node/v1beta1/status';

export const statusReader = responseReader({
  schema: object({ height: numeral, timestamp: string }),
  value: ({ height, timestamp }): NewestBlock => ({
    height: required(height),
    epochSeconds: unixSeconds(required(timestamp)),
  }),
});

const headerWithChain = object({ header: object({ height: numeral, time: string, chain_id: string }) });

export const chainReader = responseReader({
  maxBodyBytes: MAX_BLOCK_BYTES,
  schema: object({ sdk_block: headerWithChain, block: headerWithChain }),
  value: ({ sdk_block: sdkBlock, block }): NewestBlock => {
    const newest = required(sdkBlock ?? block);
    return { ...blockOf(newest), chainId: cleanText(required(required(newest.header).chain_id)) };
  },
});

/** The newest block of a node of the external chain. */
export const externalBlockReader = responseReader({
  schema: object({ result: object({ number: string, timestamp: string }) }),
  value: ({ result }): NewestBlock => {
    const { number, timestamp } = required(result);
    return { height: quantity(required(number)), epochSeconds: Number(quantity(required(timestamp))) };
  },
});

function quantity(hexadecimal: string): bigint {
  return required(/^0x[\da-f]{1,16}$/i.test(hexadecimal) ? BigInt(hexadecimal) : undefined);
}

interface UpgradePlan {
  readonly name: string;
  /** The first block of the new version: the hub stops before it. */
  readonly height: Numeral;
}

/** The planned upgrade of the hub (upgrade module). */
export const upgradePlan = nodeQuery({
  name: 'upgrade_plan',
  intervalMs: HOUR_MS,
  isEnabled: isOn,
  path: '/cosmos/upgrade/v1beta1/current_plan',
  schema: object({ plan: object({ name: string, height: numeral }) }),
  value: (page): readonly UpgradePlan[] => {
    const plan = optional(page.plan);
    return plan === undefined
      ? []
      : [{ name: toLabelValue(cleanText(required(plan.name))), height: required(plan.height) }];
  },
  families: families<QueryInput<readonly UpgradePlan[]>>({
    bridge_exporter_node_upgrade_plan_height: labeledGauge({
      help: 'Hub height of the planned upgrade, by the node; absent without a plan.',
      stability: 'experimental',
      // A hub has one plan at a time.
      labels: [...LABELS, 'name'],
      derive: ({ context: { document }, value }) =>
        value.map(({ name, height }) => ({ labels: { document, name }, value: height })),
    }),
  }),
});

/** The name of the upgrade for which a hub stops at this height. */
export function upgradeAt(answers: QueryStates, height: Numeral): string | undefined {
  const plan = upgradePlan
    .valuesOf(answers)
    .get('')
    ?.find((planned) => {
      const blocks = subtract(planned.height, height);
      return blocks === 0n || blocks === 1n;
    });
  return plan?.name;
}

/** The planned upgrade that the newest block of the node has not reached. */
export function nextUpgrade(answers: QueryStates) {
  const [plan] = upgradePlan.valuesOf(answers).get('') ?? [];
  const block = latestBlock.valuesOf(answers).get('');
  if (plan === undefined || block === undefined || subtract(plan.height, block.height) <= 1n) return undefined;
  const [earlier] = block.earlier ?? [];
  const blocks = Number(subtract(plan.height, block.height));
  const measured = earlier === undefined ? 0 : Number(subtract(block.height, earlier.height));
  const secondsOfBlock = earlier === undefined ? 0 : (block.epochSeconds - earlier.epochSeconds) / measured;
  // Estimated; `undefined` until a block time is measured.
  const epochSeconds = measured > 0 ? block.epochSeconds + blocks * secondsOfBlock : undefined;
  return { ...plan, blocks, epochSeconds };
}

/** A node whose newest block is older than this is behind. */
export const BEHIND_SECONDS = 300;

/** The hub dates blocks by the clocks of its validators: when the newest block is further in the future than this, the clock of the exporter is wrong. */
export const CLOCK_BEHIND_SECONDS = 60;

export interface NodeDelay {
  /** The age of its newest block when the node sent it, by the wall clock of now; negative if it was in the future; 0 without an answer. */
  readonly seconds: number;
  readonly isSyncing: boolean;
}

/** `undefined` without answers. `answers` must not be stale. */
export function nodeDelay(answers: QueryStates, now: Pick<Moment, 'clockOffset'>): NodeDelay | undefined {
  const block = latestBlock.valuesOf(answers).get('');
  const status = syncing.valuesOf(answers).get('');
  const answer = answers.get(latestBlock.name)?.answers.get('');
  if (block === undefined && status === undefined) return undefined;
  const seconds = block === undefined || answer === undefined ? 0 : wallSeconds(answer.at, now) - block.epochSeconds;
  return { seconds, isSyncing: status?.isSyncing === true };
}

/** Whether the state of the node is clearly older than the chain. */
export function isNodeBehind(answers: QueryStates, now: Pick<Moment, 'clockOffset'>): boolean {
  const delay = nodeDelay(answers, now);
  return delay !== undefined && (delay.seconds > BEHIND_SECONDS || delay.isSyncing);
}
