import type { Config } from '../../src/config/config.js';
import type { BridgeSettings, CrosschainSettings } from '../../src/config/endpoint-config.js';
import { defaultBridgeSettings, defaultCrosschainSettings } from '../../src/config/endpoint-config.js';
import type { DocumentName, LabelSettings } from '../../src/documents.js';
import type { ValidatorNames } from '../../src/metrics/bridge/input.js';
import type { Instant } from '../../src/clock.js';
import type { BridgeObservations } from '../../src/metrics/bridge/observations.js';
import type { CrosschainObservations } from '../../src/metrics/crosschain/observations.js';
import { asDecimalString } from '../../src/json/numeral.js';
import { decodeDocument } from '../../src/poll/decode.js';
import type { DecodeOptions, Snapshot } from '../../src/poll/poll.js';

/** The hub height of the response header and the configuration beside the settings of the endpoint. */
interface SourceOptions {
  readonly height?: string;
  readonly tokens?: Config['tokens'];
  readonly chains?: LabelSettings['chains'];
  readonly validators?: ValidatorNames;
  readonly maxSeries?: number;
}

const NO_NAMES: ValidatorNames = { configured: [], staking: new Map() };

export type BridgeOptions = SourceOptions &
  Partial<BridgeSettings> & {
    /** Of the previous document of the endpoint. */
    readonly previous?: BridgeObservations;
    /** When the document was received, on the monotonic clock. */
    readonly atMs?: number;
  };
export type CrosschainOptions = SourceOptions &
  Partial<CrosschainSettings> & {
    /** Of the previous document of the endpoint. */
    readonly previous?: CrosschainObservations;
    /** When the document was received. */
    readonly at?: Instant;
  };

/** The default of `poll.stale_after`. */
const STALE_AFTER_MS = 300_000;

/** When a document is received if the test does not tell. */
const START: Instant = { epochSeconds: 1_700_000_000, monotonicMs: 0 };

/** The snapshot of a module_state response with this `state`. The target is `t`. */
export function bridgeSnapshot(state: unknown, options: BridgeOptions = {}): Snapshot<'module_state'> {
  const {
    height,
    tokens = [],
    chains = {},
    validators = NO_NAMES,
    maxSeries = 200,
    previous,
    atMs = 0,
    ...settings
  } = options;
  const source: DecodeOptions<'module_state'> = {
    target: 't',
    labels: { tokens, chains, validators },
    maxSeries,
    staleAfterMs: STALE_AFTER_MS,
    document: 'module_state',
    settings: { ...defaultBridgeSettings, ...settings },
    ...(previous && { previous }),
  };
  return readSnapshot<'module_state'>(source, { state }, height, {
    epochSeconds: START.epochSeconds + atMs / 1000,
    monotonicMs: atMs,
  });
}

/** The snapshot of a rate_limiter_input response. The target is `t`. */
export function crosschainSnapshot(document: unknown, options: CrosschainOptions = {}): Snapshot<'rate_limiter_input'> {
  const {
    height,
    at,
    previous,
    tokens = [],
    chains = {},
    validators = NO_NAMES,
    maxSeries = 200,
    ...settings
  } = options;
  const source: DecodeOptions<'rate_limiter_input'> = {
    target: 't',
    labels: { tokens, chains, validators },
    maxSeries,
    staleAfterMs: STALE_AFTER_MS,
    document: 'rate_limiter_input',
    settings: { ...defaultCrosschainSettings, ...settings },
    ...(previous && { previous }),
  };
  return readSnapshot<'rate_limiter_input'>(source, document, height, at);
}

/** Reads a response body as a poll does. Throws if the poll fails. */
export function readSnapshot<Name extends DocumentName>(
  source: DecodeOptions<Name>,
  body: unknown,
  height?: string,
  at = START,
): Snapshot<Name> {
  const bytes = Buffer.from(JSON.stringify(body));
  const { outcome: result } = decodeDocument<Name>(
    source,
    'test',
    bytes,
    height === undefined ? undefined : asDecimalString(height),
    at,
  );
  if (!result.ok) throw new Error(`${result.error.reason}: ${result.error.message}`);
  return result;
}
