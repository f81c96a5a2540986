import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { seriesOf } from '../support/exposition-text.js';
import { run } from '../support/processes.js';

/*
 * Real documents of real chains, which are not part of the project: FIXTURES names their folder. What a hand count of their
 * JSON gives is computed here without any code of the exporter.
 */
const folder = process.env['FIXTURES'] ?? new URL('../../../shared/fixtures', import.meta.url).pathname;
const found = existsSync(folder);
if (!found)
  console.warn(`SKIPPED: replay of real documents, since FIXTURES names no folder and ${folder} is not there`);

type Json = Readonly<Record<string, unknown>>;

const bridgeNames = {
  neutral: {
    external_height: 'last_observed_external_height',
    blacklist: 'external_blacklist',
    external_time: 'average_external_block_time',
  },
  peggy: {
    external_height: 'last_observed_ethereum_height',
    blacklist: 'ethereum_blacklist',
    external_time: 'average_ethereum_block_time',
  },
};

function num(value: unknown): number | undefined {
  return typeof value === 'string' && value !== '' ? Number(value) : undefined;
}

function count(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

function object(value: unknown): Json {
  return (value ?? {}) as Json;
}

function power(valset: Json): number | undefined {
  const members = valset['members'] as { power: string }[] | undefined;
  return members && Number(members.reduce((total, member) => total + BigInt(member.power), 0n));
}

function countBridge(json: Json, dialect: 'neutral' | 'peggy'): Record<string, number | undefined> {
  const names = bridgeNames[dialect];
  const state = object(json['state']);
  const params = object(state['params']);
  const observed = object(state['last_observed_valset']);
  const valsets = state['valsets'] as Json[];
  const newest = object(valsets.toSorted((a, b) => Number(b['nonce']) - Number(a['nonce']))[0]);
  const attestations = state['attestations'] as { observed: boolean }[];
  const batches = state['batches'] as { transactions: unknown[] }[];
  const seconds = (value: unknown): number | undefined => (num(value) === undefined ? undefined : Number(value) / 1000);
  return {
    bridge_height: undefined,
    bridge_last_observed_nonce: num(state['last_observed_nonce']),
    bridge_last_observed_external_height: num(state[names.external_height]),
    bridge_last_outgoing_batch_id: num(state['last_outgoing_batch_id']),
    bridge_last_outgoing_pool_id: num(state['last_outgoing_pool_id']),
    bridge_valsets: count(valsets),
    bridge_valset_confirms: count(state['valset_confirms']),
    bridge_batches: count(batches),
    bridge_batch_confirms: count(state['batch_confirms']),
    bridge_orchestrator_addresses: count(state['orchestrator_addresses']),
    bridge_erc20_to_denoms: count(state['erc20_to_denoms']),
    bridge_unbatched_transfers: count(state['unbatched_transfers']),
    bridge_external_blacklist: count(state[names.blacklist]),
    bridge_params_admins: count(params['admins']),
    'bridge_attestations observed="true"': attestations.filter((row) => row.observed).length,
    'bridge_attestations observed="false"': attestations.filter((row) => !row.observed).length,
    bridge_batch_transactions: batches.reduce((total, batch) => total + batch.transactions.length, 0),
    bridge_last_observed_valset_nonce: num(observed['nonce']),
    bridge_last_observed_valset_height: num(observed['height']),
    bridge_last_observed_valset_members: count(observed['members']),
    bridge_last_observed_valset_power: power(observed),
    bridge_last_observed_valset_reward_amount: num(observed['reward_amount']),
    bridge_newest_valset_nonce: num(newest['nonce']),
    bridge_newest_valset_height: num(newest['height']),
    bridge_newest_valset_members: count(newest['members']),
    bridge_newest_valset_power: power(newest),
    bridge_params_signed_valsets_window_blocks: num(params['signed_valsets_window']),
    bridge_params_signed_batches_window_blocks: num(params['signed_batches_window']),
    bridge_params_signed_claims_window_blocks: num(params['signed_claims_window']),
    bridge_params_unbond_slashing_valsets_window_blocks: num(params['unbond_slashing_valsets_window']),
    bridge_params_target_batch_timeout_seconds: seconds(params['target_batch_timeout']),
    bridge_params_average_block_time_seconds: seconds(params['average_block_time']),
    bridge_params_average_external_block_time_seconds: seconds(params[names.external_time]),
    bridge_params_slash_fraction_valset_ratio: num(params['slash_fraction_valset']),
    bridge_params_slash_fraction_batch_ratio: num(params['slash_fraction_batch']),
    bridge_params_slash_fraction_claim_ratio: num(params['slash_fraction_claim']),
    bridge_params_slash_fraction_conflicting_claim_ratio: num(params['slash_fraction_conflicting_claim']),
    bridge_params_slash_fraction_bad_eth_signature_ratio: num(params['slash_fraction_bad_eth_signature']),
    bridge_params_bridge_contract_start_height: num(params['bridge_contract_start_height']),
    bridge_params_valset_reward_amount: num(object(params['valset_reward'])['amount']),
  };
}

function countCrosschain(json: Json): Record<string, number | undefined> {
  const [total, missed, pending] = [
    num(json['total_pending']),
    count(json['cctxs_missed']),
    count(json['cctxs_pending']),
  ];
  return {
    crosschain_height: num(json['height']),
    crosschain_total_pending: total,
    crosschain_past_cctxs_value: num(json['past_cctxs_value']),
    crosschain_pending_cctxs_value: num(json['pending_cctxs_value']),
    crosschain_lowest_pending_cctx_height: num(json['lowest_pending_cctx_height']),
    crosschain_cctxs_missed: missed,
    crosschain_cctxs_pending: pending,
    crosschain_cctxs_hidden: Math.max(0, (total ?? Number.NaN) - (missed ?? 0) - (pending ?? 0)),
  };
}

/** Name, and for the one labelled family its label → value, of the families named. */
function shown(exposition: string, names: Iterable<string>): Record<string, number | undefined> {
  const series = new Map(
    seriesOf(exposition).flatMap(({ name, labels, value }) => [
      [name, value],
      [`${name} ${labels.split(',').at(-1)}`, value],
    ]),
  );
  return Object.fromEntries(Array.from(names, (name) => [name, series.get(name)]));
}

describe.skipIf(!found)('replaying real documents', () => {
  const config = join(mkdtempSync(join(tmpdir(), 'fixtures-')), 'config.yml');
  const read = (file: string): Json => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Json;

  it.each([
    ['bridge/mainnet-10001-genesis.neutral.json', 'neutral'],
    ['bridge/staking-40003.neutral.json', 'neutral'],
    ['bridge/staking-40003.neutral.any-bytes.json', 'neutral'],
    ['bridge/staking-40003.peggy.json', 'peggy'],
  ] as const)('%s gives what a hand count gives', async (file, dialect) => {
    writeFileSync(config, `targets: [{name: real, bridge: {url: http://localhost, dialect: ${dialect}}}]`);
    const { code, stdout, stderr } = await run(['replay', '--config.file', config, '--bridge', join(folder, file)]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const expected = countBridge(read(file), dialect);
    expect(shown(stdout, Object.keys(expected))).toEqual(expected);
    expect(stdout).not.toContain('bridge_exporter_invalid_values_total{');
  });

  it.each([
    ['crosschain/empty.neutral.json', 'neutral'],
    ['crosschain/mainnet-made-pending.neutral.json', 'neutral'],
    ['crosschain/mainnet-made-pending.zeta.json', 'zeta'],
  ] as const)('%s gives what a hand count gives', async (file, dialect) => {
    writeFileSync(
      config,
      `targets: [{name: real, crosschain: {url: http://localhost, dialect: ${dialect}, window: 500}}]`,
    );
    const { code, stdout, stderr } = await run(['replay', '--config.file', config, '--crosschain', join(folder, file)]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const expected = countCrosschain(read(file));
    expect(shown(stdout, Object.keys(expected))).toEqual(expected);
    expect(stdout).not.toContain('bridge_exporter_invalid_values_total{');
  });

  it('the answer of a sibling endpoint is not taken for the document', async () => {
    const file = join(folder, 'crosschain/cctx-list-mainnet-100.json');
    const { code, stdout, stderr } = await run(['replay', '--crosschain', file]);
    expect(code).toBe(1);
    expect(stderr).toBe(
      [
        `default rate_limiter_input: schema: ${file} is JSON, but none of the fields of rate_limiter_input is in it`,
        '  Check URL and dialect: the response is a different document.',
        'exit 1: 1 of 1 recorded body failed',
        '',
      ].join('\n'),
    );
    expect(stdout).not.toMatch(/^crosschain_/m);
  });
});
