import {
  type Column,
  type Dashboard,
  datasourceVariable,
  labelVariable,
  type Row,
  stat,
  table,
  timeseries,
} from './grafana.js';
import {
  batchBlocksLeft,
  batchLifeLeft,
  externalBlockSeconds,
  hubBlockSeconds,
  latest,
  latestBy,
  moved,
  noBatchSeconds,
  oldestBatchBlocks,
  oldestCctxSeconds,
  sameOldestSeconds,
  smallestUnits,
  TARGET,
  wholeCoins,
  withSymbol,
} from './queries.js';
import {
  batchLifeLeft as batchLifeSteps,
  cctxAge,
  dataAge,
  noBatch,
  noneIsGood,
  rateLimitUse,
  sameOldest,
  signedPower,
  someIsBusy,
  transfersWaiting,
  valsetDrift,
} from './thresholds.js';

const BLOCKS = 'suffix: blocks';

const waiting = `${latest('bridge_unbatched_transfers')} + on (target) ${latest('bridge_batch_transactions')}`;

const glance: Row = {
  title: 'Is money stuck?',
  panels: [
    table({
      title: 'Alerts that fire',
      description:
        'What Prometheus says is wrong, and since when; the runbook has a section for each name. The watchdog always fires: a list without it says nothing about the bridge. Empty when the alert rules are not loaded or not evaluated.',
      height: 6,
      keys: {
        alertname: 'Alert',
        severity: 'Severity',
        target: 'Target',
        endpoint: 'Endpoint',
        orchestrator: 'Orchestrator',
        chain_id: 'Chain id',
      },
      columns: [
        {
          title: 'Active for',
          expr: 'max by (alertname, severity, target, endpoint, orchestrator, chain_id) (time() - ALERTS_FOR_STATE{alertname=~"(Bridge|Crosschain).*", target=~"$target|"} and ignoring (alertstate) ALERTS{alertstate="firing", alertname=~"(Bridge|Crosschain).*", target=~"$target|"})',
          unit: 's',
          decimals: 0,
        },
      ],
      keyWords: {
        Severity: { critical: ['critical', 'red'], warning: ['warning', 'orange'], info: ['info', 'blue'] },
      },
      sortBy: { column: 'Severity', isDescending: false },
    }),
    table({
      title: 'Each bridge at a glance',
      description:
        'One row a target. A red cell is money that waits for someone: look first whether the data is fresh, then at signatures, batches and events. A dash is a figure the node gave no data for, or one that does not apply, such as the oldest transfer when none waits. The target links to its signers; the items behind the numbers are on the page /pending of the exporter.',
      height: 6,
      keys: { target: 'Target' },
      linksTo: { title: 'Signers', uid: 'bridge-signers' },
      columns: [
        {
          title: 'Age of data',
          expr: `time() - min by (target) (max by (target, endpoint) (bridge_exporter_last_success_timestamp_seconds{${TARGET}}))`,
          unit: 's',
          decimals: 0,
          steps: dataAge,
        },
        {
          title: 'Last polls',
          expr: `min by (target) (max by (target, endpoint) (bridge_exporter_up{${TARGET}}))`,
          unit: 'none',
          words: { '0': ['failed', 'orange'], '1': ['ok', 'green'] },
        },
        { title: 'Transfers waiting', expr: waiting, unit: 'short', steps: transfersWaiting },
        { title: 'No batch for', expr: noBatchSeconds, unit: 's', decimals: 0, steps: noBatch },
        { title: 'Same oldest for', expr: sameOldestSeconds, unit: 's', decimals: 0, steps: sameOldest },
        { title: 'Batches unsigned', expr: latest('bridge_batches_below_threshold'), unit: 'short', steps: someIsBusy },
        { title: 'Batches overdue', expr: latest('bridge_batches_overdue'), unit: 'short', steps: noneIsGood },
        {
          title: 'Valsets unsigned',
          expr: latest('bridge_unrelayed_valsets_below_threshold'),
          unit: 'short',
          steps: someIsBusy,
        },
        { title: 'Events pending', expr: latest('bridge_pending_events'), unit: 'short' },
        { title: 'Conflicting', expr: latest('bridge_conflicting_claims'), unit: 'short', steps: noneIsGood },
        { title: 'Cctxs pending', expr: latest('crosschain_total_pending'), unit: 'short' },
        { title: 'Cctxs missed', expr: latest('crosschain_cctxs_missed'), unit: 'short', steps: someIsBusy },
        { title: 'Oldest cctx', expr: oldestCctxSeconds, unit: 's', decimals: 0, steps: cctxAge },
        {
          title: 'Rate limit used',
          expr: latest('crosschain_rate_limit_utilization_ratio'),
          unit: 'percentunit',
          decimals: 0,
          steps: rateLimitUse,
        },
      ],
    }),
    stat({
      title: 'Transfers waiting',
      description:
        'Withdrawals that users have paid for and not received: those without a batch and those in live batches. Many are normal at busy hours; many that do not move are not, see the time beside it.',
      unit: 'short',
      decimals: 0,
      steps: transfersWaiting,
      noValue: 'no data',
      series: [{ expr: waiting, legend: '{{target}}' }],
    }),
    stat({
      title: 'They wait and no batch is built for',
      description:
        'Time since the last batch was built, at most the six hours looked at, while enough transfers have waited for long enough that one should have been. The batch creator is down, or the fees do not pay: see the amounts and fees by token. Empty when only a few transfers wait, or have not waited for long.',
      unit: 's',
      decimals: 0,
      steps: noBatch,
      noValue: 'few wait',
      series: [{ expr: noBatchSeconds, legend: '{{target}}' }],
    }),
    stat({
      title: 'Oldest transfer is the same for',
      description:
        'For how long the oldest waiting transfer has been the same one, at most the six hours looked at: its money is stuck for at least so long. Look at the batches for whether it waits for a batch, for signatures or for a relayer. Empty when no transfer waits.',
      unit: 's',
      decimals: 0,
      steps: sameOldest,
      noValue: 'none waits',
      series: [{ expr: sameOldestSeconds, legend: '{{target}}' }],
    }),
    stat({
      title: 'Weakest batch: signatures',
      description:
        'Signed power of the live batch that has least, as a share of what the contract asks for: from 100 % anyone can relay it. Below, the Signers dashboard says whose signature is missing. Empty when there is no batch.',
      unit: 'percentunit',
      decimals: 0,
      steps: signedPower,
      noValue: 'no batch',
      series: [
        {
          expr: `${latest('bridge_batch_min_signed_power_ratio')} / on (target) ${latest('bridge_power_threshold_ratio')}`,
          legend: '{{target}}',
        },
      ],
    }),
    stat({
      title: 'Life left of the first batch',
      description:
        'Share of the life of a new batch that is left to the live one that times out first, by the external height reckoned for now. Near zero find out why no one relays; below, it is dead outside and its transfers are locked until the hub observes an event. Empty when there is no batch.',
      unit: 'percentunit',
      decimals: 0,
      steps: batchLifeSteps,
      noValue: 'no batch',
      series: [{ expr: batchLifeLeft, legend: '{{target}}' }],
    }),
    stat({
      title: 'Oldest cross-chain transaction',
      description:
        'Age of the oldest listed cross-chain transaction, missed or pending, over all chains. The Cross-chain dashboard says on which chain. Empty when none waits, or without a cross-chain endpoint.',
      unit: 's',
      decimals: 0,
      steps: cctxAge,
      noValue: 'none waits',
      series: [{ expr: oldestCctxSeconds, legend: '{{target}}' }],
    }),
  ],
};

const backlog: Row = {
  title: 'Backlog',
  panels: [
    timeseries({
      title: 'Transfers waiting, by place',
      description:
        'Without a batch: no one has asked for one, mostly because the fees are too low or the batch creator is down. In a batch: they wait for signatures or a relayer.',
      unit: 'short',
      width: 12,
      min: 0,
      series: [
        { expr: latest('bridge_unbatched_transfers'), legend: '{{target}} without a batch' },
        { expr: latest('bridge_batch_transactions'), legend: '{{target}} in batches' },
      ],
    }),
    timeseries({
      title: 'Transfers waiting, by token',
      description:
        'Both places together. One token alone that grows is a matter of its fees, its price feed or its batch; all of them are a matter of the signers, the relayers or the hub.',
      unit: 'short',
      width: 12,
      min: 0,
      series: [
        {
          expr: withSymbol(
            `${latestBy(['token_contract', 'denom'], 'bridge_token_unbatched_transfers')} + on (target, token_contract, denom) ${latestBy(['token_contract', 'denom'], 'bridge_token_batched_transfers')}`,
          ),
          legend: '{{target}} {{symbol}} {{token_contract}}',
        },
      ],
    }),
    timeseries({
      title: 'Transfers asked for in 15 minutes',
      description:
        'What comes in: how far the id of the last transfer has moved. A backlog that grows while this is low does not drain.',
      unit: 'short',
      series: [{ expr: moved('bridge_last_outgoing_pool_id'), legend: '{{target}}' }],
    }),
    timeseries({
      title: 'Batches built in 15 minutes',
      description:
        'How far the number of the last batch has moved. Zero while transfers wait without a batch: the batch creator is down, or the fees do not pay.',
      unit: 'short',
      series: [{ expr: moved('bridge_last_outgoing_batch_id'), legend: '{{target}}' }],
    }),
    timeseries({
      title: 'Transfers asked for since the oldest',
      description:
        'Distance of the id of the oldest waiting transfer from the last one: how many people have come after the one who waits longest. A line that climbs without a step down is a transfer left behind. Empty when no transfer waits.',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: `${latest('bridge_last_outgoing_pool_id')} - on (target) ${latest('bridge_oldest_pending_transfer_id')}`,
          legend: '{{target}}',
        },
      ],
    }),
    table({
      title: 'Waiting by token, in whole coins',
      description:
        'Amounts and fees of tokens whose decimals are configured, without a batch and in live batches. High amounts with low fees wait because no batch pays. Empty when no decimals are configured.',
      height: 9,
      keys: { target: 'Target', symbol: 'Symbol', token_contract: 'Contract', denom: 'Denom' },
      columns: tokenColumns((metric) => withSymbol(wholeCoins(metric)), 4),
      sortBy: { column: 'Without a batch: amount', isDescending: true },
    }),
    table({
      title: 'Waiting by token of unknown decimals, in smallest units',
      description:
        'The same for tokens without configured decimals: do not compare these amounts with one another. Add the token to the configuration to see coins. Empty when the decimals of all tokens are configured, as in the demo.',
      height: 6,
      keys: { target: 'Target', token_contract: 'Contract', denom: 'Denom' },
      columns: tokenColumns(smallestUnits, 0),
      sortBy: { column: 'Without a batch: amount', isDescending: true },
    }),
  ],
};

function tokenColumns(amountOf: (metric: string) => string, decimals: number): Column[] {
  const unit = decimals === 0 ? 'none' : 'locale';
  return [
    {
      title: 'Without a batch: amount',
      expr: amountOf('bridge_token_unbatched_amount'),
      unit,
      decimals,
    },
    { title: 'Without a batch: fees', expr: amountOf('bridge_token_unbatched_fees'), unit, decimals },
    { title: 'In batches: amount', expr: amountOf('bridge_token_batched_amount'), unit, decimals },
    { title: 'In batches: fees', expr: amountOf('bridge_token_batched_fees'), unit, decimals },
  ];
}

const batches: Row = {
  title: 'Batches',
  panels: [
    timeseries({
      title: 'Live batches, by state',
      description:
        'Below the threshold: no one can relay them yet, for minutes normal. Overdue: dead outside and still held here; the hub lets go of them with the next observed event, so look at the events. Expired: the hub cancels them.',
      width: 12,
      unit: 'short',
      min: 0,
      series: [
        { expr: latest('bridge_batches'), legend: '{{target}} live' },
        { expr: latest('bridge_batches_below_threshold'), legend: '{{target}} below the threshold' },
        { expr: latest('bridge_batches_overdue'), legend: '{{target}} overdue' },
        { expr: latest('bridge_batches_expired'), legend: '{{target}} expired' },
      ],
    }),
    timeseries({
      title: 'Signed power of the weakest batch',
      description:
        'Share of the power of the validator set in the contract that has signed the batch with least. The dashed line is the configured share the contract asks for: below it no one can relay. Empty when there is no batch.',
      width: 12,
      unit: 'percentunit',
      min: 0,
      max: 1,
      series: [
        { expr: latest('bridge_batch_min_signed_power_ratio'), legend: '{{target}}' },
        { expr: latest('bridge_power_threshold_ratio'), legend: '{{target}} threshold', isReference: true },
      ],
    }),
    timeseries({
      title: 'Age of the oldest batch',
      description:
        'Hub blocks since the oldest live batch was built. Signers are jailed for a batch that lives longer than the signed-batches window unsigned. Empty when there is no batch, or the node sends no height.',
      unit: BLOCKS,
      min: 0,
      series: [{ expr: oldestBatchBlocks, legend: '{{target}}' }],
    }),
    timeseries({
      title: 'Age of the oldest batch, estimated',
      description:
        'The same as time, by the hub block time measured over 15 minutes. Empty when there is no batch, or the node sends no height.',
      unit: 's',
      min: 0,
      series: [{ expr: `(${oldestBatchBlocks}) * on (target) ${hubBlockSeconds}`, legend: '{{target}}' }],
    }),
    timeseries({
      title: 'Life left of the first batch, over time',
      description:
        'Share of the life of a new batch that is left to the live one that times out first; below zero it is dead outside. Empty when there is no batch.',
      unit: 'percentunit',
      steps: batchLifeSteps,
      series: [{ expr: batchLifeLeft, legend: '{{target}}' }],
    }),
    timeseries({
      title: 'External blocks to the first timeout',
      description:
        'From the height reckoned for now, or where that cannot be reckoned from the last observed one, to the first timeout of a live batch. Empty when there is no batch.',
      width: 12,
      unit: BLOCKS,
      series: [{ expr: batchBlocksLeft, legend: '{{target}}' }],
    }),
    timeseries({
      title: 'Estimated time to the first timeout',
      description:
        'The same as time, by the external block time of the parameters, which can differ from the real one. Empty when there is no batch.',
      width: 12,
      unit: 's',
      series: [{ expr: `(${batchBlocksLeft}) * on (target) ${externalBlockSeconds}`, legend: '{{target}}' }],
    }),
  ],
};

const events: Row = {
  title: 'Events from outside',
  panels: [
    timeseries({
      title: 'Events pending',
      description:
        'Events that someone has claimed and the hub has not observed. Some for a few minutes are normal; a line that only climbs is an oracle that stands still: deposits do not arrive and batches do not finish.',
      unit: 'short',
      min: 0,
      series: [{ expr: latest('bridge_pending_events'), legend: '{{target}}' }],
    }),
    timeseries({
      title: 'Votes for the next event',
      description:
        'Share of the power that voted for the best claim of the event to observe next. The hub asks for about two thirds; the Signers dashboard shows who has not voted. Empty when no one has claimed the next event, as on a quiet bridge.',
      unit: 'percentunit',
      min: 0,
      max: 1,
      series: [{ expr: latest('bridge_next_event_voted_power_ratio'), legend: '{{target}}' }],
    }),
    timeseries({
      title: 'Age of the next event',
      description:
        'Hub blocks since the first claim of the event to observe next. Empty when no one has claimed the next event, as on a quiet bridge, or the node sends no height.',
      unit: BLOCKS,
      min: 0,
      series: [
        {
          expr: `${latest('bridge_height')} - on (target) ${latest('bridge_next_event_first_vote_height')}`,
          legend: '{{target}}',
        },
      ],
    }),
    timeseries({
      title: 'Events observed in 15 minutes',
      description:
        'How far the last observed nonce has moved. Zero is health as long as no event is pending; below zero the contract or the node was changed.',
      unit: 'short',
      series: [{ expr: moved('bridge_last_observed_nonce'), legend: '{{target}}' }],
    }),
    timeseries({
      title: 'Events with conflicting claims',
      description:
        'Events for which validators claim different things. The oracle halts at such an event until enough power agrees: ask the validators of the smaller side to check their external node.',
      unit: 'short',
      min: 0,
      series: [{ expr: latest('bridge_conflicting_claims'), legend: '{{target}}' }],
    }),
    timeseries({
      title: 'Lead of the claims',
      description:
        'Distance of the highest claimed event from the last observed one. It can be below zero for moments, when the state keeps no claim of the newest events. Empty when the state keeps no claim at all.',
      unit: 'short',
      series: [
        {
          expr: `${latest('bridge_newest_attested_nonce')} - on (target) ${latest('bridge_last_observed_nonce')}`,
          legend: '{{target}}',
        },
      ],
    }),
    timeseries({
      title: 'Attestations held, by whether they are observed',
      description: 'What the hub still keeps. Normally one that is observed and the pending ones.',
      unit: 'short',
      min: 0,
      width: 12,
      series: [{ expr: latestBy(['observed'], 'bridge_attestations'), legend: '{{target}} observed {{observed}}' }],
    }),
    timeseries({
      title: 'External height: reckoned ahead of observed',
      description:
        'External blocks by which the height reckoned for now is ahead of the last observed event: how long the hub has seen nothing of the outside. A quiet bridge climbs for hours; timeouts of batches are noticed only with the next event.',
      unit: BLOCKS,
      min: 0,
      width: 12,
      series: [
        {
          expr: `${latest('bridge_external_height_projected')} - on (target) ${latest('bridge_last_observed_external_height')}`,
          legend: '{{target}}',
        },
      ],
    }),
  ],
};

const valsets: Row = {
  title: 'Validator sets',
  panels: [
    timeseries({
      title: 'Validator sets, by state',
      description:
        'Held by the hub; unrelayed: newer than the one in the contract; below the threshold: no one can relay them. Unrelayed ones that pile up need a relayer.',
      unit: 'short',
      min: 0,
      series: [
        { expr: latest('bridge_valsets'), legend: '{{target}} held' },
        { expr: latest('bridge_unrelayed_valsets'), legend: '{{target}} unrelayed' },
        { expr: latest('bridge_unrelayed_valsets_below_threshold'), legend: '{{target}} below the threshold' },
      ],
    }),
    timeseries({
      title: 'Signed power of the weakest unrelayed set',
      description:
        'Share of the power of the set in the contract that has signed the unrelayed set with least. The dashed line is the share the contract asks for. Only the dashed line is there while no set is unrelayed.',
      unit: 'percentunit',
      min: 0,
      max: 1,
      series: [
        { expr: latest('bridge_unrelayed_valset_min_signed_power_ratio'), legend: '{{target}}' },
        { expr: latest('bridge_power_threshold_ratio'), legend: '{{target}} threshold', isReference: true },
      ],
    }),
    timeseries({
      title: 'Drift of the set in the contract',
      description:
        'How much power has changed hands between the set in the contract and the newest one, as the sum of all differences. When a third of the power is new, the members that the contract knows can no longer sign alone: have the newest set relayed before.',
      unit: 'percentunit',
      min: 0,
      steps: valsetDrift,
      series: [{ expr: latest('bridge_valset_power_drift_ratio'), legend: '{{target}}' }],
    }),
    timeseries({
      title: 'Members',
      description: 'Members of the newest set and of the one in the contract.',
      unit: 'short',
      width: 12,
      series: [
        { expr: latest('bridge_newest_valset_members'), legend: '{{target}} newest' },
        { expr: latest('bridge_last_observed_valset_members'), legend: '{{target}} in the contract' },
      ],
    }),
    timeseries({
      title: 'Age of the sets',
      description:
        'Hub blocks since the newest set and the set in the contract were made; the nonce of a set is the height of its creation. Empty when the node sends no height.',
      unit: BLOCKS,
      width: 12,
      series: [
        {
          expr: `${latest('bridge_height')} - on (target) ${latest('bridge_newest_valset_nonce')}`,
          legend: '{{target}} newest',
        },
        {
          expr: `${latest('bridge_height')} - on (target) ${latest('bridge_last_observed_valset_nonce')}`,
          legend: '{{target}} in the contract',
        },
      ],
    }),
  ],
};

function param(title: string, name: string, unit: string): Column {
  return { title, expr: latest(`bridge_params_${name}`), unit };
}

const limits: Row = {
  title: 'Parameters and limits',
  isCollapsed: true,
  panels: [
    timeseries({
      title: 'Changes in the hour before',
      description:
        'Changes of any parameter or of the blacklist. Each should be known beforehand: a change of the contract address or the bridge id stops the bridge.',
      unit: 'short',
      min: 0,
      width: 12,
      series: [
        { expr: `max by (target) (changes(bridge_params_hash{${TARGET}}[1h]))`, legend: '{{target}} parameters' },
        {
          expr: `max by (target) (changes(bridge_external_blacklist_hash{${TARGET}}[1h]))`,
          legend: '{{target}} blacklist',
        },
      ],
    }),
    timeseries({
      title: 'Accounts, addresses and tokens',
      description:
        'Lengths of the lists that change rarely. More admins or blacklisted addresses than yesterday should be known to you.',
      unit: 'short',
      min: 0,
      width: 12,
      series: [
        { expr: latest('bridge_params_admins'), legend: '{{target}} admins' },
        { expr: latest('bridge_external_blacklist'), legend: '{{target}} blacklisted addresses' },
        { expr: latest('bridge_erc20_to_denoms'), legend: '{{target}} tokens of the hub' },
      ],
    }),
    table({
      title: 'Identity',
      description: 'Which bridge this is, as the parameters say. Compare with what you have written down.',
      height: 5,
      keys: {
        target: 'Target',
        bridge_id: 'Bridge id',
        bridge_chain_id: 'External chain id',
        bridge_external_address: 'Contract',
        contract_source_hash: 'Source hash',
        hub_coin_denom: 'Hub coin',
        hub_coin_erc20_contract: 'Contract of the hub coin',
      },
      columns: [
        {
          title: 'Is known',
          expr: latestBy(
            [
              'bridge_id',
              'bridge_chain_id',
              'bridge_external_address',
              'contract_source_hash',
              'hub_coin_denom',
              'hub_coin_erc20_contract',
            ],
            'bridge_params_info',
          ),
          unit: 'none',
          isHidden: true,
        },
      ],
    }),
    table({
      title: 'Windows and times',
      description:
        'Blocks a signer has before it is jailed, and the times the module reckons with; the real block times can differ, which makes its estimates of the external height differ as well.',
      height: 5,
      keys: { target: 'Target' },
      columns: [
        param('Sign validator sets', 'signed_valsets_window_blocks', BLOCKS),
        param('Sign batches', 'signed_batches_window_blocks', BLOCKS),
        param('Claim events', 'signed_claims_window_blocks', BLOCKS),
        param('Sign after unbonding', 'unbond_slashing_valsets_window_blocks', BLOCKS),
        param('Life of a batch', 'target_batch_timeout_seconds', 's'),
        param('Hub block', 'average_block_time_seconds', 's'),
        param('External block', 'average_external_block_time_seconds', 's'),
        param('Contract deployed at', 'bridge_contract_start_height', 'none'),
      ],
    }),
    table({
      title: 'Slashing and rewards',
      description:
        'Share of the stake that is slashed, for what; newer chains only jail. The reward for relaying a validator set is in smallest units of its coin.',
      height: 5,
      keys: { target: 'Target' },
      columns: [
        param('Unsigned validator set', 'slash_fraction_valset_ratio', 'percentunit'),
        param('Unsigned batch', 'slash_fraction_batch_ratio', 'percentunit'),
        param('Missing claim', 'slash_fraction_claim_ratio', 'percentunit'),
        param('Conflicting claim', 'slash_fraction_conflicting_claim_ratio', 'percentunit'),
        param('Bad signature', 'slash_fraction_bad_eth_signature_ratio', 'percentunit'),
        {
          ...param('Claims are slashed', 'claim_slashing_enabled', 'none'),
          words: { '0': ['no', 'text'], '1': ['yes', 'text'] },
        },
        param('Reward (smallest units)', 'valset_reward_amount', 'none'),
      ],
    }),
  ],
};

export const bridgeOverview: Dashboard = {
  uid: 'bridge-overview',
  title: 'Bridge overview',
  description: 'Is money stuck, since when, and what does it wait for: a batch, signatures, a relayer, or the outside.',
  tags: ['bridge'],
  variables: [datasourceVariable, labelVariable('target', 'Target', 'bridge_exporter_polls_total')],
  rows: [glance, backlog, batches, events, valsets, limits],
};
