import type { Digits } from './chain/decimal.js';
import { bridgeDialects, crosschainDialects, type Dialect } from './chain/dialect.js';
import { moduleState } from './chain/module-state.js';
import { rateLimiterInput } from './chain/rate-limiter-input.js';
import { WRONG, type Read } from './chain/reading.js';
import { isDocument, isObject, type Problems } from './chain/schema.js';
import type { BridgeSettings, Config, CrosschainSettings } from './config.js';
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

/** One of the two documents: where it is asked for, what is read of it and what is told of it. */
export interface Document<Settings, Input> {
  readonly name: DocumentName;
  /** Path and query, to append to the base address of the node. */
  readonly path: (settings: Settings) => string;
  /** The input of the families; `undefined` when the JSON is not this document. */
  readonly read: (json: unknown, about: About<Settings>, problems: Problems) => Input | undefined;
  /** Hub height the document is of, to notice a node that falls behind itself. */
  readonly heightOf: (input: Input) => Digits | undefined;
  readonly families: readonly Family<Input>[];
}

/** What is known of a document beside its body. */
export interface About<Settings> {
  readonly settings: Settings;
  readonly labels: LabelSettings;
  /** Hub height of the answer, from its header. */
  readonly height: Digits | undefined;
}

/** What the configuration adds for people to read. */
export type LabelSettings = Pick<Config, 'tokens' | 'chains'>;

/** Values of the label `endpoint`. */
export type DocumentName = 'module_state' | 'rate_limiter_input';

const readState = compiled(bridgeDialects, (dialect) => moduleState.compile('state', dialect));
const readInput = compiled(crosschainDialects, (dialect) => rateLimiterInput.compile('', dialect));

export const moduleStateDocument: Document<BridgeSettings, BridgeInput> = {
  name: 'module_state',
  path: ({ dialect }) => bridgeDialects[dialect].path,
  read: (json, { settings, labels, height }, problems) => {
    const state = isObject(json) ? json['state'] : undefined;
    if (!isObject(state) || !isDocument(moduleState, state, bridgeDialects[settings.dialect])) return undefined;
    return { state: found(readState[settings.dialect](state, problems)), height, settings, tokens: labels.tokens };
  },
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
  read: (json, { settings, labels, height }, problems) => {
    if (!isObject(json) || !isDocument(rateLimiterInput, json, crosschainDialects[settings.dialect])) return undefined;
    return { document: found(readInput[settings.dialect](json, problems)), height, settings, chains: labels.chains };
  },
  // Not every proxy lets the header through; the document carries its own height.
  heightOf: ({ document, height }) => height ?? (document.height === WRONG ? undefined : document.height),
  families: [...totalFamilies, ...breakdownFamilies, ...rateLimitFamilies, ...cctxAnomalyFamilies],
};

/** Readers are built once for each dialect. */
function compiled<Name extends string, R>(
  dialects: Readonly<Record<Name, Dialect>>,
  compile: (dialect: Dialect) => R,
): Readonly<Record<Name, R>> {
  const entries = Object.entries<Dialect>(dialects).map(([name, dialect]) => [name, compile(dialect)]);
  return Object.fromEntries(entries) as Record<Name, R>;
}

function found<T>(read: Read<T>): T {
  if (read === undefined || read === WRONG) throw new Error('an object was read as something else');
  return read;
}
