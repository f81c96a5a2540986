import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { seriesOf } from '../support/exposition-text.js';
import { runExporter } from '../support/processes.js';
import { fixturesFolder } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';

/*
 * Replays recorded responses of real chains. The expected values are counted here from the JSON, without code of the
 * exporter.
 */
const hasFixtures = existsSync(fixturesFolder);
if (!hasFixtures) console.warn(`SKIPPED: replay of recorded responses, because ${fixturesFolder} does not exist`);

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

function toNumber(value: unknown): number | undefined {
  return typeof value === 'string' && value !== '' ? Number(value) : undefined;
}

function lengthOf(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

function toObject(value: unknown): Json {
  return (value ?? {}) as Json;
}

function powerOf(valset: Json): number | undefined {
  const members = valset['members'] as { power: string }[] | undefined;
  return members && Number(members.reduce((total, member) => total + BigInt(member.power), 0n));
}

function expectedBridge(json: Json, dialect: 'neutral' | 'peggy'): Record<string, number | undefined> {
  const names = bridgeNames[dialect];
  const state = toObject(json['state']);
  const params = toObject(state['params']);
  const observed = toObject(state['last_observed_valset']);
  const valsets = state['valsets'] as Json[];
  const newest = toObject(valsets.toSorted((a, b) => Number(b['nonce']) - Number(a['nonce']))[0]);
  const attestations = state['attestations'] as { observed: boolean }[];
  const batches = state['batches'] as { transactions: unknown[] }[];
  const seconds = (value: unknown): number | undefined =>
    toNumber(value) === undefined ? undefined : Number(value) / 1000;
  return {
    bridge_height: undefined,
    bridge_last_observed_nonce: toNumber(state['last_observed_nonce']),
    bridge_last_observed_external_height: toNumber(state[names.external_height]),
    bridge_last_outgoing_batch_id: toNumber(state['last_outgoing_batch_id']),
    bridge_last_outgoing_pool_id: toNumber(state['last_outgoing_pool_id']),
    bridge_valsets: lengthOf(valsets),
    bridge_valset_confirms: lengthOf(state['valset_confirms']),
    bridge_batches: lengthOf(batches),
    bridge_batch_confirms: lengthOf(state['batch_confirms']),
    bridge_orchestrator_addresses: lengthOf(state['orchestrator_addresses']),
    bridge_erc20_to_denoms: lengthOf(state['erc20_to_denoms']),
    bridge_unbatched_transfers: lengthOf(state['unbatched_transfers']),
    bridge_external_blacklist: lengthOf(state[names.blacklist]),
    bridge_params_admins: lengthOf(params['admins']),
    'bridge_attestations observed="true"': attestations.filter((row) => row.observed).length,
    'bridge_attestations observed="false"': attestations.filter((row) => !row.observed).length,
    bridge_batch_transactions: batches.reduce((total, batch) => total + batch.transactions.length, 0),
    bridge_last_observed_valset_nonce: toNumber(observed['nonce']),
    bridge_last_observed_valset_height: toNumber(observed['height']),
    bridge_last_observed_valset_members: lengthOf(observed['members']),
    bridge_last_observed_valset_power: powerOf(observed),
    bridge_last_observed_valset_reward_amount: toNumber(observed['reward_amount']),
    bridge_newest_valset_nonce: toNumber(newest['nonce']),
    bridge_newest_valset_height: toNumber(newest['height']),
    bridge_newest_valset_members: lengthOf(newest['members']),
    bridge_newest_valset_power: powerOf(newest),
    bridge_params_signed_valsets_window_blocks: toNumber(params['signed_valsets_window']),
    bridge_params_signed_batches_window_blocks: toNumber(params['signed_batches_window']),
    bridge_params_signed_claims_window_blocks: toNumber(params['signed_claims_window']),
    bridge_params_unbond_slashing_valsets_window_blocks: toNumber(params['unbond_slashing_valsets_window']),
    bridge_params_target_batch_timeout_seconds: seconds(params['target_batch_timeout']),
    bridge_params_average_block_time_seconds: seconds(params['average_block_time']),
    bridge_params_average_external_block_time_seconds: seconds(params[names.external_time]),
    bridge_params_slash_fraction_valset_ratio: toNumber(params['slash_fraction_valset']),
    bridge_params_slash_fraction_batch_ratio: toNumber(params['slash_fraction_batch']),
    bridge_params_slash_fraction_claim_ratio: toNumber(params['slash_fraction_claim']),
    bridge_params_slash_fraction_conflicting_claim_ratio: toNumber(params['slash_fraction_conflicting_claim']),
    bridge_params_slash_fraction_bad_eth_signature_ratio: toNumber(params['slash_fraction_bad_eth_signature']),
    bridge_params_bridge_contract_start_height: toNumber(params['bridge_contract_start_height']),
    bridge_params_valset_reward_amount: toNumber(toObject(params['valset_reward'])['amount']),
  };
}

function expectedCrosschain(json: Json): Record<string, number | undefined> {
  const [total, missed, pending] = [
    toNumber(json['total_pending']),
    lengthOf(json['cctxs_missed']),
    lengthOf(json['cctxs_pending']),
  ];
  return {
    crosschain_height: toNumber(json['height']),
    crosschain_total_pending: total,
    crosschain_past_cctxs_value: toNumber(json['past_cctxs_value']),
    crosschain_pending_cctxs_value: toNumber(json['pending_cctxs_value']),
    crosschain_lowest_pending_cctx_height: toNumber(json['lowest_pending_cctx_height']),
    crosschain_cctxs_missed: missed,
    crosschain_cctxs_pending: pending,
    crosschain_cctxs_hidden: Math.max(0, (total ?? Number.NaN) - (missed ?? 0) - (pending ?? 0)),
  };
}

/** The values of these series, given by name or by name and last label. */
function valuesOf(exposition: string, names: Iterable<string>): Record<string, number | undefined> {
  const series = new Map(
    seriesOf(exposition).flatMap(({ name, labels, value }) => [
      [name, value],
      [`${name} ${labels.split(',').at(-1)}`, value],
    ]),
  );
  return Object.fromEntries(Array.from(names, (name) => [name, series.get(name)]));
}

describe.skipIf(!hasFixtures)('replay of recorded responses', () => {
  const folder = createTempFolder();
  const readJson = (file: string): Json => JSON.parse(readFileSync(join(fixturesFolder, file), 'utf8')) as Json;

  it.each([
    ['bridge/mainnet-10001-genesis.neutral.json', 'neutral'],
    ['bridge/staking-40003.neutral.json', 'neutral'],
    ['bridge/staking-40003.neutral.any-bytes.json', 'neutral'],
    ['bridge/staking-40003.peggy.json', 'peggy'],
  ] as const)('exports the values counted in %s', async (file, dialect) => {
    const yaml = `targets: [{name: real, bridge: {url: http://localhost, dialect: ${dialect}}}]`;
    const config = folder.write('config.yml', yaml);
    const { code, stdout, stderr } = await runExporter([
      'replay',
      '--config.file',
      config,
      '--bridge',
      join(fixturesFolder, file),
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const expected = expectedBridge(readJson(file), dialect);
    expect(valuesOf(stdout, Object.keys(expected))).toEqual(expected);
    expect(stdout).not.toContain('bridge_exporter_invalid_values_total{');
  });

  it.each([
    ['crosschain/empty.neutral.json', 'neutral'],
    ['crosschain/mainnet-made-pending.neutral.json', 'neutral'],
    ['crosschain/mainnet-made-pending.zeta.json', 'zeta'],
  ] as const)('exports the values counted in %s', async (file, dialect) => {
    const yaml = `targets: [{name: real, crosschain: {url: http://localhost, dialect: ${dialect}, window: 500}}]`;
    const config = folder.write('config.yml', yaml);
    const { code, stdout, stderr } = await runExporter([
      'replay',
      '--config.file',
      config,
      '--crosschain',
      join(fixturesFolder, file),
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const expected = expectedCrosschain(readJson(file));
    expect(valuesOf(stdout, Object.keys(expected))).toEqual(expected);
    expect(stdout).not.toContain('bridge_exporter_invalid_values_total{');
  });

  it.each([
    ['--bridge', 'bridge/staking-40003.peggy.json', 'bridge/staking-40003.neutral.json'],
    ['--crosschain', 'crosschain/mainnet-made-pending.zeta.json', 'crosschain/mainnet-made-pending.neutral.json'],
  ])('exports the same for both names of the fields without a configuration: %s %s', async (flag, chain, neutral) => {
    const [first, second] = await Promise.all(
      [chain, neutral].map(async (file) => runExporter(['replay', flag, join(fixturesFolder, file)])),
    );
    const chainSeries = (stdout = ''): string[] =>
      stdout.split('\n').filter((line) => !line.includes('bridge_exporter_'));
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(chainSeries(first?.stdout)).toEqual(chainSeries(second?.stdout));
    const names = new Set(seriesOf(first?.stdout ?? '').map(({ name }) => name));
    expect(names).toContain(
      flag === '--bridge' ? 'bridge_orchestrator_power_ratio' : 'crosschain_largest_pending_native_amount',
    );
  });

  it('rejects the response of another endpoint', async () => {
    const file = join(fixturesFolder, 'crosschain/cctx-list-mainnet-100.json');
    const { code, stdout, stderr } = await runExporter(['replay', '--crosschain', file]);
    expect(code).toBe(1);
    expect(stderr).toBe(
      [
        `default rate_limiter_input: schema: ${file}: not a rate_limiter_input document: none of its fields is present`,
        '  Check that it is the unchanged body of a response, and of the document that the flag names.',
        'exit 1: 1 of 1 recorded body failed',
        '',
      ].join('\n'),
    );
    expect(stdout).not.toMatch(/^crosschain_/m);
  });
});
