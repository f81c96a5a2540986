import { allAliases, bridgeDialects, crosschainDialects, documentPaths, type DocumentPath } from './chain/dialects.js';
import { moduleState } from './chain/module-state.js';
import { rateLimiterInput } from './chain/rate-limiter-input.js';
import type { BridgeSettings, Config, CrosschainSettings } from './config/config.js';
import { INVALID } from './json/field.js';
import type { Numeral } from './json/numeral.js';
import { readDocument, type DocumentResult } from './json/read-document.js';
import { object } from './json/shapes.js';
import { bridgeFamilies } from './metrics/bridge/families.js';
import type { BridgeInput, ValidatorNames } from './metrics/bridge/input.js';
import { crosschainFamilies } from './metrics/crosschain/families.js';
import type { CrosschainInput } from './metrics/crosschain/input.js';
import type { Family } from './metrics/family.js';
import { bridgeItems } from './pending/bridge.js';
import { crosschainItems } from './pending/crosschain.js';
import type { Items } from './pending/items.js';

/** One of the two documents: the paths it is requested from, the shape it is read by, and the families derived from it. */
export interface DocumentDefinition<Settings, Input> {
  readonly name: DocumentName;
  /** The paths to request, in this order, until a node knows one. */
  readonly paths: (settings: Settings) => readonly DocumentPath[];
  /** Appended to the path: empty, or beginning with a question mark. */
  readonly query: (settings: Settings) => string;
  /** Reads a response body. The result has no value when the body is valid JSON with none of the expected fields. */
  readonly read: (body: Buffer, context: DocumentContext<Settings>, budgetBytes: number) => DocumentResult<Input>;
  /** Hub height of the document, to detect a node that falls behind. */
  readonly hubHeight: (input: Input) => Numeral | undefined;
  readonly families: readonly Family<Input>[];
  /** The items behind the gauges, for `/pending`. */
  readonly items: (input: Input) => Items;
}

/** Everything besides the body that families are derived from. */
export interface DocumentContext<Settings> {
  readonly settings: Settings;
  readonly labels: LabelSettings;
  /** Hub height from the response header; `undefined` without one. */
  readonly height: Numeral | undefined;
}

/** Names of tokens, chains and validators, for labels. */
export interface LabelSettings extends Pick<Config, 'tokens'>, Pick<CrosschainInput, 'chains'> {
  readonly validators: ValidatorNames;
}

/** The values of the label `document`. */
export type DocumentName = 'module_state' | 'rate_limiter_input';

const readModuleState = object({ state: moduleState }).compile('', allAliases(bridgeDialects));
const readRateLimiterInput = rateLimiterInput.compile('', allAliases(crosschainDialects));

export const moduleStateDocument: DocumentDefinition<BridgeSettings, BridgeInput> = {
  name: 'module_state',
  paths: ({ dialect }) => documentPaths(bridgeDialects, dialect),
  query: () => '',
  read: (body, { settings, labels, height }, budgetBytes) => {
    const result = readDocument(readModuleState, body, budgetBytes);
    return withInput(result, ({ state }) =>
      state === undefined || state === INVALID
        ? undefined
        : { state, height, settings, tokens: labels.tokens, names: labels.validators },
    );
  },
  hubHeight: ({ height }) => height,
  families: bridgeFamilies,
  items: bridgeItems,
};

export const rateLimiterInputDocument: DocumentDefinition<CrosschainSettings, CrosschainInput> = {
  name: 'rate_limiter_input',
  paths: ({ dialect }) => documentPaths(crosschainDialects, dialect),
  query: ({ window, limit }) => {
    const parameters = new URLSearchParams({ ...(limit !== undefined && { limit }), window });
    return `?${parameters.toString()}`;
  },
  read: (body, { settings, labels, height }, budgetBytes) => {
    const result = readDocument(readRateLimiterInput, body, budgetBytes);
    return withInput(result, (document) => ({ document, height, settings, chains: labels.chains }));
  },
  // Some proxies drop the header; the document has its own height.
  hubHeight: ({ document, height }) => height ?? (document.height === INVALID ? undefined : document.height),
  families: crosschainFamilies,
  items: crosschainItems,
};

function withInput<T, Input>(
  result: DocumentResult<T>,
  toInput: (document: T) => Input | undefined,
): DocumentResult<Input> {
  if (!result.ok) return result;
  return { ...result, value: result.value === undefined ? undefined : toInput(result.value) };
}
