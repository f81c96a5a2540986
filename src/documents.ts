import type { Numeral } from './json/decimal.js';
import { bridgeDialects, crosschainDialects, type Dialect } from './chain/dialects.js';
import { moduleState } from './chain/module-state.js';
import { rateLimiterInput } from './chain/rate-limiter-input.js';
import { readDocument, type DocumentResult, type Places } from './json/read-document.js';
import { INVALID } from './json/field.js';
import { object, recognized } from './json/object-shape.js';
import type { Reader, Shape } from './json/shape.js';
import type { BridgeSettings, Config, CrosschainSettings } from './config/config.js';
import { anomalyFamilies } from './metrics/bridge/anomalies.js';
import { batchFamilies } from './metrics/bridge/batches.js';
import { driftFamilies } from './metrics/bridge/drift.js';
import { eventFamilies } from './metrics/bridge/events.js';
import { hashFamilies } from './metrics/bridge/hashes.js';
import type { BridgeInput } from './metrics/bridge/input.js';
import { lengthFamilies } from './metrics/bridge/lengths.js';
import { orchestratorFamilies } from './metrics/bridge/orchestrators.js';
import { paramsFamilies } from './metrics/bridge/params.js';
import { progressFamilies } from './metrics/bridge/progress.js';
import { signingFamilies } from './metrics/bridge/signing.js';
import { tokenFamilies } from './metrics/bridge/tokens.js';
import { valsetFamilies } from './metrics/bridge/valsets.js';
import { anomalyFamilies as cctxAnomalyFamilies } from './metrics/crosschain/anomalies.js';
import { breakdownFamilies } from './metrics/crosschain/breakdown.js';
import type { CrosschainInput } from './metrics/crosschain/input.js';
import { rateLimitFamilies } from './metrics/crosschain/rate-limit.js';
import { totalFamilies } from './metrics/crosschain/totals.js';
import type { Family } from './metrics/family.js';
import { bridgeItems } from './pending/bridge.js';
import { crosschainItems } from './pending/crosschain.js';
import type { Items } from './pending/items.js';

/** One of the two documents: where it is asked for, what is read of it and what is told of it. */
export interface Document<Settings, Input> {
  readonly name: DocumentName;
  /** Path and query, to append to the base address of the node. */
  readonly path: (settings: Settings) => string;
  /** The input of the families; `undefined` when the body is JSON and not this document. */
  readonly read: (body: Buffer, about: DocumentContext<Settings>) => DocumentResult<Input>;
  /** Hub height the document is of, to notice a node that falls behind itself. */
  readonly heightOf: (input: Input) => Numeral | undefined;
  readonly families: readonly Family<Input>[];
  /** What is behind the families, for `/pending`. */
  readonly items: (input: Input) => Items;
}

/** What is known of a document beside its body. */
export interface DocumentContext<Settings> {
  readonly settings: Settings;
  readonly labels: LabelSettings;
  /** Hub height of the answer, from its header. */
  readonly height: Numeral | undefined;
}

/** What the configuration adds for people to read. */
export type LabelSettings = Pick<Config, 'tokens' | 'chains'>;

/** Values of the label `endpoint`. */
export type DocumentName = 'module_state' | 'rate_limiter_input';

const readState = compiled(bridgeDialects, object({ state: recognized(moduleState) }));
const readInput = compiled(crosschainDialects, recognized(rateLimiterInput));

export const moduleStateDocument: Document<BridgeSettings, BridgeInput> = {
  name: 'module_state',
  path: ({ dialect }) => bridgeDialects[dialect].path,
  read: (body, { settings, labels, height }) =>
    mapped(readDocument(readState[settings.dialect], body), ({ state }, places) =>
      state === undefined || state === INVALID ? undefined : { state, places, height, settings, tokens: labels.tokens },
    ),
  heightOf: ({ height }) => height,
  families: [
    ...progressFamilies,
    ...lengthFamilies,
    ...valsetFamilies,
    ...signingFamilies,
    ...orchestratorFamilies,
    ...batchFamilies,
    ...tokenFamilies,
    ...eventFamilies,
    ...driftFamilies,
    ...anomalyFamilies,
    ...paramsFamilies,
    ...hashFamilies,
  ],
  items: bridgeItems,
};

export const rateLimiterInputDocument: Document<CrosschainSettings, CrosschainInput> = {
  name: 'rate_limiter_input',
  path: ({ dialect, window, limit }) => {
    const query = new URLSearchParams({
      ...(limit !== undefined && { limit }),
      ...(window !== undefined && { window }),
    });
    return crosschainDialects[dialect].path + (query.size > 0 ? `?${query.toString()}` : '');
  },
  read: (body, { settings, labels, height }) =>
    mapped(readDocument(readInput[settings.dialect], body), (document, places) => ({
      document,
      places,
      height,
      settings,
      chains: labels.chains,
    })),
  // Not every proxy lets the header through; the document carries its own height.
  heightOf: ({ document, height }) => height ?? (document.height === INVALID ? undefined : document.height),
  families: [...totalFamilies, ...breakdownFamilies, ...rateLimitFamilies, ...cctxAnomalyFamilies],
  items: crosschainItems,
};

/** Readers are built once for each dialect. */
function compiled<Name extends string, T>(
  dialects: Readonly<Record<Name, Dialect>>,
  shape: Shape<T>,
): Readonly<Record<Name, Reader<T>>> {
  const entries = Object.entries<Dialect>(dialects).map(([name, dialect]) => [name, shape.compile('', dialect)]);
  return Object.fromEntries(entries) as Record<Name, Reader<T>>;
}

function mapped<T, Input>(
  result: DocumentResult<T>,
  toInput: (document: T, places: Places) => Input | undefined,
): DocumentResult<Input> {
  if (!result.ok) return result;
  return { ...result, document: result.document === undefined ? undefined : toInput(result.document, result.places) };
}
