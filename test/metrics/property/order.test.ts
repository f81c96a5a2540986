import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveBridge, deriveCrosschain } from '../derive.js';
import { bridgeAbout, bridgeState, crosschainAbout, crosschainDocument, type Json, type Row } from './documents.js';

/** The rows of a list whose text under each of the keys no earlier row has: in look-ups the first row would count. */
function unique(document: Row, list: string, ...keys: readonly string[]): Row {
  const rows = document[list] as readonly Row[];
  const text = (row: Row, key: string): string => JSON.stringify(row[key]).toLowerCase();
  const kept = rows.filter((row, at) =>
    keys.every((key) => rows.slice(0, at).every((earlier) => text(earlier, key) !== text(row, key))),
  );
  return { ...document, [list]: kept };
}

/** Valsets whose nonces differ as numbers, so that one of them is the newest. */
function uniqueNonces(state: Row): Row {
  const rows = state['valsets'] as readonly Row[];
  const nonce = (row: Row | undefined): number => Number(row?.['nonce']);
  return { ...state, valsets: rows.filter((row, at) => rows.findIndex((one) => nonce(one) === nonce(row)) === at) };
}

/** The current outbound is the last one, so this one order means something. */
const ordered = new Set(['outbound_params']);

/** The same document with the rows of every list, wherever it is, in another order. */
function shuffled(json: Json): fc.Arbitrary<Json> {
  if (Array.isArray(json)) {
    const rows = json as readonly Json[];
    return fc
      .shuffledSubarray([...rows.keys()], { minLength: rows.length })
      .chain((order) => fc.tuple(...order.map((at) => shuffled(rows[at] ?? null))));
  }
  if (typeof json !== 'object' || json === null) return fc.constant(json);
  const entries = Object.entries(json).map(([key, value]) =>
    fc.tuple(fc.constant(key), ordered.has(key) ? fc.constant(value) : shuffled(value)),
  );
  return fc.tuple(...entries).map((pairs) => Object.fromEntries(pairs));
}

const inBothOrders = (documents: fc.Arbitrary<Row>): fc.Arbitrary<readonly [Row, Row]> =>
  documents.chain((document) => fc.tuple(fc.constant(document), shuffled(document) as fc.Arbitrary<Row>));

describe('the order of rows never matters', () => {
  it('of a bridge, hashes included', () => {
    const states = bridgeState.map((state) => {
      const lookups = unique(state, 'orchestrator_addresses', 'eth_address', 'sender', 'orchestrator');
      return uniqueNonces(unique(lookups, 'erc20_to_denoms', 'erc20'));
    });
    const property = fc.property(inBothOrders(states), bridgeAbout, ([state, other], about) => {
      expect(deriveBridge(other, about)).toEqual(deriveBridge(state, about));
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('of the cross-chain queue', () => {
    const documents = crosschainDocument.map((document) =>
      unique(unique(document, 'cctxs_missed', 'index'), 'cctxs_pending', 'index'),
    );
    const property = fc.property(inBothOrders(documents), crosschainAbout, ([document, other], about) => {
      expect(deriveCrosschain(other, about)).toEqual(deriveCrosschain(document, about));
    });
    fc.assert(property, { numRuns: 300 });
  });
});
