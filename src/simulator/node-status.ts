import type { Block } from './block.js';
import type { Rules } from './scenarios.js';

/** Whether a node is up to date. */
export interface NodeStatus {
  readonly height: number;
  /** Of its newest block. */
  readonly timeMs: number;
  readonly isSyncing: boolean;
}

const MINUTE_MS = 60_000;

/** A node that catches up serves documents, with the times of old blocks. */
export function nodeStatus(
  { height, timeMs }: Pick<Block, 'height' | 'timeMs'>,
  { nodeLagMinutes }: Rules,
): NodeStatus {
  return { height, timeMs: timeMs - nodeLagMinutes * MINUTE_MS, isSyncing: nodeLagMinutes > 0 };
}
