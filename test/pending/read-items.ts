import { processBody, type DocumentSource, type Snapshot } from '../../src/poll/poll.js';
import type { BridgeSettings, Config, CrosschainSettings } from '../../src/config/config.js';
import { defaultBridgeSettings, defaultCrosschainSettings } from '../../src/config/schema.js';
import type { BridgeItems, CrosschainItems, ReadableList, ItemList } from '../../src/pending/items.js';
import { asDecimalString } from '../../src/json/numeral.js';

interface About {
  readonly height?: string;
  readonly tokens?: Config['tokens'];
  readonly chains?: Config['chains'];
}

/** The items of a `state`, as a poll would read them. */
export function bridgeItemsOf(state: unknown, about: About & Partial<BridgeSettings> = {}): BridgeItems {
  const { height, tokens = [], chains = {}, ...settings } = about;
  const { items } = snapshotOf(
    { ...base({ tokens, chains }), document: 'module_state', settings: { ...defaultBridgeSettings, ...settings } },
    { state },
    height,
  );
  if (items.document !== 'module_state') throw new Error('items of another document');
  return items;
}

/** The items of a rate limiter's input, as a poll would read them. */
export function crosschainItemsOf(document: unknown, about: About & Partial<CrosschainSettings> = {}): CrosschainItems {
  const { height, tokens = [], chains = {}, ...settings } = about;
  const { items } = snapshotOf(
    {
      ...base({ tokens, chains }),
      document: 'rate_limiter_input',
      settings: { ...defaultCrosschainSettings, ...settings },
    },
    document,
    height,
  );
  if (items.document !== 'rate_limiter_input') throw new Error('items of another document');
  return items;
}

export function snapshotOf(reading: DocumentSource, document: unknown, height: string | undefined): Snapshot {
  const body = Buffer.from(JSON.stringify(document));
  const { outcome: result } = processBody(
    reading,
    'test',
    body,
    height === undefined ? undefined : asDecimalString(height),
  );
  if (!result.ok) throw new Error(`${result.error.reason}: ${result.error.message}`);
  return result;
}

/** A section that can be read; a test that expects one fails otherwise. */
export function readable<Row>(section: ItemList<Row>): ReadableList<Row> {
  if (!section.readable) throw new Error('the section cannot be read');
  return section;
}

function base(labels: DocumentSource['labels']): Omit<DocumentSource, 'document' | 'settings'> {
  return { target: 't', labels, maxSeries: 200 };
}
