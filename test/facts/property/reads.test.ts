import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../support/json.js';
import { deriveBridge, deriveCrosschain } from '../derive.js';
import { isBelow, recordReads } from '../recorded-reads.js';
import { corruptionOf, specPath } from './corruption.js';
import {
  bridgeLists,
  bridgeOptions,
  bridgeState,
  crosschainDocument,
  crosschainLists,
  crosschainOptions,
  type BridgeList,
  type CrosschainList,
} from './documents.js';
import { changedFamilies } from './families.js';
import { fuzzRuns } from '../../support/fuzz.js';

const reads = recordReads();

/** Matches reads of the field, of its parents and of its descendants. */
const readsField =
  (path: string) =>
  (read: string): boolean =>
    read === path || isBelow(read, path) || isBelow(path, read);

const readsList =
  (list: string) =>
  (read: string): boolean =>
    read === list || isBelow(read, list);

/** The changed families that do not read the changed field. */
function unexpectedChanges(changed: readonly string[], isRead: (field: string) => boolean): string[] {
  return reads
    .filter(({ family, fields }) => changed.includes(family) && !fields.some(isRead))
    .map(({ family }) => family);
}

const numRuns = fuzzRuns(60);

const withRow = (document: JsonObject, list: string, row: Json, isFirst: boolean): JsonObject => {
  const rows = document[list] as readonly Json[];
  return { ...document, [list]: isFirst ? [row, ...rows] : [...rows, row] };
};

describe('an additional row', () => {
  it('changes only families that read its list: module_state', () => {
    const addition = fc
      .constantFrom(...(Object.keys(bridgeLists) as BridgeList[]))
      .chain((list) =>
        fc.record({ list: fc.constant(list), row: bridgeLists[list] as fc.Arbitrary<Json>, isFirst: fc.boolean() }),
      );
    const property = fc.property(bridgeState, bridgeOptions, addition, (state, options, { list, row, isFirst }) => {
      const after = deriveBridge(withRow(state, list, row, isFirst), options).values;
      const changed = changedFamilies(deriveBridge(state, options).values, after);
      expect(changed).not.toEqual([]);
      expect(unexpectedChanges(changed, readsList(`state.${list}`))).toEqual([]);
    });
    fc.assert(property, { numRuns });
  });

  it('changes only families that read its list: rate_limiter_input', () => {
    const addition = fc
      .constantFrom(...(Object.keys(crosschainLists) as CrosschainList[]))
      .chain((list) => fc.record({ list: fc.constant(list), row: crosschainLists[list], isFirst: fc.boolean() }));
    const property = fc.property(crosschainDocument, crosschainOptions, addition, (document, options, added) => {
      const after = deriveCrosschain(withRow(document, added.list, added.row, added.isFirst), options).values;
      const changed = changedFamilies(deriveCrosschain(document, options).values, after);
      expect(changed).not.toEqual([]);
      expect(unexpectedChanges(changed, readsList(added.list))).toEqual([]);
    });
    fc.assert(property, { numRuns });
  });
});

describe('a missing or invalid field', () => {
  const withCorruption = (document: fc.Arbitrary<JsonObject>) =>
    document.chain((before) => fc.record({ before: fc.constant(before), corruption: corruptionOf(before) }));

  it('changes only families that read it: module_state', () => {
    const property = fc.property(withCorruption(bridgeState), bridgeOptions, ({ before, corruption }, options) => {
      const after = deriveBridge(corruption.document, options).values;
      const changed = changedFamilies(deriveBridge(before, options).values, after);
      const path = specPath('state', corruption.path);
      expect(unexpectedChanges(changed, readsField(path))).toEqual([]);
    });
    fc.assert(property, { numRuns });
  });

  it('changes only families that read it: rate_limiter_input', () => {
    const documents = withCorruption(crosschainDocument);
    const property = fc.property(documents, crosschainOptions, ({ before, corruption }, options) => {
      const after = deriveCrosschain(corruption.document, options).values;
      const changed = changedFamilies(deriveCrosschain(before, options).values, after);
      const path = specPath('', corruption.path);
      expect(unexpectedChanges(changed, readsField(path))).toEqual([]);
    });
    fc.assert(property, { numRuns });
  });
});
