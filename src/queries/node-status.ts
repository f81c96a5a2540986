import type { Numeral } from '../chain/numeral.js';
import { boolean, numeral, object, string, type ValueOf } from '../chain/fields.js';
import { wallSeconds, type Moment } from '../clock.js';
import type { Field } from '../chain/field.js';
import { families, labeledGauge } from '../metrics/family.js';
import { required } from '../facts/required-fields.js';
import { MEBIBYTE } from '../units.js';
import { isOn, nodeQuery, type QueryInput } from './query.js';
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

const BLOCKS_PATH = '/cosmos/base/tendermint/v1beta1/blocks';

const blockReader = {
  maxBodyBytes: MAX_BLOCK_BYTES,
  schema: blockResponse,
  // `block` is deprecated; older nodes send only this.
  value: ({ sdk_block: sdkBlock, block }: ValueOf<typeof blockResponse>) => blockOf(required(sdkBlock ?? block)),
};

export const latestBlock = nodeQuery({
  ...blockReader,
  name: 'latest_block',
  isEnabled: isOn,
  path: `${BLOCKS_PATH}/latest`,
  families: families<QueryInput<Block>>({
    bridge_exporter_node_block_timestamp_seconds: labeledGauge({
      help: 'Time of the newest block of the node, by its own header.',
      stability: 'experimental',
      labels: LABELS,
      derive: ofDocument(({ epochSeconds }) => Math.round(epochSeconds * 1000) / 1000),
    }),
  }),
});

export const syncing = nodeQuery({
  name: 'syncing',
  isEnabled: isOn,
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
