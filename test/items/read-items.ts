import {
  bridgeSnapshot,
  crosschainSnapshot,
  type BridgeOptions,
  type CrosschainOptions,
} from '../support/snapshots.js';
import { getItems } from '../../src/engine/poll-body.js';
import type { BridgeItems } from '../../src/items/bridge-items.js';
import type { CrosschainItems } from '../../src/items/crosschain-items.js';
import type { ItemList, ReadableList } from '../../src/items/item-list.js';

/** The items of a module_state response with this `state`. */
export function bridgeItemsOf(state: unknown, options?: BridgeOptions): BridgeItems {
  return getItems(bridgeSnapshot(state, options)) as BridgeItems;
}

/** The items of a rate_limiter_input response. */
export function crosschainItemsOf(document: unknown, options?: CrosschainOptions): CrosschainItems {
  return getItems(crosschainSnapshot(document, options)) as CrosschainItems;
}

/** The list, if it is readable. Throws otherwise. */
export function asReadable<Row>(list: ItemList<Row>): ReadableList<Row> {
  if (!list.readable) throw new Error('the list is not readable');
  return list;
}
