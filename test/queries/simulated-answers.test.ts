import { describe, expect, it } from 'vitest';
import { dataPart } from '../../src/chain/addresses.js';
import type { DocumentName } from '../../src/document-types.js';
import { exportedFamilies, type EndpointState } from '../../src/engine/endpoint-state.js';
import { MainnetChain } from '../../src/simulator/mainnet-chain.js';
import { createModel, type Model } from '../../src/simulator/model.js';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { record, START_SECONDS } from '../problems/recording.js';

/* The series of the answers of a simulated node. */

const modelOf = (scenario: ScenarioName): Model =>
  createModel({ seed: 7, scenario, startTime: START_SECONDS, blockTimeMs: 20_000 });

/** The endpoint after polls in the first two minutes, each with the queries that are due. */
function polled(model: Model, document: DocumentName): EndpointState {
  const state = record([{ minutes: 2, frozen: true }], { model }).endpoints.find((own) => own.document === document);
  if (state === undefined) throw new Error(`the demo has no ${document}`);
  return state;
}

const seriesOf = (state: EndpointState, pattern: RegExp): string[] =>
  exportedFamilies(state, START_SECONDS + 60)
    .filter(({ name }) => pattern.test(name))
    .flatMap(({ text }) => text.trimEnd().split('\n'));

describe('the answers about watched validators', () => {
  it('are status, last claim and funds, with the name of the validator', () => {
    const model = modelOf('healthy');
    const watched = model.bridge
      .stakingValidators()
      .find(({ description }) => description.moniker === 'Validator Guild');
    const registered = model
      .moduleState()
      .state.orchestrator_addresses.find(
        ({ sender }) => dataPart(sender) === dataPart(watched?.operator_address ?? ''),
      );
    const orchestrator = registered?.orchestrator ?? '';
    const status = model.bridge.orchestrator(orchestrator);
    const labels = `target="demo",orchestrator="${orchestrator}",name="Validator Guild"`;
    expect(
      seriesOf(polled(model, 'module_state'), /^bridge_watched_(validator_(jailed|bonded|last_event)|orchestrator)/),
    ).toEqual([
      `bridge_watched_orchestrator_info{${labels}} 1`,
      'bridge_watched_orchestrator_balance_limit_amount{target="demo"} 0',
      `bridge_watched_validator_jailed{${labels}} 0`,
      `bridge_watched_validator_bonded{${labels}} 1`,
      `bridge_watched_validator_last_event_nonce{${labels}} ${status?.lastEventNonce}`,
      `bridge_watched_orchestrator_balance_amount{${labels},denom="hub"} ${Number(status?.balance)}`,
    ]);
  });
});

describe('the answers about blocks', () => {
  it('are the missed blocks of a watched validator, and the window', () => {
    const model = modelOf('missed-blocks');
    const series = seriesOf(polled(model, 'module_state'), /_blocks$|tombstoned|min_signed_per/);
    const missed = Math.max(...model.bridge.validators.map((validator) => model.bridge.signedBlocks.missed(validator)));
    expect(missed).toBeGreaterThan(10);
    expect(series.filter((line) => !line.startsWith('bridge_params_'))).toEqual([
      expect.stringMatching(
        new RegExp(String.raw`^bridge_watched_validator_missed_blocks\{.*name="Validator Guild"\} ${missed}$`),
      ),
      expect.stringMatching(/^bridge_watched_validator_tombstoned\{.*\} 0$/),
      'bridge_signed_blocks_window_blocks{target="demo"} 360',
      'bridge_min_signed_per_window_ratio{target="demo"} 0.5',
    ]);
  });
});

describe('the answers about upgrades', () => {
  it.each(['module_state', 'rate_limiter_input'] as const)('are the height of the plan beside %s', (document) => {
    const month = { upgrade: { fromMs: (START_SECONDS + 3600) * 1000, untilMs: (START_SECONDS + 7200) * 1000 } };
    const options = { seed: 7, blockTimeMs: 6300, startMs: START_SECONDS * 1000, warmUpMs: 3_600_000 };
    const planned = new MainnetChain({ ...options, month });
    const height = planned.upgradePlan?.height ?? 0;
    const { node } = planned;
    expect(height - node.height).toBe(Math.floor(3600 / 6.3) + 1);
    const state = polled(planned, document);
    expect(seriesOf(state, /upgrade/)).toEqual([
      `bridge_node_upgrade_plan_height{target="demo",document="${document}",name="v2.0.0"} ${height}`,
    ]);
    planned.advanceTime(3_700_000);
    expect(planned.height, 'the hub stops before it').toBe(height - 1);
    planned.advanceTime(3_600_000);
    expect(seriesOf(polled(planned, document), /upgrade/), 'without a plan').toEqual([]);
  });
});

describe('the answers about chains', () => {
  it('are the nonces of the present key on external chains, of all pages', () => {
    const model = modelOf('healthy');
    const { nonces } = model.crosschain;
    const state = polled(model, 'rate_limiter_input');
    const valuesOf = (name: RegExp) =>
      seriesOf(state, name)
        .map((line) => [/chain_id="(\d+)"/.exec(line)?.[1], Number(line.split(' ').at(-1))] as const)
        .toSorted(([a = ''], [b = '']) => Number(a) - Number(b));
    const sorted = nonces.toSorted((a, b) => Number(a.chainId) - Number(b.chainId));
    expect(sorted.length).toBeGreaterThan(5);
    expect(valuesOf(/^crosschain_nonce_low$/)).toEqual(sorted.map(({ chainId, low }) => [chainId, low]));
    expect(valuesOf(/^crosschain_nonce_high$/)).toEqual(sorted.map(({ chainId, high }) => [chainId, high]));
  });

  it.each([
    ['healthy', 1],
    ['outbound-disabled', 0],
  ] as const)('are the switches of the hub in the scenario %s', (scenario, outbound) => {
    expect(seriesOf(polled(modelOf(scenario), 'rate_limiter_input'), /_enabled$/)).toEqual([
      `crosschain_outbound_enabled{target="demo"} ${outbound}`,
      'crosschain_inbound_enabled{target="demo"} 1',
    ]);
  });

  it('replace the known lookaheads of chains', () => {
    const model = modelOf('healthy');
    Object.assign(model.crosschain.chains.find(({ id }) => id === '1') ?? {}, { lookahead: 17 });
    const line = seriesOf(polled(model, 'rate_limiter_input'), /lookahead/).find((series) =>
      series.includes('chain_id="1"'),
    );
    expect(line).toMatch(/ 17$/);
  });
});
