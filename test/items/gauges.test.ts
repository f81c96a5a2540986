import { describe, expect, it } from 'vitest';
import { documents } from '../../src/documents.js';
import { bridgeItems, type BridgeItems } from '../../src/items/bridge-items.js';
import type { ItemList } from '../../src/items/item-list.js';
import { bridgeHeadline, type BridgeHeadline } from '../../src/items/headline.js';
import type { Family } from '../../src/metrics/family.js';
import { renderFamilies } from '../../src/metrics/text-format.js';
import { labelsOf, seriesOf } from '../support/exposition-text.js';
import { bridgeInputs, crosschainInputs } from '../facts/property/inputs.js';
import { type CrosschainItems, crosschainItems } from '../../src/items/crosschain-items.js';

/*
 * Every number of a row or above a table equals the gauge of it. Of some numbers, one of both can be unknown, because a gauge also reads what
 * belongs to other rows. If both are known, they are equal.
 */

/** The series of the numbers of the status page, but for those in two series, and those that leave out ignored transactions. */
const NUMBERS: Readonly<Record<string, string>> = {
  claims: 'bridge_pending_events',
  valsets: 'bridge_unrelayed_valsets',
};

type Value = number | string | null | undefined;

/** The numbers of the items of one document, by the series that has the same one. */
type Numbers = readonly (readonly [series: string, value: Value])[];

const known = (values: readonly Value[]): readonly number[] | undefined =>
  values.every((value) => value !== null && value !== undefined) ? values.map((value) => Number(value)) : undefined;

const lowestOf = (values: readonly Value[]): number | undefined => {
  const all = known(values);
  return all === undefined || all.length === 0 ? undefined : Math.min(...all);
};

const totalOf = (items: ItemList<unknown>): number | undefined => (items.readable ? items.total : undefined);

function bridgeNumbers(items: BridgeItems, headline: BridgeHeadline): Numbers {
  const batches = items.batches.readable ? items.batches.rows : undefined;
  const claims = items.claims.readable ? items.claims.rows : undefined;
  const violations = (kind: string): number | undefined =>
    claims?.filter(({ violation }) => violation === kind).length || undefined;
  const tokens = items.tokens.readable ? items.tokens.rows : [];
  return [
    ['bridge_height', items.hubHeight],
    ['bridge_last_observed_nonce', items.lastObservedNonce],
    ['bridge_block_time_seconds', items.hubBlockTime?.seconds],
    ...headline.numbers.flatMap(({ list, count }): Numbers => (NUMBERS[list] ? [[NUMBERS[list], count]] : [])),
    ['bridge_batches', totalOf(items.batches)],
    ['bridge_batch_min_signed_power_ratio', batches && lowestOf(batches.map((batch) => batch.signedPowerRatio))],
    ['bridge_integrity_violations{kind="valset_claim_mismatch"}', violations('valset_claim_mismatch')],
    ['bridge_integrity_violations{kind="withdraw_claim_without_batch"}', violations('withdraw_claim_without_batch')],
    ['bridge_unrelayed_valsets', totalOf(items.valsets)],
    [
      'bridge_unrelayed_valset_min_signed_power_ratio',
      items.valsets.readable ? lowestOf(items.valsets.rows.map((valset) => valset.signedPowerRatio)) : undefined,
    ],
    ...tokens.flatMap(({ token, queued, queuedAmount, batched, batchedAmount }): Numbers => {
      const labels = `{token_contract="${token.contract ?? ''}"}`;
      return [
        [`bridge_token_unbatched_transfers${labels}`, queued],
        [`bridge_token_batched_transfers${labels}`, batched],
        [`bridge_token_unbatched_amount${labels}`, queuedAmount.amount],
        [`bridge_token_batched_amount${labels}`, batchedAmount.amount],
      ];
    }),
    ...items.validators.flatMap((own): Numbers => {
      if (own.externalAddress === null) return [];
      const labels = `{external_address="${own.externalAddress}"}`;
      return [[`bridge_orchestrator_power_ratio${labels}`, own.powerRatio]];
    }),
  ];
}

function crosschainNumbers(items: CrosschainItems): Numbers {
  const seconds = (time: string | null = null): number | null => (time === null ? null : Date.parse(time) / 1000);
  return [
    ['crosschain_height', items.height],
    ...(items.chains.readable ? items.chains.rows : []).flatMap((chain): Numbers => {
      const labels = `{chain_id="${chain.chainId}"}`;
      const ofPending = `{list="pending",chain_id="${chain.chainId}"}`;
      return [
        [`crosschain_lowest_pending_nonce${labels}`, chain.lowestPendingNonce],
        [`crosschain_lowest_missed_nonce${labels}`, chain.lowestMissedNonce],
        [`crosschain_cctxs${ofPending}`, chain.pending],
        [`crosschain_cctxs{list="missed",chain_id="${chain.chainId}"}`, chain.missed],
        [`crosschain_cctxs_without_hash${ofPending}`, chain.withoutHash],
        [`crosschain_oldest_cctx_created_timestamp_seconds${ofPending}`, seconds(chain.oldestCreatedAt)],
      ];
    }),
  ];
}

/** How several samples of a family become the one number of the page. */
const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** The value of a series, of which only some labels are given. */
function gaugeReader<Input>(families: readonly Family<Input>[], input: Input): (series: string) => number | undefined {
  const rendered = new Map(renderFamilies(families, input, '', 1000).map((family) => [family.name, family]));
  return (series) => {
    const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/s.exec(series) ?? [];
    const wanted = Array.from(labels.matchAll(/(\w+)="([^"]*)"/g), ([, label = '', value = '']) => ({ label, value }));
    const family = rendered.get(name);
    const found = seriesOf(family?.text ?? '').filter((other) =>
      wanted.every(({ label, value }) => labelsOf(other)[label] === value),
    );
    if (found.length === 0 || family?.withdrawn === true) return undefined;
    return total(found.map(({ value }) => value));
  };
}

/** The differences between items and gauges, and the families of which a number was compared. */
function compareAll<Input>(
  inputs: readonly Input[],
  families: readonly Family<Input>[],
  numbersOf: (input: Input) => Numbers,
) {
  const compared = new Set<string>();
  const differences: string[] = [];
  const named = new Set<string>();
  for (const input of inputs) {
    const gaugeOf = gaugeReader(families, input);
    for (const [series, value] of numbersOf(input)) {
      const name = series.replace(/\{.*/s, '');
      named.add(name);
      const gauge = gaugeOf(series);
      if (gauge === undefined || value === null || value === undefined) continue;
      compared.add(name);
      if (Number(value) !== gauge) differences.push(`${series}: item ${value}, gauge ${gauge}`);
    }
  }
  return { differences, neverCompared: Array.from(named).filter((name) => !compared.has(name)) };
}

const equal = { differences: [], neverCompared: [] };

describe('the numbers of /pending', () => {
  it('equal the gauges of the module state', () => {
    const { families } = documents.module_state;
    expect(
      compareAll(bridgeInputs(31), families, (input) => bridgeNumbers(bridgeItems(input), bridgeHeadline(input))),
    ).toEqual(equal);
  });

  it('equal the gauges of the rate limiter input', () => {
    const { families } = documents.rate_limiter_input;
    const numbersOf = (input: Parameters<typeof crosschainItems>[0]): Numbers =>
      crosschainNumbers(crosschainItems(input, undefined));
    expect(compareAll(crosschainInputs(32), families, numbersOf)).toEqual(equal);
  });
});
