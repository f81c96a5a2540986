import type { TokenConfig } from '../config/config.js';
import type { BridgeInput } from '../metrics/bridge/input.js';
import { memoize } from '../metrics/memoize.js';

/** The configured tokens by contract. */
export const configuredTokens = memoize(
  (input: Pick<BridgeInput, 'tokens'>): ReadonlyMap<string, TokenConfig> =>
    new Map(input.tokens.map((token) => [token.contract, token])),
);
