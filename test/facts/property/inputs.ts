import fc from 'fast-check';
import { defaultBridgeSettings, defaultCrosschainSettings } from '../../../src/config/endpoint-config.js';
import { clock, type Instant } from '../../../src/clock.js';
import { documents, type DocumentContext, type DocumentName, type InputOf } from '../../../src/documents.js';
import { asDecimalString } from '../../../src/chain/numeral.js';
import type { BridgeInput } from '../../../src/facts/bridge/input.js';
import type { CrosschainInput } from '../../../src/facts/crosschain/input.js';
import type { JsonObject } from '../../support/json.js';
import { corruptedDocument } from './corruption.js';
import { bridgeOptions, bridgeState, crosschainDocument, crosschainOptions } from './documents.js';

const numRuns = 300;

/** Inputs read from random module_state documents, half of which have missing or invalid fields. */
export function bridgeInputs(seed: number): BridgeInput[] {
  const states = fc.oneof(bridgeState, bridgeState.chain(corruptedDocument));
  return fc
    .sample(fc.tuple(states, bridgeOptions), { seed, numRuns })
    .flatMap(([state, { height, tokens = [], ...settings }]) =>
      inputOf(
        'module_state',
        { state },
        {
          settings: { ...defaultBridgeSettings, ...settings },
          labels: { tokens, chains: {}, validators: [] },
          height: height === undefined ? undefined : asDecimalString(height),
        },
      ),
    );
}

/** Inputs read from random rate_limiter_input documents, half of which have missing or invalid fields. */
export function crosschainInputs(seed: number): CrosschainInput[] {
  const bodies = fc.oneof(crosschainDocument, crosschainDocument.chain(corruptedDocument));
  return fc
    .sample(fc.tuple(bodies, crosschainOptions), { seed, numRuns })
    .flatMap(([document, { chains = {}, at, ...settings }]) =>
      inputOf('rate_limiter_input', document, {
        settings: { ...defaultCrosschainSettings, ...settings },
        labels: { tokens: [], chains, validators: [] },
        height: undefined,
        at,
      }),
    );
}

function inputOf<Name extends DocumentName>(
  document: Name,
  json: JsonObject,
  context: Omit<DocumentContext<Name>, 'at' | 'previous'> & { readonly at?: Instant },
): InputOf[Name][] {
  const { read, input } = documents[document];
  const at = context.at ?? clock();
  const result = read(Buffer.from(JSON.stringify(json)), { at, maxValues: Infinity });
  return result.ok && result.value !== undefined ? [input(result.value, { ...context, at, previous: undefined })] : [];
}
