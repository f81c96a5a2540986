import { asNumeral } from '../../../src/chain/fields.js';
import fc from 'fast-check';
import { defaultBridgeSettings, defaultCrosschainSettings } from '../../../src/config/endpoint-config.js';
import type { BridgeInput } from '../../../src/facts/bridge/bridge-input.js';
import type { CrosschainInput } from '../../../src/facts/crosschain/crosschain-input.js';
import { inputOf } from '../../support/snapshots.js';
import { corruptedDocument } from './corruption.js';
import { bridgeOptions, bridgeState, crosschainDocument, crosschainOptions } from './documents.js';

const numRuns = 300;

/** Inputs read from random module_state documents, half of which have missing or invalid fields. */
export function bridgeInputs(seed: number): BridgeInput[] {
  const states = fc.oneof(bridgeState, bridgeState.chain(corruptedDocument));
  return fc
    .sample(fc.tuple(states, bridgeOptions), { seed, numRuns })
    .map(([state, { height, tokens = [], ...settings }]) =>
      inputOf(
        'module_state',
        { state },
        {
          settings: { ...defaultBridgeSettings, ...settings },
          names: { tokens, chains: {}, validators: [] },
          height: height === undefined ? undefined : asNumeral(height),
        },
      ),
    );
}

/** Inputs read from random rate_limiter_input documents, half of which have missing or invalid fields. */
export function crosschainInputs(seed: number): CrosschainInput[] {
  const bodies = fc.oneof(crosschainDocument, crosschainDocument.chain(corruptedDocument));
  return fc
    .sample(fc.tuple(bodies, crosschainOptions), { seed, numRuns })
    .map(([document, { chains = {}, at, ...settings }]) =>
      inputOf('rate_limiter_input', document, {
        settings: { ...defaultCrosschainSettings, ...settings },
        names: { tokens: [], chains, validators: [] },
        at: at.at,
      }),
    );
}
