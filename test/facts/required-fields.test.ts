import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../support/json.js';
import {
  account,
  attestation,
  batch,
  batchConfirm,
  operator,
  orchestrator,
  state,
  transfer,
  valset,
  valsetConfirm,
} from './bridge/state.js';
import { cctx, outbound, rateLimiterInput, status } from './crosschain/document.js';
import { deriveBridge, deriveCrosschain, type SeriesValues } from './derive.js';
import { pathsOf, replace, type Path } from './property/corruption.js';
import { byFamily } from './property/families.js';

/*
 * The series of a document of each kind, and what is withdrawn when one of its values is missing or of another type: the families that read
 * it, and no others. The golden files have a line for each value and effect. `*` is before a family whose labels or values change, as that
 * of a missing denom.
 */

const POWERS = { '0xaa': 60, '0xbb': 30, '0xcc': 10 };

/** Each list has a row that counts and one that does not: of an older validator set, an unknown batch, an event of the past, a token alone. */
const bridge = state({
  params: {
    bridge_id: 'id',
    contract_source_hash: '',
    bridge_external_address: '0xF955Aa',
    bridge_chain_id: '5',
    signed_valsets_window: '50',
    signed_batches_window: '60',
    signed_claims_window: '70',
    target_batch_timeout: '43200000',
    average_block_time: '2000',
    average_external_block_time: '15000',
    slash_fraction_valset: '0.001',
    slash_fraction_batch: '0.002',
    slash_fraction_claim: '0',
    slash_fraction_conflicting_claim: '1',
    unbond_slashing_valsets_window: '80',
    slash_fraction_bad_eth_signature: '0.1',
    hub_coin_denom: 'inj',
    hub_coin_erc20_contract: '0xhub',
    claim_slashing_enabled: true,
    bridge_contract_start_height: '7',
    // Halfway between two doubles.
    valset_reward: { denom: 'inj', amount: '9007199254740993' },
    admins: ['inj1b', 'inj1A'],
  },
  last_observed_nonce: '7',
  last_observed_external_height: '1000',
  last_outgoing_batch_id: '2',
  last_outgoing_pool_id: '13',
  last_observed_valset: valset('110', POWERS),
  valsets: [valset('120', { ...POWERS, '0xcc': 20 }), valset('110', POWERS), valset('105', { '0xdd': 1 })],
  valset_confirms: [valsetConfirm('120', '0xaa'), valsetConfirm('99', '0xaa')],
  batches: [
    batch('1', '0xt', { block: '115', batch_timeout: '1500', transactions: [transfer('9', '0xt', '5')] }),
    batch('2', '0xu', { block: '116', batch_timeout: '900' }),
  ],
  batch_confirms: [
    batchConfirm('1', '0xt', '0xaa'),
    batchConfirm('1', '0xt', '0xbb'),
    batchConfirm('8', '0xt', '0xaa'),
  ],
  attestations: [
    attestation('7', [operator('aaaa')], { observed: true, height: '100' }),
    attestation('7', [operator('cccc')], { height: '101' }),
    attestation('8', [operator('aaaa')], {
      claim: { '@type': '/x.MsgWithdrawClaim', event_nonce: '8', batch_nonce: '1', token_contract: '0xt' },
    }),
    attestation('9', [], {
      claim: {
        '@type': '/x.MsgValsetUpdatedClaim',
        event_nonce: '9',
        valset_nonce: '110',
        members: [{ power: '100', external_address: '0xaa' }],
      },
    }),
  ],
  orchestrator_addresses: [
    orchestrator('aaaa', '0xaa'),
    orchestrator('cccc', '0xcc'),
    { ...orchestrator('dddd', '0xdd'), orchestrator: account('eeee') },
  ],
  erc20_to_denoms: [{ erc20: '0xt', denom: 'usdt' }],
  unbatched_transfers: [transfer('12', '0xt', '100', { contract: '0xt', amount: '1' }), transfer('13', '0xu', '7')],
  external_blacklist: ['0xee'],
});

const NATIVE = { coin_type: 'Native', amount: '5', tss_nonce: '4', tss_pubkey: 'key' };
const created = { cctx_status: status({ created_timestamp: '5', lastUpdate_timestamp: '6' }) };
const crosschain = rateLimiterInput({
  total_pending: '9',
  past_cctxs_value: '10',
  pending_cctxs_value: '20',
  lowest_pending_cctx_height: '90',
  cctxs_missed: [cctx('0x1', [outbound('1', { tss_nonce: '3' })], created)],
  cctxs_pending: [
    cctx('0x2', [outbound('56'), outbound('1', NATIVE)], created),
    cctx('0x3', [outbound('56', { tss_nonce: '8' })], { cctx_status: status({ lastUpdate_timestamp: '7' }) }),
  ],
});

/** The families that differ, or the kinds of a family that are withdrawn alone. */
function effectOf(before: SeriesValues, after: SeriesValues): string {
  const [families, remaining] = [byFamily(before), byFamily(after)];
  return Array.from(new Set([...families.keys(), ...remaining.keys()]))
    .flatMap((name) => {
      const [own = {}, left] = [families.get(name), remaining.get(name)];
      if (left === undefined) return [name];
      const kinds = Object.keys(own).filter((series) => series.includes('{kind=') && left[series] === undefined);
      if (kinds.length > 0) return kinds;
      const isEqual =
        Object.keys(own).length === Object.keys(left).length &&
        Object.entries(own).every(([series, value]) => left[series] === value);
      return isEqual ? [] : [`*${name}`];
    })
    .join(' ');
}

const textOf = (path: Path): string =>
  path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${key}`), '').slice(1);

/** A line for each value of the document: what changes without it, and with another type if that differs. */
function effects(document: JsonObject, paths: readonly Path[], derive: (json: Json) => SeriesValues): string {
  const before = derive(document);
  return paths
    .map((path) => {
      const value = path.reduce<Json | undefined>((json, key) => Reflect.get(Object(json), key) as Json, document);
      const other = typeof value === 'object' ? 'x' : {};
      const [missing, invalid] = [undefined, other].map((changed) =>
        effectOf(before, derive(replace(document, path, changed))),
      );
      return missing === invalid
        ? `${textOf(path)}: ${missing}\n`
        : `${textOf(path)}, missing: ${missing}\n${textOf(path)}, invalid: ${invalid}\n`;
    })
    .join('');
}

const BRIDGE_OPTIONS = { height: '120', tokens: [{ contract: '0xt', min_batch_fee: '0' }] };
const CROSSCHAIN_OPTIONS = { window: '100', rate: '1', at: { at: 1000, clockOffset: 0 } };
const bridgeValues = (json: Json): SeriesValues => deriveBridge(json, BRIDGE_OPTIONS).values;
const crosschainValues = (json: Json): SeriesValues => deriveCrosschain(json, CROSSCHAIN_OPTIONS).values;

const fieldsOf = (document: JsonObject): Path[] => Object.keys(document).map((name) => [name]);

describe('the series of a document', () => {
  const textOfSeries = (values: SeriesValues): string =>
    Object.entries(values)
      .map(([series, value]) => `${series} ${value}\n`)
      .join('');

  it('are those of the golden file', async () => {
    await expect(textOfSeries(bridgeValues(bridge))).toMatchFileSnapshot('golden/series-bridge.txt');
    await expect(textOfSeries(crosschainValues(crosschain))).toMatchFileSnapshot('golden/series-crosschain.txt');
  });

  it('have empty labels for missing parameters', () => {
    const { values } = deriveBridge(state({ params: null }));
    expect(Object.keys(values).filter((series) => series.startsWith('bridge_params_'))).toEqual([
      expect.stringMatching(/^bridge_params_info\{(?:\w+="",?){6}\}$/),
    ]);
  });
});

describe('a missing or invalid value', () => {
  it('of module_state withdraws the families that read it', async () => {
    await expect(effects(bridge, pathsOf(bridge), bridgeValues)).toMatchFileSnapshot('golden/withdrawal-bridge.txt');
  });

  it('of rate_limiter_input withdraws the families that read it', async () => {
    await expect(effects(crosschain, pathsOf(crosschain), crosschainValues)).toMatchFileSnapshot(
      'golden/withdrawal-crosschain.txt',
    );
  });

  it('withdraws the families that read a list also if the other lists are empty, so that nothing depends on it', async () => {
    const [empty, none] = [state({}), rateLimiterInput({})];
    const text = effects(empty, fieldsOf(empty), bridgeValues) + effects(none, fieldsOf(none), crosschainValues);
    await expect(text).toMatchFileSnapshot('golden/withdrawal-empty.txt');
  });
});
