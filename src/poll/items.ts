import { setImmediate as nextTurn } from 'node:timers/promises';
import { documents, type DocumentName } from '../documents.js';
import type { Items } from '../facts/items/items.js';
import type { EndpointState } from './endpoint-state.js';
import { keptInput } from './kept-body.js';
import type { Snapshot } from './step.js';

/*
 * The items of the pages are derived when somebody asks for a page, from the body of the last successful poll, which is kept compressed: in
 * most polls nobody does, and the document would take ten times the memory.
 */

/** Those that were derived, until the next poll replaces the snapshot. */
const derived = new WeakMap<Snapshot, Items>();

/** The items of a snapshot; `undefined` if its body is not kept. */
export function itemsOf(snapshot: Snapshot): Items | undefined {
  const known = derived.get(snapshot);
  if (known !== undefined) return known;
  const items = deriveItems(snapshot);
  if (items !== undefined) derived.set(snapshot, items);
  return items;
}

/** Derives the items of all endpoints. In between, scrapes are answered. */
export async function prepareItems(states: readonly EndpointState[]): Promise<void> {
  for (const { success } of states) {
    if (success === undefined || derived.has(success.snapshot)) continue;
    itemsOf(success.snapshot);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await nextTurn();
  }
}

function deriveItems<Name extends DocumentName>(snapshot: Snapshot<Name>): Items | undefined {
  const { document, kept, flow } = snapshot;
  const input = keptInput(snapshot);
  return kept && input && documents[document].items({ input, flow }, kept.context.labels);
}
