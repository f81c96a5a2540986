import { asNumeral } from '../../src/chain/fields.js';
import { describe, expect, it } from 'vitest';
import { defaultBridgeSettings, defaultCrosschainSettings } from '../../src/config/endpoint-config.js';
import { bridgeItems } from '../../src/items/bridge-items.js';
import { crosschainItems } from '../../src/items/crosschain-items.js';
import { bridgeHeadline, crosschainHeadline, type HeadlineNumber } from '../../src/items/headline.js';
import { MAX_ROWS, type ItemList } from '../../src/items/item-list.js';
import type { BridgeInput } from '../../src/facts/bridge/bridge-input.js';
import { pendingAttestations } from '../../src/facts/bridge/events.js';
import { consideredCctxs, distinctCctxs, groupByChain, listNames } from '../../src/facts/crosschain/cctxs.js';
import { orNull } from '../../src/facts/required-fields.js';
import type { CrosschainInput } from '../../src/facts/crosschain/crosschain-input.js';
import { createModel } from '../../src/simulator/model.js';
import { scenarioNames } from '../../src/simulator/scenarios.js';
import { HOUR_MS } from '../../src/units.js';
import { bridgeInputs, crosschainInputs } from '../facts/property/inputs.js';
import { bridgeSnapshot, inputOf } from '../support/snapshots.js';
import { batch, idleState } from './bridge-state.js';

/* A number of the headline is that of the rows of its list, and of the tables beside it, before they are cut. */

type Counts = Readonly<Record<string, number | undefined>>;

const countOf = (numbers: readonly HeadlineNumber[], list: HeadlineNumber['list']): number | undefined => {
  const count = numbers.find((number) => number.list === list)?.count;
  return count === null || count === undefined ? undefined : Number(count);
};

const totalOf = (list: ItemList<unknown>): number | undefined => (list.readable ? list.total : undefined);

/** A sum over all rows; `undefined` if a value is unknown or the list is cut. */
function sumOf<Row>(list: ItemList<Row>, read: (row: Row) => number | null): number | undefined {
  if (!list.readable || list.total > MAX_ROWS) return undefined;
  return list.rows.reduce<number | undefined>((sum, row) => {
    const value = read(row);
    return sum === undefined || value === null ? undefined : sum + value;
  }, 0);
}

/** What has to be equal: the number of the headline, then those of the lists. */
function bridgeCounts(input: BridgeInput): Readonly<Record<string, Counts>> {
  const [items, { numbers }] = [bridgeItems(input), bridgeHeadline(input)];
  return {
    transfers: {
      headline: countOf(numbers, 'tokens'),
      transfers: totalOf(items.transfers),
      tokens: sumOf(items.tokens, ({ queued, batched }) => queued + batched),
    },
    valsets: { headline: countOf(numbers, 'valsets'), valsets: totalOf(items.valsets) },
  };
}

function crosschainCounts(input: CrosschainInput): Readonly<Record<string, Counts>> {
  const [items, { numbers }] = [crosschainItems(input, undefined), crosschainHeadline(input)];
  return Object.fromEntries(
    (['missed', 'pending'] as const).map((list) => {
      // A transaction whose chain cannot be read, or that is ignored, is not in the table of chains.
      const isReadable = listNames.every((name) => orNull(() => groupByChain(consideredCctxs[name](input))) !== null);
      const isAll = isReadable && consideredCctxs[list](input).length === distinctCctxs[list](input).length;
      return [
        list,
        {
          headline: countOf(numbers, list),
          rows: totalOf(items[list]),
          ...(isAll && { chains: sumOf(items.chains, (chain) => chain[list]) }),
        },
      ];
    }),
  );
}

/** Those of which two are known and differ. */
const differences = (all: Readonly<Record<string, Counts>>): readonly [string, Counts][] =>
  Object.entries(all).filter(([, counts]) => new Set(Object.values(counts).filter((n) => n !== undefined)).size > 1);

describe('the numbers of the headline', () => {
  it.each(scenarioNames)('are those of the lists in the scenario %s', (scenario) => {
    const model = createModel({ seed: 1, scenario, blockTimeMs: 20_000, startTime: 1_790_000_000 });
    model.advanceTime(2 * HOUR_MS);
    const bridge = inputOf('module_state', model.moduleState(), {
      settings: defaultBridgeSettings,
      height: asNumeral(String(model.height)),
    });
    const crosschain = inputOf('rate_limiter_input', model.rateLimiterInput({ window: 500n }), {
      settings: defaultCrosschainSettings,
    });
    const counts = { ...bridgeCounts(bridge), ...crosschainCounts(crosschain) };
    expect(differences(counts)).toEqual([]);
    const events = new Set(pendingAttestations(bridge).map(({ nonce }) => nonce));
    expect(countOf(bridgeHeadline(bridge).numbers, 'claims'), 'events').toBe(events.size);
    expect(Object.values(counts).flatMap((each) => Object.values(each))).toContainEqual(expect.any(Number));
  });

  it('are there when the height of a batch cannot be read that an own validator has not signed', () => {
    const state = { ...idleState, batches: [batch('1', '600', '100'), batch('2', '600', 'x')] };
    const { headline } = bridgeSnapshot(state, { height: '1000', watch: ['0xa1'], block_time: 2000 });
    expect(headline?.numbers[0]?.count).toBe(4);
    expect(headline).toMatchObject({ validators: [{ missing: 'batches 1 to 2', lateSeconds: 1800 }] });
  });

  it('are those of the lists in random documents', () => {
    expect(bridgeInputs(71).flatMap((input) => differences(bridgeCounts(input)))).toEqual([]);
    expect(crosschainInputs(72).flatMap((input) => differences(crosschainCounts(input)))).toEqual([]);
  });
});
