import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzzRuns } from '../../support/fuzz.js';
import type { JsonObject } from '../../support/json.js';
import { deriveBridge, deriveCrosschain, type SeriesValues } from '../derive.js';
import { pathsOf, replace, specPath } from './corruption.js';
import { bridgeOptions, bridgeState, crosschainDocument, crosschainOptions } from './documents.js';

/* Right or absent: a field that the node leaves out withdraws series and changes none. */

/** Fields that select the labels of a series or the rows that it counts. Without one, the label is empty or another one. */
const LABELS =
  /^(?:attestations\[\]\.observed|erc20_to_denoms.*|external_blacklist\[\]|orchestrator_addresses\[\]\.\w+|params|params\.(?:admins\[\]|bridge_id|hub_coin_\w+)|cctxs_\w+\[\]\.(?:cctx_status(?:\.status)?|inbound_params(?:\.sender_chain_id)?|outbound_params(?:\[\])?(?:\.receiver_chainId|\.coin_type)?))$/;

/**
 * Families that use an optional field when it is there: the hashes have the keys of the document, without the estimated external height no
 * batch has timed out, without the window every validator set is open. A claim without its value is invalid, and the problems that read it are
 * exported as not judged.
 */
const WITH_OPTIONAL_FIELDS =
  /^bridge_(?:params_hash|params_info|batch_next_timeout_height|(?:oldest_)?relayable_batch\w*|orchestrator_missing_valset_confirms|problem_unjudged_start_timestamp_seconds)\b/;

/** The series that have another value than before. */
function changedValues(before: SeriesValues, after: SeriesValues): string[] {
  return Object.keys(after).filter((series) => before[series] !== after[series] && !WITH_OPTIONAL_FIELDS.test(series));
}

/** A document, and the path of one of its fields that is no label. */
const withPath = (documents: fc.Arbitrary<JsonObject>) =>
  documents.chain((document) => {
    const paths = pathsOf(document).filter((path) => !LABELS.test(specPath('', path)));
    return fc.record({ document: fc.constant(document), path: fc.constantFrom(...paths) });
  });

const numRuns = fuzzRuns(30);

describe('a missing field', () => {
  it('withdraws series of module_state and changes none', () => {
    const property = fc.property(withPath(bridgeState), bridgeOptions, ({ document, path }, options) => {
      const after = replace(document, path, undefined);
      expect(changedValues(deriveBridge(document, options).values, deriveBridge(after, options).values)).toEqual([]);
    });
    fc.assert(property, { numRuns });
  });

  it('withdraws series of rate_limiter_input and changes none', () => {
    const property = fc.property(withPath(crosschainDocument), crosschainOptions, ({ document, path }, options) => {
      const after = replace(document, path, undefined);
      // A transaction without a time of creation is not ignored by its age.
      const settings = { ...options, ignore: { indexes: [], older_than: 0 } };
      const before = deriveCrosschain(document, settings).values;
      expect(changedValues(before, deriveCrosschain(after, settings).values)).toEqual([]);
    });
    fc.assert(property, { numRuns });
  });
});
