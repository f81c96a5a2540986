import { describe, expect, it } from 'vitest';
import { processBody, type PollResult, type DocumentSource } from '../../src/poll/poll.js';
import { parseConfig } from '../../src/config/parser.js';
import { defaultBridgeSettings, defaultCrosschainSettings } from '../../src/config/schema.js';
import { jobsOf } from '../../src/poll/jobs.js';
import { sampleModel } from '../support/sample-endpoints.js';

/*
 * Documents of real chains in miniature: what the simulator says in the words of the spec, spelt as the chain spells it. The
 * tables stand here a second time on purpose.
 */
const PEGGY = {
  bridge_id: 'peggy_id',
  bridge_external_address: 'bridge_ethereum_address',
  average_external_block_time: 'average_ethereum_block_time',
  hub_coin_denom: 'cosmos_coin_denom',
  hub_coin_erc20_contract: 'cosmos_coin_erc20_contract',
  external_address: 'ethereum_address',
  last_observed_external_height: 'last_observed_ethereum_height',
  external_blacklist: 'ethereum_blacklist',
};
const ZETA = { native_fees: 'zeta_fees', finalized_native_height: 'finalized_zeta_height' };

function respelt(json: unknown, names: Readonly<Record<string, string>>): unknown {
  return JSON.parse(JSON.stringify(json), (_key, value: unknown) => {
    if (value === 'Native') return 'Zeta';
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [names[name] ?? name, inner]));
  });
}

const base = { target: 't', labels: { tokens: [], chains: {} }, maxSeries: 200 };
const model = sampleModel();

function told(reading: DocumentSource, json: unknown): PollResult['outcome'] {
  return processBody(reading, 'test', Buffer.from(JSON.stringify(json)), undefined).outcome;
}

describe('a dialect', () => {
  it('peggy: the same document in real names gives the same series', () => {
    const state = model.moduleState();
    const neutral = told({ ...base, document: 'module_state', settings: defaultBridgeSettings }, state);
    const settings = { ...defaultBridgeSettings, dialect: 'peggy' } as const;
    expect(told({ ...base, document: 'module_state', settings }, respelt(state, PEGGY))).toEqual(neutral);
    expect(neutral).toMatchObject({ ok: true });
  });

  it('zeta: the same document in real names gives the same series', () => {
    const input = model.rateLimiterInput({ window: 500n });
    const neutral = told({ ...base, document: 'rate_limiter_input', settings: defaultCrosschainSettings }, input);
    const settings = { ...defaultCrosschainSettings, dialect: 'zeta' } as const;
    expect(JSON.stringify(input)).toContain('"Native"');
    expect(told({ ...base, document: 'rate_limiter_input', settings }, respelt(input, ZETA))).toEqual(neutral);
    expect(neutral).toMatchObject({ ok: true, problems: { unknown: new Map() } });
  });

  it('is not guessed: names of another dialect are unknown keys', () => {
    const reading: DocumentSource = { ...base, document: 'module_state', settings: defaultBridgeSettings };
    const { families } = told(reading, respelt(model.moduleState(), PEGGY)) as {
      readonly families: readonly { readonly name: string }[];
    };
    expect(families.map(({ name }) => name)).not.toContain('bridge_last_observed_external_height');
    expect(families.map(({ name }) => name)).toContain('bridge_last_observed_nonce');
  });

  it('names the path, and only what is configured is sent', () => {
    const loaded = parseConfig(
      `targets:
  - {name: a, bridge: {url: "http://n/prefix/"}, crosschain: {url: "http://n", window: 500, limit: 20}}
  - {name: b, bridge: {url: "http://n", dialect: peggy}, crosschain: {url: "http://n", dialect: zeta, window: 7}}
  - {name: c, crosschain: {url: "http://n"}}`,
      'test',
    );
    if (!loaded.ok) throw new Error(loaded.problems.join());
    expect(jobsOf(loaded.config).map(({ url }) => url)).toEqual([
      'http://n/prefix/bridge/v1/module_state',
      'http://n/chain/crosschain/rateLimiterInput?limit=20&window=500',
      'http://n/peggy/v1/module_state',
      'http://n/zeta-chain/crosschain/rateLimiterInput?window=7',
      'http://n/chain/crosschain/rateLimiterInput',
    ]);
  });
});
