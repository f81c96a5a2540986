import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../support/json.js';
import { deriveBridge, deriveCrosschain } from '../derive.js';
import { bridgeOptions, bridgeState, crosschainDocument, crosschainOptions } from './documents.js';
import { fuzzRuns } from '../../support/fuzz.js';

/** Removes rows that repeat the value of a key, because lookups use the first row. */
function withUniqueRows(document: JsonObject, list: string, ...keys: readonly string[]): JsonObject {
  const rows = document[list] as readonly JsonObject[];
  const normalized = (row: JsonObject, key: string): string => JSON.stringify(row[key]).toLowerCase();
  const kept = rows.filter((row, index) =>
    keys.every((key) => rows.slice(0, index).every((earlier) => normalized(earlier, key) !== normalized(row, key))),
  );
  return { ...document, [list]: kept };
}

/** Removes validator sets that repeat a nonce, so that the newest one is unambiguous. */
function withUniqueNonces(state: JsonObject): JsonObject {
  const rows = state['valsets'] as readonly JsonObject[];
  const nonce = (row: JsonObject | undefined): number => Number(row?.['nonce']);
  return {
    ...state,
    valsets: rows.filter((row, index) => rows.findIndex((other) => nonce(other) === nonce(row)) === index),
  };
}

/** Lists whose order is significant: the last outbound is the current one. */
const orderedLists = new Set(['outbound_params']);

/** Shuffles all nested lists. */
function shuffled(json: Json): fc.Arbitrary<Json> {
  if (Array.isArray(json)) {
    const rows = json as readonly Json[];
    return fc
      .shuffledSubarray([...rows.keys()], { minLength: rows.length })
      .chain((order) => fc.tuple(...order.map((index) => shuffled(rows[index] ?? null))));
  }
  if (typeof json !== 'object' || json === null) return fc.constant(json);
  const entries = Object.entries(json).map(([key, value]) =>
    fc.tuple(fc.constant(key), orderedLists.has(key) ? fc.constant(value) : shuffled(value)),
  );
  return fc.tuple(...entries).map((pairs) => Object.fromEntries(pairs));
}

/** A document and a shuffled copy. */
const withShuffledCopy = (documents: fc.Arbitrary<JsonObject>): fc.Arbitrary<readonly [JsonObject, JsonObject]> =>
  documents.chain((document) => fc.tuple(fc.constant(document), shuffled(document) as fc.Arbitrary<JsonObject>));

/** Series per family: with more tokens, chains and members, and with fewer. */
const limits = fc.constantFrom(2, 200);

describe('the order of rows', () => {
  it('does not affect the metrics of module_state, including hashes', () => {
    const states = bridgeState.map((state) => {
      const lookups = withUniqueRows(state, 'orchestrator_addresses', 'eth_address', 'sender', 'orchestrator');
      return withUniqueNonces(withUniqueRows(lookups, 'erc20_to_denoms', 'erc20'));
    });
    const property = fc.property(withShuffledCopy(states), bridgeOptions, limits, ([state, copy], own, maxSeries) => {
      const options = { ...own, maxSeries };
      expect(deriveBridge(copy, options)).toEqual(deriveBridge(state, options));
    });
    fc.assert(property, { numRuns: fuzzRuns(20) });
  });

  it('does not affect the metrics of rate_limiter_input', () => {
    const documents = crosschainDocument.map((document) =>
      withUniqueRows(withUniqueRows(document, 'cctxs_missed', 'index'), 'cctxs_pending', 'index'),
    );
    const pairs = withShuffledCopy(documents);
    const property = fc.property(pairs, crosschainOptions, limits, ([document, copy], own, maxSeries) => {
      const options = { ...own, maxSeries };
      expect(deriveCrosschain(copy, options)).toEqual(deriveCrosschain(document, options));
    });
    fc.assert(property, { numRuns: fuzzRuns(20) });
  });
});
