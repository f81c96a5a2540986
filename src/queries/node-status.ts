import { type Field, boolean, numeral, object, string } from '../chain/fields.js';
import { subtract, type Numeral } from '../chain/numeral.js';
import { wallSeconds, type Moment } from '../clock.js';
import { toLabelValue } from '../facts/plain-values.js';
import { optional, required } from '../facts/required-fields.js';
import { families, labeledGauge } from '../metrics/family.js';
import { cleanText } from '../text/format.js';
import { HOUR_MS, MEBIBYTE } from '../units.js';
import { hasNodeQueries, nodeQuery, type QueryInput, type QueryStates, responseReader } from './query.js';

/*
 * Whether the node is up to date: its newest block, and whether it is catching up (Cosmos SDK, CometBFT service). And
 * for which upgrade the hub stops.
 */

interface Block {
  readonly height: Numeral;
  readonly epochSeconds: number;
}

/** A block with its transactions; on busy chains up to some megabytes. */
const MAX_BLOCK_BYTES = 8 * MEBIBYTE;

const blockWithHeader = object({ header: object({ height: numeral, time: string }) });
const blockResponse = object({ sdk_block: blockWithHeader, block: blockWithHeader });

/** The time is in RFC 3339 and UTC, as CometBFT writes it; its nanoseconds are cut off. */
function readBlock(height: Field<Numeral>, time: Field<string>): Block {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(required(time));
  const ms = isTime ? Date.parse(required(time)) : NaN;
  return { height: required(height), epochSeconds: required(Number.isFinite(ms) ? ms / 1000 : undefined) };
}

/** A gauge with a series for each document. */
function documentGauge<Value>(help: string, read: (value: Value) => number | boolean) {
  return labeledGauge({
    help,
    stability: 'experimental',
    labels: ['document'],
    derive: ({ context: { document }, value }: QueryInput<Value>) => [
      { labels: { document }, value: Number(read(value)) },
    ],
  });
}

export const latestBlock = nodeQuery({
  name: 'latest_block',
  isEnabled: hasNodeQueries,
  isOfNode: true,
  path: '/cosmos/base/tendermint/v1beta1/blocks/latest',
  maxBodyBytes: MAX_BLOCK_BYTES,
  schema: blockResponse,
  value: ({ sdk_block: sdkBlock, block }): Block => {
    // `block` is deprecated; older nodes send only this.
    const { height, time } = required(required(sdkBlock ?? block).header);
    return readBlock(height, time);
  },
  families: families<QueryInput<Block>>({
    bridge_node_block_timestamp_seconds: documentGauge(
      'Time of the newest block of the node.',
      ({ epochSeconds }) => Math.round(epochSeconds * 1000) / 1000,
    ),
  }),
});

export const syncing = nodeQuery({
  name: 'syncing',
  isEnabled: hasNodeQueries,
  isOfNode: true,
  path: '/cosmos/base/tendermint/v1beta1/syncing',
  schema: object({ syncing: boolean }),
  value: (page) => ({ isSyncing: required(page.syncing) }),
  families: families<QueryInput<{ readonly isSyncing: boolean }>>({
    bridge_node_syncing: documentGauge(
      'Whether the node reports that it is catching up with the chain.',
      ({ isSyncing }) => isSyncing,
    ),
  }),
});

/* Probes of a node that is one of several. The response with its status is small, and older nodes do not serve it. */

export const STATUS_PATH = '/cosmos/base/node/v1beta1/status';

export const statusReader = responseReader({
  schema: object({ height: numeral, timestamp: string }),
  value: ({ height, timestamp }): Block => readBlock(height, timestamp),
});

export const externalBlockReader = responseReader({
  schema: object({ result: object({ number: string, timestamp: string }) }),
  value: ({ result }): Block => {
    const { number, timestamp } = required(result);
    return { height: parseQuantity(number), epochSeconds: Number(parseQuantity(timestamp)) };
  },
});

function parseQuantity(field: Field<string>): bigint {
  const hexadecimal = required(field);
  return required(/^0x[\da-f]{1,16}$/i.test(hexadecimal) ? BigInt(hexadecimal) : undefined);
}

interface UpgradePlan {
  readonly name: string;
  /** The first block of the new version: the hub stops before it. */
  readonly height: Numeral;
}

/** The planned upgrade of the hub (upgrade module); a hub has one at a time, or none. */
export const upgradePlan = nodeQuery({
  name: 'upgrade_plan',
  intervalMs: HOUR_MS,
  isEnabled: hasNodeQueries,
  path: '/cosmos/upgrade/v1beta1/current_plan',
  schema: object({ plan: object({ name: string, height: numeral }) }),
  value: (page): readonly UpgradePlan[] => {
    const plan = optional(page.plan);
    if (plan === undefined) return [];
    return [{ name: toLabelValue(cleanText(required(plan.name))), height: required(plan.height) }];
  },
  families: families<QueryInput<readonly UpgradePlan[]>>({
    bridge_node_upgrade_plan_height: labeledGauge({
      help: 'Hub height of the planned upgrade; absent without a planned upgrade.',
      stability: 'experimental',
      labels: ['document', 'name'],
      derive: ({ context: { document }, value }) =>
        value.map(({ name, height }) => ({ labels: { document, name }, value: height })),
    }),
  }),
});

/** The name of the upgrade for which a hub stops at this height. */
export function upgradeAt(answers: QueryStates, height: Numeral): string | undefined {
  const [plan] = upgradePlan.getAnswer(answers) ?? [];
  const blocks = plan && subtract(plan.height, height);
  return blocks === 0n || blocks === 1n ? plan?.name : undefined;
}

/** The planned upgrade that the newest block of the node has not reached. */
export function nextUpgrade(answers: QueryStates, blockTimeMs: number | undefined) {
  const [plan] = upgradePlan.getAnswer(answers) ?? [];
  const block = latestBlock.getAnswer(answers);
  if (plan === undefined || block === undefined || subtract(plan.height, block.height) <= 1n) return undefined;
  const blocks = Number(subtract(plan.height, block.height));
  // Estimated; `undefined` until a block time is measured.
  return { ...plan, blocks, epochSeconds: blockTimeMs && block.epochSeconds + (blocks * blockTimeMs) / 1000 };
}

/** A node whose newest block is older than this is behind. */
export const BEHIND_SECONDS = 300;

/**
 * The hub dates blocks by the clocks of its validators: when the newest block is further in the future than this, the
 * clock of the exporter is wrong.
 */
export const CLOCK_BEHIND_SECONDS = 60;

/**
 * The age of the newest block of the node when the node sent it, by the wall clock of now; negative if it was in the
 * future; `undefined` without an answer. `answers` must not be stale.
 */
export function nodeDelaySeconds(answers: QueryStates, now: Pick<Moment, 'clockOffset'>): number | undefined {
  const block = latestBlock.getAnswer(answers);
  const answer = answers.get(latestBlock.name)?.answers.get('');
  return block && answer && wallSeconds(answer.at, now) - block.epochSeconds;
}

/**
 * Whether the state of the node is clearly older than the chain, by its newest block. What it says itself is not read:
 * a node in block sync says at the tip of a fast chain that it is catching up.
 */
export function isNodeBehind(answers: QueryStates, now: Pick<Moment, 'clockOffset'>): boolean {
  return (nodeDelaySeconds(answers, now) ?? 0) > BEHIND_SECONDS;
}
