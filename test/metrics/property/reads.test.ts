import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveBridge, deriveCrosschain } from '../derive.js';
import { corrupted, type Path } from './corruption.js';
import {
  bridgeAbout,
  bridgeLists,
  bridgeState,
  crosschainAbout,
  crosschainDocument,
  crosschainLists,
  type BridgeList,
  type CrosschainList,
  type Json,
  type Row,
} from './documents.js';
import { changedFamilies } from './families.js';
import { isBelow, recordReads } from '../recorded-reads.js';

/*
 * The recorded reads of the families are complete: a field that a family does not read cannot change it.
 */

const reads = recordReads();

/** The path as the spec would write it: `state.batches[].block`. */
function specPath(top: string, path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[]`;
    return text === '' ? key : `${text}.${key}`;
  }, top);
}

/** Changing a path also changes its parents and everything below it. */
const readsField =
  (path: string) =>
  (read: string): boolean =>
    read === path || isBelow(read, path) || isBelow(path, read);

const readsList =
  (list: string) =>
  (read: string): boolean =>
    read === list || isBelow(read, list);

/** The changed families that read none of the fields. */
function unexpected(changed: readonly string[], isRead: (field: string) => boolean): string[] {
  return reads
    .filter(({ family, fields }) => changed.includes(family) && !fields.some(isRead))
    .map(({ family }) => family);
}

const numRuns = 500;

const addedTo = (document: Row, list: string, row: Json, first: boolean): Row => {
  const rows = document[list] as readonly Json[];
  return { ...document, [list]: first ? [row, ...rows] : [...rows, row] };
};

describe('a row that is added to one list changes only families that read it', () => {
  it('of a bridge', () => {
    const addition = fc
      .constantFrom(...(Object.keys(bridgeLists) as BridgeList[]))
      .chain((list) =>
        fc.record({ list: fc.constant(list), row: bridgeLists[list] as fc.Arbitrary<Json>, first: fc.boolean() }),
      );
    const property = fc.property(bridgeState, bridgeAbout, addition, (state, about, { list, row, first }) => {
      const after = deriveBridge(addedTo(state, list, row, first), about).values;
      const changed = changedFamilies(deriveBridge(state, about).values, after);
      expect(changed).not.toEqual([]);
      expect(unexpected(changed, readsList(`state.${list}`))).toEqual([]);
    });
    fc.assert(property, { numRuns });
  });

  it('of the cross-chain queue', () => {
    const addition = fc
      .constantFrom(...(Object.keys(crosschainLists) as CrosschainList[]))
      .chain((list) => fc.record({ list: fc.constant(list), row: crosschainLists[list], first: fc.boolean() }));
    const property = fc.property(crosschainDocument, crosschainAbout, addition, (document, about, added) => {
      const after = deriveCrosschain(addedTo(document, added.list, added.row, added.first), about).values;
      const changed = changedFamilies(deriveCrosschain(document, about).values, after);
      expect(changed).not.toEqual([]);
      expect(unexpected(changed, readsList(added.list))).toEqual([]);
    });
    fc.assert(property, { numRuns });
  });
});

describe('a field that is dropped or of a wrong kind changes only families that read it', () => {
  const withCorruption = (document: fc.Arbitrary<Row>) =>
    document.chain((before) => fc.record({ before: fc.constant(before), corruption: corrupted(before) }));

  it('of a bridge', () => {
    const property = fc.property(withCorruption(bridgeState), bridgeAbout, ({ before, corruption }, about) => {
      const after = deriveBridge(corruption.document, about).values;
      const changed = changedFamilies(deriveBridge(before, about).values, after);
      const path = specPath('state', corruption.path);
      expect(unexpected(changed, readsField(path))).toEqual([]);
    });
    fc.assert(property, { numRuns: 2 * numRuns });
  });

  it('of the cross-chain queue', () => {
    const documents = withCorruption(crosschainDocument);
    const property = fc.property(documents, crosschainAbout, ({ before, corruption }, about) => {
      const after = deriveCrosschain(corruption.document, about).values;
      const changed = changedFamilies(deriveCrosschain(before, about).values, after);
      const path = specPath('', corruption.path);
      expect(unexpected(changed, readsField(path))).toEqual([]);
    });
    fc.assert(property, { numRuns: 2 * numRuns });
  });
});
