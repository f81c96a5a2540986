import type { Digits } from './chain/decimal.js';
import { bridgeDialects, crosschainDialects, type Dialect } from './chain/dialect.js';
import { moduleState } from './chain/module-state.js';
import { rateLimiterInput } from './chain/rate-limiter-input.js';
import { WRONG, type Read } from './chain/reading.js';
import { isDocument, isObject, type Problems } from './chain/schema.js';
import type { BridgeEndpoint, CrosschainEndpoint } from './config.js';
import { hashFamilies } from './metrics/bridge/hashes.js';
import type { BridgeInput } from './metrics/bridge/input.js';
import { lengthFamilies } from './metrics/bridge/lengths.js';
import { paramsFamilies } from './metrics/bridge/params.js';
import { progressFamilies } from './metrics/bridge/progress.js';
import { valsetFamilies } from './metrics/bridge/valsets.js';
import type { CrosschainInput } from './metrics/crosschain/input.js';
import { totalFamilies } from './metrics/crosschain/totals.js';
import type { Family } from './metrics/family.js';

/** One of the two documents: where it is asked for, what is read of it and what is told of it. */
export interface Document<Settings, Input> {
  readonly name: DocumentName;
  readonly url: (settings: Settings) => URL;
  /** The input of the families; `undefined` when the JSON is not this document. */
  readonly read: (
    json: unknown,
    settings: Settings,
    height: Digits | undefined,
    problems: Problems,
  ) => Input | undefined;
  /** Hub height the document is of, to notice a node that falls behind itself. */
  readonly heightOf: (input: Input) => Digits | undefined;
  readonly families: readonly Family<Input>[];
}

/** Values of the label `endpoint`. */
export type DocumentName = 'module_state' | 'rate_limiter_input';

const readState = compiled(bridgeDialects, (dialect) => moduleState.compile('state', dialect));
const readInput = compiled(crosschainDialects, (dialect) => rateLimiterInput.compile('', dialect));

export const moduleStateDocument: Document<BridgeEndpoint, BridgeInput> = {
  name: 'module_state',
  url: ({ url, dialect }) => new URL(url + bridgeDialects[dialect].path),
  read: (json, settings, height, problems) => {
    const state = isObject(json) ? json['state'] : undefined;
    if (!isObject(state) || !isDocument(moduleState, state, bridgeDialects[settings.dialect])) return undefined;
    return { state: found(readState[settings.dialect](state, problems)), height };
  },
  heightOf: ({ height }) => height,
  families: [...progressFamilies, ...lengthFamilies, ...valsetFamilies, ...paramsFamilies, ...hashFamilies],
};

export const rateLimiterInputDocument: Document<CrosschainEndpoint, CrosschainInput> = {
  name: 'rate_limiter_input',
  url: ({ url, dialect, window, limit }) => {
    const asked = new URL(url + crosschainDialects[dialect].path);
    if (limit !== undefined) asked.searchParams.set('limit', limit);
    if (window !== undefined) asked.searchParams.set('window', window);
    return asked;
  },
  read: (json, settings, height, problems) => {
    if (!isObject(json) || !isDocument(rateLimiterInput, json, crosschainDialects[settings.dialect])) return undefined;
    return { document: found(readInput[settings.dialect](json, problems)), height };
  },
  // Not every proxy lets the header through; the document carries its own height.
  heightOf: ({ document, height }) => height ?? (document.height === WRONG ? undefined : document.height),
  families: totalFamilies,
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
