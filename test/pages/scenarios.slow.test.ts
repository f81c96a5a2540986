import { describe, expect, it } from 'vitest';
import { endpointStatus } from '../../src/pages/endpoint-view.js';
import { statusPage } from '../../src/pages/status-page.js';
import { targetViews } from '../../src/pages/target-view.js';
import { isoTime } from '../../src/pages/time.js';
import { scenarioNames, type ScenarioName } from '../../src/simulator/scenarios.js';
import { instantAt, record } from '../alerts/recording.js';
import { instance, testLinks, textOf } from './sample-snapshots.js';

/*
 * What the status page says first in every scenario of the simulator, when the pager rings: what is wrong, who has to act, how urgent
 * it is.
 */

const HEALTHY_MINUTES = 10;

/** The heading, what it has no room for, if anything, and the next step, some minutes after the scenario has begun. */
function headingAfter(scenario: ScenarioName, minutes: number): string[] {
  let html = '';
  // Other chains cannot become a main network.
  const isMainnet = scenario === 'mainnet';
  record([{ minutes: HEALTHY_MINUTES }, { minutes, scenario }], {
    scenario: isMainnet ? scenario : 'healthy',
    valsets: 12,
    keep: new Set(),
    observe: (verdicts, minute, endpoints) => {
      if (minute < HEALTHY_MINUTES + minutes - 1) return;
      const now = instantAt(minute * 60);
      const statuses = endpoints.map((state) => endpointStatus(state, 'http://node.example', now));
      const targets = targetViews(verdicts, statuses, testLinks(), now);
      html = statusPage(
        { generatedAt: isoTime(now.epochSeconds), targets, endpoints: statuses, validatorNames: [], instance },
        { telemetryPath: '/metrics', version: '0.1.0' },
      );
    },
  });
  const lines = textOf(html).split('\n');
  return lines.slice(0, lines.findIndex((line) => /^(Act |For the record|Observing since)/.test(line)) + 1);
}

const scenarios: Readonly<Record<ScenarioName, readonly [minutes: number, ...lines: string[]]>> = {
  healthy: [30, 'No problem on demo', 'Observing since 14:13:20 UTC (39 min).'],
  quiet: [30, 'No problem on demo', 'Observing since 14:13:20 UTC (39 min).'],
  mainnet: [30, 'No problem on demo', 'Observing since 14:13:20 UTC (39 min).'],
  backlog: [
    40,
    'warning demo: the number of pending transfers has been above 500 for 37 min',
    '1740 at present, of which 1420 in no batch',
    'Act in working hours: Check whether batches are built, signed and relayed.',
  ],
  stuck: [
    40,
    'critical demo: no event observed for 39 min, 194 waiting',
    '6 validators with 52 % of the power have not voted: Validator Guild (yours), Northwind Staking, Quorum Works, Harbor Nodes, Blue Mesa, Tidewater',
    'Act now: Check the orchestrator of your validator Validator Guild first. Contact the operators of the validators that have not voted; deposits and executed batches do not reach the hub.',
  ],
  'unsigned-batch': [
    40,
    'critical demo: batches have lacked signatures for 36 min, 5 at present',
    '6 validators with 52 % of the power have not signed batch 26084: Validator Guild (yours), Northwind Staking, Quorum Works, Blue Mesa, Harbor Nodes, Tidewater; it times out in about 11 h 23 min; 3.09M usdt in them',
    'Act now: Check the orchestrator of your validator Validator Guild first. Contact the operators of the validators that have not signed; the batches cannot be relayed.',
  ],
  'silent-signer': [
    70,
    'warning demo: signatures of 1 validator with 5 % of the power have been missing for 69 min, on up to 6 batches',
    'Validator Guild (yours); it is jailed in 9827 hub blocks (about 2 d 6 h)',
    'Act in working hours: Check the orchestrator of your validator Validator Guild first. An orchestrator that does not sign has stopped, has no funds or cannot reach its nodes.',
  ],
  'stalled-oracle': [
    30,
    'critical demo: no event observed for 29 min, 188 waiting',
    '6 validators with 52 % of the power have not voted: Validator Guild (yours), Northwind Staking, Quorum Works, Harbor Nodes, Blue Mesa, Tidewater',
    'Act now: Check the orchestrator of your validator Validator Guild first. Contact the operators of the validators that have not voted; deposits and executed batches do not reach the hub.',
  ],
  'conflicting-claims': [
    20,
    'critical demo: validators have disagreed about the external height of event 97651 for 19 min',
    '54 % of the power claim external height 21380533, 46 % claim external height 21380534',
    'Act now: Compare the claims with the event on the external chain. Votes cannot be changed, so only an upgrade or a new contract ends it; no later event is observed.',
  ],
  'batch-timeout': [
    50,
    'critical demo: transfers have been locked for 36 min in 3 batches past the timeout at the estimated external height',
    '31.4K hub, 134 weth, 2.67B meme in them',
    'Act now: Check that the contract is not paused, then make a small deposit on the external chain: the hub cancels the batches with the next observed event.',
  ],
  'no-relayer': [
    250,
    'critical demo: no signed batch has been executed for 4 h 8 min, 13 waiting',
    '60.5K hub, 231K usdt, 160 weth, 117K usdc, 2.55B meme in them; the first times out in 2349 external blocks (about 7 h 49 min)',
    'Act now: Check the relayers: funds for gas, maximum gas price, minimum fee, and whether the contract is paused. Anyone can relay a batch.',
  ],
  'valset-drift': [
    70,
    'warning demo: the newest validator set has lacked signatures for 67 min',
    '3 % of the power has signed it; 19 validators with 94 % of the power have not signed it: Validator Guild (yours), Quorum Works, Copperfield, Harbor Nodes, Signal Hill and 14 more; who does not sign it is jailed in about 2 d 7 h',
    'Act in working hours: Check the orchestrator of your validator Validator Guild first. Contact the operators of the validators that have not signed; the contract keeps an older validator set.',
  ],
  'missed-cctxs': [
    130,
    'critical demo: missed transactions stop 5 chains',
    'Ethereum (1) is frozen behind nonce 40863, bsc (56) is frozen behind nonce 60564, arbitrum (42161) is frozen behind nonce 66701, base (8453) is frozen behind nonce 19816, polygon (137) is frozen behind nonce 21517',
    'Act now: Begin with the lowest missed nonce. A missed transaction was executed: look it up on its chain by its nonce, and have an observer post its hash. Do not abort it, because that can pay twice.',
  ],
  'stuck-chain': [
    55,
    'critical demo: nothing has moved for 55 min on chain bsc (56) at nonce 60555 with an outbound hash',
    'Act now: The outbound has a hash, so it is in a block and waits for confirmations or votes: look it up on the chain, then check the observers.',
  ],
  truncated: [
    20,
    'warning demo: the node has omitted pending cross-chain transactions from its list for 18 min, 368 at present',
    'Act in working hours: Remove limit from the configuration if it is set. Otherwise the backlog is longer than the 500 that a node lists: find out which chain does not move.',
  ],
  'outbound-disabled': [10, 'No problem on demo', 'Observing since 14:13:20 UTC (19 min).'],
  syncing: [
    20,
    'warning demo: the newest block of the node of module_state is 3 h old, and the node has been behind for 18 min',
    'Act in working hours: Wait until the node has caught up, or poll another one; if it does not catch up, check its peers and its load.',
  ],
  'rate-limited': [40, 'No problem on demo', 'Observing since 14:13:20 UTC (49 min).'],
};

describe('the heading of the status page', () => {
  it.each(scenarioNames)('in the scenario %s says what is wrong, who has to act and how urgent it is', (scenario) => {
    const [minutes, ...lines] = scenarios[scenario];
    expect(headingAfter(scenario, minutes)).toEqual(lines);
  });
});
