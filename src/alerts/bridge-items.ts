import type { BlockSpan, BridgeItems, ItemList, Signatures } from '../pending/items.js';
import { duration } from './sentences.js';
import type { PollView } from './view.js';

/* What the sentences of bridge alerts take from the listed items of the module state. */

export function bridgeItems({ items }: Pick<PollView, 'items'>): BridgeItems | undefined {
  return items?.document === 'module_state' ? items : undefined;
}

/** None when the list could not be read. */
export function listedRows<Row>(list: ItemList<Row> | undefined): readonly Row[] {
  return list?.readable === true ? list.rows : [];
}

/** The oldest listed batch, or validator set, without sufficient signatures. */
export function belowThreshold<Row extends Signatures>(list: ItemList<Row> | undefined): Row | undefined {
  return listedRows(list).find((row) => row.belowThreshold === true);
}

/** "about 11 h 23 min"; empty without an estimate, and when the deadline has passed. */
export function timeLeft(left: BlockSpan | null | undefined, describe: (time: string) => string): string {
  const seconds = left?.seconds ?? 0;
  if (seconds <= 0) return '';
  return describe(`about ${duration(seconds)}`);
}
