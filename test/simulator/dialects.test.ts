import { describe, expect, it } from 'vitest';
import { createModel } from '../../src/simulator/model.js';
import { bridgeSnapshot, crosschainSnapshot } from '../support/snapshots.js';
import { get } from '../support/http.js';
import { startTestSimulator } from '../support/test-simulator.js';

const model = createModel({ seed: 3, scenario: 'conflicting-claims', startTime: 1_790_000_000, blockTimeMs: 2000 });
// Deposits, executed withdrawals and validator sets are claimed meanwhile.
model.advanceTime(2 * 3_600_000);

const nodes = {
  peggy: await startTestSimulator({ model, dialect: 'peggy' }),
  zeta: await startTestSimulator({ model, dialect: 'zeta' }),
};
const query = async (dialect: keyof typeof nodes, path: string) => get(`${nodes[dialect].url}${path}`);

describe('a simulated node with a dialect', () => {
  it('serves the paths of its chain only', async () => {
    const statusOf = async (dialect: keyof typeof nodes, path: string) => (await query(dialect, path)).status;
    const paths = [
      '/peggy/v1/module_state',
      '/zeta-chain/crosschain/rateLimiterInput?window=500',
      '/zeta-chain/observer/crosschain_flags',
      '/bridge/v1/module_state',
      '/chain/crosschain/rateLimiterInput',
      '/cosmos/base/tendermint/v1beta1/syncing',
    ];
    expect(await Promise.all(paths.map(async (path) => statusOf('peggy', path)))).toEqual([
      200, 501, 501, 501, 501, 200,
    ]);
    expect(await Promise.all(paths.map(async (path) => statusOf('zeta', path)))).toEqual([
      501, 200, 200, 501, 501, 200,
    ]);
  });

  it('has the names and the claims of Injective, of which the exporter derives the same', async () => {
    const { text } = await query('peggy', '/peggy/v1/module_state');
    const { state } = JSON.parse(text) as { state: { attestations: { claim: Record<string, unknown> }[] } };
    expect(text).not.toMatch(/"(?:bridge_id|external_address|hub_coin_denom|type_url|external_blacklist)"/);
    const claims = state.attestations.map(({ claim }) => claim);
    const ofType = (name: string) => claims.find((claim) => claim['@type'] === `/injective.peggy.v1.${name}`);
    expect(ofType('MsgDepositClaim')).toEqual({
      '@type': '/injective.peggy.v1.MsgDepositClaim',
      event_nonce: expect.stringMatching(/^\d+$/),
      block_height: expect.stringMatching(/^\d+$/),
      token_contract: expect.stringMatching(/^0x[\da-f]{40}$/i),
      amount: expect.stringMatching(/^\d+$/),
      ethereum_sender: expect.stringMatching(/^0x[\da-f]{40}$/i),
      cosmos_receiver: expect.stringMatching(/^hub1/),
      orchestrator: expect.stringMatching(/^hub1/),
      data: '',
    });
    expect(ofType('MsgWithdrawClaim')).toMatchObject({ batch_nonce: expect.stringMatching(/^\d+$/) });
    const options = { height: String(model.height) };
    const familiesOf = (document: object) => bridgeSnapshot(document, options).renderedFamilies;
    expect(familiesOf(state)).toEqual(familiesOf(model.moduleState().state));
    const known = model
      .moduleState()
      .state.orchestrator_addresses.find(({ orchestrator }) => model.bridge.orchestrator(orchestrator) !== undefined);
    const position = await query('peggy', `/peggy/v1/oracle/event/${known?.orchestrator}`);
    expect(JSON.parse(position.text)).toEqual({
      last_claim_event: {
        ethereum_event_nonce: expect.stringMatching(/^\d+$/),
        ethereum_event_height: expect.stringMatching(/^\d+$/),
      },
    });
  });

  it('has the names of ZetaChain, of which the exporter derives the same', async () => {
    const { text } = await query('zeta', '/zeta-chain/crosschain/rateLimiterInput?window=500');
    expect(text).toContain('"zeta_fees"');
    expect(text).toContain('"coin_type":"Zeta"');
    expect(text).not.toMatch(/native_fees|"Native"/);
    const familiesOf = (document: unknown) => crosschainSnapshot(document).renderedFamilies;
    expect(familiesOf(JSON.parse(text))).toEqual(familiesOf(model.rateLimiterInput({ window: 500n })));
  });
});
