import type { Config } from '../../src/config/config.js';
import type { BridgeSettings, CrosschainSettings } from '../../src/config/endpoint-config.js';
import { defaultBridgeSettings, defaultCrosschainSettings } from '../../src/config/endpoint-config.js';
import type { ConfiguredNames, DocumentName, DocumentTypes, StepContext } from '../../src/document-types.js';
import type { Numeral } from '../../src/chain/numeral.js';
import type { Moment } from '../../src/clock.js';
import type { BridgePast } from '../../src/facts/bridge/bridge-input.js';
import type { CrosschainPast } from '../../src/facts/crosschain/crosschain-input.js';
import { documents, type DocumentContext } from '../../src/documents.js';
import type { PollResult } from '../../src/engine/step.js';
import { initialState, isDocument, type LastDocument, type Snapshot } from '../../src/engine/endpoint-state.js';
import { NO_NAMES, pollOf, START, TARGET_OPTIONS } from './polls.js';
import { step } from './steps.js';
import { runToEnd } from '../../src/tasks.js';

/** The hub height of the response header and the configuration beside the settings of the endpoint. */
interface SourceOptions {
  readonly height?: string;
  readonly tokens?: Config['tokens'];
  readonly chains?: ConfiguredNames['chains'];
  readonly validators?: ConfiguredNames['validators'];
  /** From the staking module. */
  readonly names?: ReadonlyMap<string, string>;
  readonly maxSeries?: number;
}

export type BridgeOptions = SourceOptions &
  Partial<BridgeSettings> & {
    /** Of the previous document of the endpoint. */
    readonly past?: BridgePast;
    /** When the document was received, on the monotonic clock. */
    readonly atMs?: number;
    /** As read of the contract. */
    readonly externalHeight?: Numeral;
    readonly isNodeBehind?: boolean;
  };
export type CrosschainOptions = SourceOptions &
  Partial<CrosschainSettings> & {
    /** Of the previous document of the endpoint. */
    readonly past?: CrosschainPast;
    /** When the document was received. */
    readonly at?: Moment;
    readonly isNodeBehind?: boolean;
  };

/** The context of a module_state. The target is `t`. */
export function bridgeContext(options: BridgeOptions = {}): StepContext<'module_state'> {
  const { tokens = [], chains = {}, validators = [], maxSeries = 200, ...others } = options;
  const {
    height: _height,
    names: _names,
    past: _previous,
    externalHeight: _external,
    isNodeBehind: _isBehind,
    atMs: _at,
    ...settings
  } = others;
  return {
    ...TARGET_OPTIONS,
    names: { tokens, chains, validators },
    maxSeries,
    document: 'module_state',
    settings: { ...defaultBridgeSettings, ...settings },
  };
}

/** A poll of a module_state response with this `state`. */
export function bridgePoll(state: unknown, options: BridgeOptions = {}): PollResult<'module_state'> {
  const { height, names, externalHeight, isNodeBehind, atMs = 0 } = options;
  const at = { at: START.at + atMs / 1000, clockOffset: 0 };
  const additionalInput = { ...(names && { names }), externalHeight, isNodeBehind };
  return pollOf(bridgeContext(options), { state }, { height, at, additionalInput });
}

/** The snapshot of a module_state response with this `state`. */
export function bridgeSnapshot(state: unknown, options: BridgeOptions = {}): Snapshot<'module_state'> {
  return snapshotAfter(options.past, bridgePoll(state, options), bridgeContext(options));
}

/** The context of a rate_limiter_input. The target is `t`. */
export function crosschainContext(options: CrosschainOptions = {}): StepContext<'rate_limiter_input'> {
  const { tokens = [], chains = {}, validators = [], maxSeries = 200, ...others } = options;
  const { height: _height, names: _names, past: _previous, at: _at, isNodeBehind: _isBehind, ...settings } = others;
  return {
    ...TARGET_OPTIONS,
    names: { tokens, chains, validators },
    maxSeries,
    document: 'rate_limiter_input',
    settings: { ...defaultCrosschainSettings, ...settings },
  };
}

/** A poll of a rate_limiter_input response. */
export function crosschainPoll(document: unknown, options: CrosschainOptions = {}): PollResult<'rate_limiter_input'> {
  const { height, at = START, isNodeBehind } = options;
  return pollOf(crosschainContext(options), document, { height, at, additionalInput: { isNodeBehind } });
}

/** The snapshot of a rate_limiter_input response. */
export function crosschainSnapshot(document: unknown, options: CrosschainOptions = {}): Snapshot<'rate_limiter_input'> {
  return snapshotAfter(options.past, crosschainPoll(document, options), crosschainContext(options));
}

function snapshotAfter<Name extends DocumentName>(
  past: DocumentTypes[Name]['past'] | undefined,
  poll: PollResult<Name>,
  context: StepContext<Name>,
): Snapshot<Name> {
  const { document } = context;
  const restored = past && { document, identity: [], height: undefined, past, flow: undefined };
  return firstSnapshot(poll, context, restored);
}

/** What the first poll of an endpoint publishes. Throws if it has failed. */
export function firstSnapshot<Name extends DocumentName>(
  poll: PollResult<Name>,
  context: StepContext<Name>,
  restored?: LastDocument<Name>,
): Snapshot<Name> {
  const { outcome } = poll;
  if (!outcome.ok) throw new Error(`${outcome.error.reason}: ${outcome.error.message}`);
  const before = { ...initialState(context, outcome.receivedAt), restored };
  const now = { at: outcome.receivedAt, clockOffset: 0 };
  const snapshot = step(before, poll, { ...context, isSinglePoll: true }, now).lastSuccess?.snapshot;
  if (!isDocument(context.document, snapshot)) throw new Error('a poll that has succeeded has a snapshot');
  return snapshot;
}

/** The settings of a document, and what of its context a test gives. */
type InputContext<Name extends DocumentName> = Pick<DocumentContext<DocumentTypes[Name]>, 'settings'> &
  Partial<Pick<DocumentContext<DocumentTypes[Name]>, 'names' | 'height' | 'at' | 'past' | 'additionalInput'>>;

/** A document as families and the flow read it. Throws if it cannot be read. */
export function inputOf<Name extends DocumentName>(
  document: Name,
  json: object,
  { names = NO_NAMES, at = START.at, height, past, ...context }: InputContext<Name>,
): DocumentTypes[Name]['input'] {
  const { read, input } = documents[document];
  const text = JSON.stringify(json);
  // White space, because a large body of small rows would be refused.
  const body = Buffer.from(text.length < 2 ** 20 ? text : text.padEnd(2 * text.length));
  const result = runToEnd(read(body, { at, clockOffset: 0 }));
  if (!result.ok || result.value === undefined) throw new Error('the document cannot be read');
  return input(result.value, { ...context, names, height, at, clockOffset: 0, past, isSinglePoll: true });
}
