import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestUrl } from '../../src/config/urls.js';
import { createJobs } from '../../src/engine/jobs.js';
import type { Snapshot } from '../../src/engine/endpoint-state.js';
import { createModel } from '../../src/simulator/model.js';
import { parseValidConfig } from '../support/config.js';
import { inverted, PEGGY_NAMES, withNames, ZETA_NAMES, type Names } from '../support/dialect-names.js';
import { fuzzRuns } from '../support/fuzz.js';
import { bridgeSnapshot, crosschainSnapshot } from '../support/snapshots.js';

/** The series of a document and the errors of its fields. */
const exported = ({ renderedFamilies, errors }: Snapshot) => ({
  text: renderedFamilies.map(({ text }) => text).join(''),
  errors,
});

/** Simulated chains in which every field occurs. */
const models = (['healthy', 'conflicting-claims', 'missed-cctxs'] as const).map((scenario) => {
  const model = createModel({ seed: 7, scenario, startTime: 1_790_000_000, blockTimeMs: 2000 });
  model.advance(300);
  return { scenario, model };
});

type NamedDocument = [name: string, json: object];
const bridgeDocuments = models.map(({ scenario, model }): NamedDocument => [
  `the scenario ${scenario}`,
  model.moduleState(),
]);
const crosschainDocuments = models.map(({ scenario, model }): NamedDocument => [
  `the scenario ${scenario}`,
  model.rateLimiterInput({ window: 500n }),
]);

const bridgeState = (json: object): unknown => ('state' in json ? json.state : undefined);

/** All spellings of a document: that of the spec, that of the chain, and random mixtures of both. */
function forEachSpelling(json: object, names: Names, check: (spelled: object, label: string) => void): void {
  const neutral = withNames(json, inverted(names), () => true) as object;
  check(neutral, 'the names of the spec');
  check(withNames(neutral, names, () => true) as object, 'the names of the chain');
  const property = fc.property(fc.infiniteStream(fc.boolean()), (choices) => {
    const isSelected = (): boolean => choices.next().value === true;
    check(withNames(neutral, names, isSelected) as object, 'a mixture of names');
  });
  fc.assert(property, { numRuns: fuzzRuns(2) });
}

describe('the dialect auto', () => {
  it.each(bridgeDocuments)('exports the same series as the dialects of the bridge for %s', (_name, json) => {
    const neutral = withNames(json, inverted(PEGGY_NAMES), () => true) as object;
    const expected = exported(bridgeSnapshot(bridgeState(neutral), { dialect: 'neutral' }));
    expect(expected.text).toMatch(/^bridge_orchestrator_addresses\{/m);
    forEachSpelling(json, PEGGY_NAMES, (spelled, label) => {
      const state = bridgeState(spelled);
      for (const dialect of ['auto', 'peggy', 'neutral'] as const) {
        expect(exported(bridgeSnapshot(state, { dialect })), `${dialect}, ${label}`).toEqual(expected);
      }
    });
  });

  it.each(crosschainDocuments)('exports the same series as the dialects of the rate limiter for %s', (_name, json) => {
    const neutral = withNames(json, inverted(ZETA_NAMES), () => true);
    const expected = exported(crosschainSnapshot(neutral, { dialect: 'neutral' }));
    expect(expected.text).toMatch(/^crosschain_height\{/m);
    forEachSpelling(json, ZETA_NAMES, (spelled, label) => {
      for (const dialect of ['auto', 'zeta', 'neutral'] as const) {
        expect(exported(crosschainSnapshot(spelled, { dialect })), `${dialect}, ${label}`).toEqual(expected);
      }
    });
  });

  it('tests documents in which every name of a chain occurs', () => {
    const bridge = JSON.stringify(bridgeDocuments.map(([, json]) => json));
    const crosschain = JSON.stringify(crosschainDocuments.map(([, json]) => json));
    for (const name of Object.keys(PEGGY_NAMES)) expect(bridge).toContain(`"${name}"`);
    for (const name of Object.keys(ZETA_NAMES)) expect(crosschain).toContain(`"${name}"`);
  });

  it('uses the name of the spec when the name of a chain occurs too', () => {
    const spec = { external_blacklist: [], last_observed_external_height: '2' };
    const chain = { ethereum_blacklist: ['0x1'], last_observed_ethereum_height: '1' };
    const expected = exported(bridgeSnapshot(spec));
    expect(expected.text).toContain('bridge_last_observed_external_height{target="t"} 2\n');
    expect(exported(bridgeSnapshot({ ...spec, ...chain }))).toEqual(expected);
    expect(exported(bridgeSnapshot({ ...chain, ...spec }))).toEqual(expected);
  });
});

describe('the paths of a document', () => {
  it('are those of all dialects for auto, with public chains first, and that of the dialect otherwise', () => {
    const config = parseValidConfig(
      `targets:
  - {name: a, bridge: {url: "http://n/prefix/"}, crosschain: {url: "http://n", window: 7, limit: 20}}
  - {name: b, bridge: {url: "http://n", dialect: peggy}, crosschain: {url: "http://n", dialect: zeta}}
  - {name: c, bridge: {url: "http://n", dialect: neutral}, crosschain: {url: "http://n", dialect: neutral}}`,
    );
    const urls = createJobs(config).map(({ nodes, paths, query }) =>
      nodes.flatMap(({ url }) => paths.map(({ path }) => requestUrl(url, path + query).href)),
    );
    expect(urls).toEqual([
      ['http://n/prefix/peggy/v1/module_state', 'http://n/prefix/bridge/v1/module_state'],
      [
        'http://n/zeta-chain/crosschain/rateLimiterInput?limit=20&window=7',
        'http://n/chain/crosschain/rateLimiterInput?limit=20&window=7',
      ],
      ['http://n/peggy/v1/module_state'],
      ['http://n/zeta-chain/crosschain/rateLimiterInput?window=500'],
      ['http://n/bridge/v1/module_state'],
      ['http://n/chain/crosschain/rateLimiterInput?window=500'],
    ]);
  });
});
