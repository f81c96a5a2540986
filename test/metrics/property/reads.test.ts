import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { moduleStateDocument, rateLimiterInputDocument } from '../../../src/documents.js';
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

/*
 * Every family says which fields it reads; the reference of the metrics and the coverage of the spec are made of that. Here
 * it is held to its word: what it does not name must not change it.
 */

interface Reader {
  readonly name: string;
  readonly reads: readonly string[];
}

/** The path as the spec would write it: `state.batches[].block`. */
function specPath(top: string, path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[]`;
    return text === '' ? key : `${text}.${key}`;
  }, top);
}

const isBelow = (path: string, above: string): boolean => path.startsWith(`${above}.`) || path.startsWith(`${above}[`);

/** A parent stands for all below it only where the family names nothing more exact there. */
function mayReadField({ reads }: Reader, path: string): boolean {
  return reads.some(
    (read) =>
      read === path || isBelow(read, path) || (isBelow(path, read) && !reads.some((other) => isBelow(other, read))),
  );
}

const mayReadList = ({ reads }: Reader, list: string): boolean =>
  reads.some((read) => read === list || isBelow(read, list));

function unexpected(
  families: readonly Reader[],
  changed: readonly string[],
  may: (family: Reader) => boolean,
): string[] {
  return families.filter((family) => changed.includes(family.name) && !may(family)).map(({ name }) => name);
}

const numRuns = 500;
const bridge = moduleStateDocument.families;
const crosschain = rateLimiterInputDocument.families;

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
      expect(unexpected(bridge, changed, (family) => mayReadList(family, `state.${list}`))).toEqual([]);
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
      expect(unexpected(crosschain, changed, (family) => mayReadList(family, added.list))).toEqual([]);
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
      expect(unexpected(bridge, changed, (family) => mayReadField(family, path))).toEqual([]);
    });
    fc.assert(property, { numRuns: 2 * numRuns });
  });

  it('of the cross-chain queue', () => {
    const documents = withCorruption(crosschainDocument);
    const property = fc.property(documents, crosschainAbout, ({ before, corruption }, about) => {
      const after = deriveCrosschain(corruption.document, about).values;
      const changed = changedFamilies(deriveCrosschain(before, about).values, after);
      const path = specPath('', corruption.path);
      expect(unexpected(crosschain, changed, (family) => mayReadField(family, path))).toEqual([]);
    });
    fc.assert(property, { numRuns: 2 * numRuns });
  });
});
