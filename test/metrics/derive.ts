import { processBody, type DocumentSource, type Snapshot } from '../../src/poll/poll.js';
import type { BridgeSettings, Config, CrosschainSettings } from '../../src/config/config.js';
import { defaultBridgeSettings, defaultCrosschainSettings } from '../../src/config/schema.js';
import { seriesOf } from '../support/exposition-text.js';
import { asDecimalString } from '../../src/json/numeral.js';

interface About {
  readonly height?: string;
  readonly tokens?: Config['tokens'];
  readonly chains?: Config['chains'];
  readonly maxSeries?: number;
}

export type Values = Readonly<Record<string, number>>;

/** What is told of a document: the series without the label `target`, as they stand in the exposition, with their values. */
export interface Derived {
  readonly values: Values;
  readonly invalid: Values;
  readonly unknown: Values;
  /** Series not shown by themselves, of the labelled families that are there. */
  readonly dropped: Values;
}

/** Derives the bridge families from a `state`, as a poll would. */
export function deriveBridge(state: unknown, about: About & Partial<BridgeSettings> = {}): Derived {
  const { height, tokens = [], chains = {}, maxSeries = 200, ...settings } = about;
  const reading: DocumentSource = {
    target: 't',
    labels: { tokens, chains },
    maxSeries,
    document: 'module_state',
    settings: { ...defaultBridgeSettings, ...settings },
  };
  return derive(reading, { state }, height);
}

/** Derives the cross-chain families from a document, as a poll would. */
export function deriveCrosschain(document: unknown, about: About & Partial<CrosschainSettings> = {}): Derived {
  const { height, tokens = [], chains = {}, maxSeries = 200, ...settings } = about;
  const reading: DocumentSource = {
    target: 't',
    labels: { tokens, chains },
    maxSeries,
    document: 'rate_limiter_input',
    settings: { ...defaultCrosschainSettings, ...settings },
  };
  return derive(reading, document, height);
}

function derive(reading: DocumentSource, document: unknown, height: string | undefined): Derived {
  const body = Buffer.from(JSON.stringify(document));
  const { outcome: result } = processBody(
    reading,
    'test',
    body,
    height === undefined ? undefined : asDecimalString(height),
  );
  if (!result.ok) throw new Error(`${result.error.reason}: ${result.error.message}`);
  return {
    values: valuesOf(result),
    invalid: Object.fromEntries(result.problems.invalid),
    unknown: Object.fromEntries(result.problems.unknown),
    dropped: Object.fromEntries(
      result.families.flatMap(({ name, dropped }) => (dropped === undefined ? [] : [[name, dropped]])),
    ),
  };
}

function valuesOf({ families }: Snapshot): Values {
  const series = seriesOf(families.map(({ lines }) => lines).join(''));
  const values = new Map<string, number>();
  for (const { name, labels, value } of series) {
    const own = labels.replace(/^target="t",?/, '');
    const key = own === '' ? name : `${name}{${own}}`;
    if (values.has(key)) throw new Error(`duplicate series ${key}`);
    values.set(key, value);
  }
  return Object.fromEntries(values);
}
