import {
  type Column,
  type Dashboard,
  type Row,
  stateTimelinePanel,
  statPanel,
  tablePanel,
  timeSeriesPanel,
} from './grafana.js';
import { commonVariables, dashboardLink, exporterUrlVariable, pendingItemsLink, rowLink } from './filters.js';
import {
  ALERT_FILTERS,
  batchBlocksLeft,
  batchLifetimeLeft,
  cctxsTooOld,
  changeOf,
  externalBlockSeconds,
  hubBlockSeconds,
  latest,
  increaseBy,
  latestBy,
  oldestBatchBlocks,
  oldestCctxAge,
  oldestDueSeconds,
  payingTokens,
  problemSeverity,
  quantileOf,
  smallestUnits,
  FILTERS,
  wholeCoins,
  withSymbol,
} from './queries.js';
import { problemTable } from './problems.js';
import {
  aboveLimit,
  batchLifetimeThresholds as batchLifeSteps,
  dataAge,
  limitUsed,
  orangeFromOne,
  problemSeverities,
  rateLimitUtilization,
  orangeAboveZero,
  valsetDrift,
} from './thresholds.js';

const toSigners = dashboardLink('Signers', 'bridge-signers');
const toValidator = dashboardLink('Validator', 'bridge-validator');
const toCrossChain = dashboardLink('Cross-chain', 'bridge-cross-chain');
const toExporter = dashboardLink('Exporter', 'bridge-exporter');

const BLOCKS = 'suffix:blocks';

/** Those of problems have the label `problem`, besides BridgeProblemUnjudged. */
const EXPORTER_ALERTS = `alertname=~"(Bridge|Crosschain).*", alertname!="BridgeWatchdog", problem="", ${ALERT_FILTERS}`;

const pendingTransfers = `${latest('bridge_unbatched_transfers')} + on (cluster, target) ${latest('bridge_batch_transactions')}`;

const backlogUsed = `(${pendingTransfers}) / on (cluster, target) ${latest('bridge_backlog_limit_transfers')}`;

/** The signed power that is missing to the threshold, 0 when enough has signed. */
function powerMissing(metric: string): string {
  return `clamp_min(${latest('bridge_power_threshold_ratio')} - on (cluster, target) ${latest(metric)}, 0)`;
}

/** The values of two metrics of each token together. */
function sumByToken(first: string, second: string): string {
  const labels = ['token_contract', 'denom'];
  return `${latestBy(labels, first)} + on (cluster, target, token_contract, denom) ${latestBy(labels, second)}`;
}

const pendingAmounts = sumByToken('bridge_token_unbatched_amount', 'bridge_token_batched_amount');
const transfersByToken = sumByToken('bridge_token_unbatched_transfers', 'bridge_token_batched_transfers');

/** What waits of each token in whole coins, and in multiples of its minimum fee. */
const pendingCoins = `(${pendingAmounts}) / on (cluster, target, token_contract) group_left () (10 ^ ${latestBy(['token_contract'], 'bridge_token_decimals')})`;
const timesMinimumFee = `(${pendingAmounts}) / on (cluster, target, token_contract) group_left () ${latestBy(['token_contract'], 'bridge_token_min_batch_fee')}`;

const aboveZero = (expr: string): string => `(${expr}) > 0`;

function bySymbol(expr: string): string {
  return `sum by (cluster, target, symbol) (${withSymbol(expr)})`;
}

const problems: Row = {
  title: 'Problems',
  panels: [
    problemTable({
      title: 'What is wrong now',
      noValue: 'nothing is wrong, if the data is current',
      description:
        'The problems of each target, worst first, and how old they are. A problem that builds up gets its color when its alert fires; without the alert rules it stays yellow. The runbook has a section for each. Those younger than ten minutes are left out until their alert fires. Empty when nothing is wrong, as in the demo, and while the exporter has no current data: see the alerts below.',
      height: 8,
      cellLinks: { Target: [pendingItemsLink] },
    }),
    stateTimelinePanel({
      title: 'Problems over time',
      noValue: 'nothing was wrong',
      description:
        'When each problem was there, in yellow until its alert fires. Yellow bars are normal, also of critical problems: a batch lacks signatures for some minutes, and a queue waits for its next batch. Empty when nothing was wrong.',
      unit: 'none',
      width: 14,
      valueTexts: problemSeverities,
      series: [{ expr: problemSeverity(['problem']), legend: '{{cluster}} {{target}} {{problem}}' }],
    }),
    tablePanel({
      title: 'Alerts on the exporter and its data',
      noValue: 'no such alert fires; Bridge / Exporter shows whether the rules are loaded',
      description:
        'The firing alerts that are about no problem of a target: whether an exporter is there, its polls succeed and its data is current. While they do not, problems cannot be seen. BridgeWatchdog, which always fires, is left out. Empty when none fires, as in the demo, and when the alert rules are not loaded or not evaluated.',
      width: 10,
      rowLabels: {
        alertname: 'Alert',
        severity: 'Severity',
        cluster: 'Cluster',
        target: 'Target',
        document: 'Document',
      },
      columns: [
        {
          title: 'Active for',
          expr: `max by (alertname, severity, cluster, target, document) (time() - ALERTS_FOR_STATE{${EXPORTER_ALERTS}} and ignoring (alertstate) ALERTS{alertstate="firing", ${EXPORTER_ALERTS}})`,
          unit: 's',
          decimals: 0,
        },
      ],
      rowLabelTexts: {
        Severity: {
          critical: ['critical', 'red'],
          warning: ['warning', 'orange'],
          info: ['info', 'blue'],
        },
      },
      sortBy: { column: 'Severity', isDescending: false },
    }),
  ],
};

const summary: Row = {
  title: 'Are transfers stuck?',
  panels: [
    tablePanel({
      title: 'What waits, by token',
      noValue: 'nothing waits',
      description:
        'One row per token with pending transfers, the most worth first. “Times minimum fee” compares tokens: the minimum fees of all tokens, min_batch_fee, have about the same worth; a dash without one. “Stuck in the queue” is the amount in no batch of a token whose fees pay for one: a batch should be built within minutes. Amounts are in whole coins, for tokens with configured decimals; BridgeBacklogStuck and BridgeBatchNotRelayed fire when they do not move.',
      height: 6,
      rowLabels: { cluster: 'Cluster', target: 'Target', symbol: 'Token' },
      cellLinks: { Target: [pendingItemsLink] },
      columns: [
        {
          title: 'Stuck in the queue',
          expr: bySymbol(
            `(${wholeCoins('bridge_token_unbatched_amount')}) and on (cluster, target, token_contract) ${payingTokens}`,
          ),
          unit: 'short',
          decimals: 2,
          thresholds: orangeAboveZero,
        },
        { title: 'All pending', expr: bySymbol(aboveZero(pendingCoins)), unit: 'short', decimals: 2 },
        { title: 'Transfers', expr: bySymbol(aboveZero(transfersByToken)), unit: 'short', decimals: 0 },
        { title: 'Times minimum fee', expr: bySymbol(aboveZero(timesMinimumFee)), unit: 'short', decimals: 0 },
      ],
      sortBy: { column: 'Times minimum fee', isDescending: true },
    }),
    tablePanel({
      title: 'Bridges',
      links: [toSigners, toValidator, toExporter],
      description:
        'One row per target. Check first whether the data is current, then signatures, batches and events. Oldest due is the age of the oldest batch, or the time since the fees of a queue pay for one. A dash is a value that does not apply, such as the oldest transfer when none is pending, or for which the node sent no data. The target links to its dashboards and to the page /pending of the exporter, which lists the items behind the values.',
      height: 6,
      rowLabels: { cluster: 'Cluster', target: 'Target' },
      cellLinks: {
        Target: [
          rowLink('Signers', 'bridge-signers'),
          rowLink('Validator', 'bridge-validator'),
          rowLink('Exporter', 'bridge-exporter'),
          pendingItemsLink,
        ],
      },
      columns: [
        {
          title: 'Age of data',
          expr: `time() - min by (cluster, target) (max by (cluster, target, document) (bridge_exporter_last_success_timestamp_seconds{${FILTERS}}))`,
          unit: 's',
          decimals: 0,
          thresholds: dataAge,
        },
        {
          title: 'Last polls',
          expr: `min by (cluster, target) (max by (cluster, target, document) (bridge_exporter_up{${FILTERS}}))`,
          unit: 'none',
          valueTexts: { '0': ['failed', 'orange'], '1': ['ok', 'green'] },
        },
        { title: 'Pending transfers', expr: pendingTransfers, unit: 'short' },
        { title: 'Backlog used', expr: backlogUsed, unit: 'percentunit', decimals: 0, thresholds: limitUsed },
        { title: 'Oldest due', expr: oldestDueSeconds, unit: 's', decimals: 0 },
        {
          title: 'Batches unsigned',
          expr: latest('bridge_batches_below_threshold'),
          unit: 'short',
          thresholds: orangeFromOne,
        },
        { title: 'Batches overdue', expr: latest('bridge_batches_overdue'), unit: 'short' },
        {
          title: 'Newest valset signed',
          expr: latest('bridge_newest_valset_signed_power_ratio'),
          unit: 'percentunit',
          decimals: 0,
        },
        {
          title: 'Power missing',
          expr: powerMissing('bridge_newest_valset_signed_power_ratio'),
          unit: 'percentunit',
          decimals: 0,
          thresholds: orangeAboveZero,
        },
        { title: 'Pending events', expr: latest('bridge_pending_events'), unit: 'short' },
        {
          title: 'Conflicting claims',
          expr: latest('bridge_conflicting_claims'),
          unit: 'short',
          thresholds: orangeFromOne,
        },
      ],
    }),
    tablePanel({
      title: 'Cross-chain',
      description:
        'One row per target with a cross-chain endpoint. Values are of all chains; the Cross-chain dashboard shows each chain. A dash is a value that does not apply, such as the oldest transaction when none is pending.',
      links: [toCrossChain],
      height: 5,
      rowLabels: { cluster: 'Cluster', target: 'Target' },
      cellLinks: { Target: [rowLink('Cross-chain', 'bridge-cross-chain'), pendingItemsLink] },
      columns: [
        { title: 'Cctxs pending', expr: latest('crosschain_total_pending'), unit: 'short' },
        { title: 'Cctxs missed', expr: latest('crosschain_cctxs_missed'), unit: 'short', thresholds: orangeFromOne },
        { title: 'Oldest pending', expr: oldestCctxAge, unit: 's', decimals: 0 },
        { title: 'Too old', expr: cctxsTooOld, unit: 'none', valueTexts: aboveLimit },
        {
          title: 'Rate limit used',
          expr: latest('crosschain_rate_limit_utilization_ratio'),
          unit: 'percentunit',
          decimals: 0,
          thresholds: rateLimitUtilization,
        },
      ],
    }),
    statPanel({
      title: 'Power missing on a batch',
      links: [toSigners],
      description:
        'The power that has to sign the least signed live batch before it can be relayed: the difference to the configured threshold. The graph below shows both. At 0, anyone can relay every batch. Otherwise, the Signers dashboard shows the missing signatures. Empty when there is no batch.',
      unit: 'percentunit',
      decimals: 0,
      thresholds: orangeAboveZero,
      noValue: 'no batch',
      series: [{ expr: powerMissing('bridge_batch_min_signed_power_ratio'), legend: '{{cluster}} {{target}}' }],
    }),
    statPanel({
      title: 'Remaining batch lifetime',
      description:
        'Time to the first timeout of a live batch at the estimated external height, as a share of the lifetime of a new batch. Near zero, check why no relayer submits it. Below zero, the batch has timed out on the external chain, and its transfers are locked until the hub observes an event. Empty when there is no batch.',
      unit: 'percentunit',
      decimals: 0,
      thresholds: batchLifeSteps,
      noValue: 'no batch',
      series: [{ expr: batchLifetimeLeft, legend: '{{cluster}} {{target}}' }],
    }),
  ],
};

const backlog: Row = {
  title: 'Backlog',
  panels: [
    timeSeriesPanel({
      title: 'Pending transfers by state',
      description:
        'Unbatched transfers wait for a batch, for which the fees may be too low or the batch creator down. Transfers in batches wait for signatures or a relayer.',
      unit: 'short',
      width: 12,
      min: 0,
      series: [
        { expr: latest('bridge_unbatched_transfers'), legend: '{{cluster}} {{target}} unbatched' },
        { expr: latest('bridge_batch_transactions'), legend: '{{cluster}} {{target}} in batches' },
      ],
    }),
    timeSeriesPanel({
      title: 'Pending transfers by token',
      description:
        'Unbatched transfers and transfers in batches, of the ten tokens with the most. If a single token grows, check its fees, its price feed and its batch. If all tokens grow, check the signers, the relayers and the hub.',
      unit: 'short',
      width: 12,
      min: 0,
      series: [
        {
          expr: `topk(10, ${withSymbol(transfersByToken)})`,
          legend: '{{cluster}} {{target}} {{symbol}}',
        },
      ],
    }),
    timeSeriesPanel({
      title: 'New transfers in 15 minutes',
      description:
        'Increase of the last transfer id. If the backlog grows while this is low, transfers are not processed.',
      unit: 'short',
      series: [{ expr: changeOf('bridge_last_outgoing_pool_id'), legend: '{{cluster}} {{target}}' }],
    }),
    timeSeriesPanel({
      title: 'New batches in 15 minutes',
      description:
        'Increase of the last batch id. Zero while transfers are unbatched means that the batch creator is down or the fees are too low.',
      unit: 'short',
      series: [{ expr: changeOf('bridge_last_outgoing_batch_id'), legend: '{{cluster}} {{target}}' }],
    }),
    timeSeriesPanel({
      title: 'New transfers since the oldest',
      noValue: 'none pending',
      description:
        'Difference between the ids of the last and the oldest pending transfer: the number of transfers requested after the oldest one. A line that only rises is a transfer that is skipped. Empty when no transfer is pending.',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: `${latest('bridge_last_outgoing_pool_id')} - on (cluster, target) ${latest('bridge_oldest_pending_transfer_id')}`,
          legend: '{{cluster}} {{target}}',
        },
      ],
    }),
    tablePanel({
      title: 'Pending amounts in whole coins',
      noValue: 'no token has configured decimals',
      description:
        'Unbatched and batched amounts and fees of tokens with configured decimals. High amounts with low fees indicate that a batch is not profitable. Empty when no decimals are configured.',
      height: 9,
      rowLabels: { cluster: 'Cluster', target: 'Target', symbol: 'Symbol', token_contract: 'Contract', denom: 'Denom' },
      columns: tokenColumns((metric) => withSymbol(wholeCoins(metric)), { unit: 'locale', decimals: 4 }),
      widths: { Contract: 390 },
      sortBy: { column: 'Unbatched amount', isDescending: true },
    }),
    tablePanel({
      title: 'Pending amounts in smallest units',
      noValue: 'the decimals of all tokens are configured',
      description:
        'Unbatched and batched amounts and fees of tokens without configured decimals. Amounts of different tokens cannot be compared. Add the token to the configuration to see whole coins. Empty when the decimals of all tokens are configured, as in the demo.',
      height: 6,
      rowLabels: { cluster: 'Cluster', target: 'Target', token_contract: 'Contract', denom: 'Denom' },
      columns: tokenColumns(smallestUnits, { unit: 'sci', decimals: 3 }),
      widths: { Contract: 390 },
      sortBy: { column: 'Unbatched amount', isDescending: true },
    }),
  ],
};

function tokenColumns(amountOf: (metric: string) => string, format: { unit: string; decimals: number }): Column[] {
  return [
    {
      title: 'Unbatched amount',
      expr: amountOf('bridge_token_unbatched_amount'),
      ...format,
    },
    { title: 'Unbatched fees', expr: amountOf('bridge_token_unbatched_fees'), ...format },
    { title: 'Batched amount', expr: amountOf('bridge_token_batched_amount'), ...format },
    { title: 'Batched fees', expr: amountOf('bridge_token_batched_fees'), ...format },
  ];
}

const batches: Row = {
  title: 'Batches',
  panels: [
    timeSeriesPanel({
      title: 'Live batches by state',
      description:
        'Below the threshold: cannot be relayed yet, normal for some minutes. Relayable: signed, not timed out, and with sufficient fees. Overdue: timed out on the external chain but still held by the hub until it observes the next event; check the events. Expired: 0 on a consistent node, which cancels them in the block of that event.',
      width: 12,
      unit: 'short',
      min: 0,
      series: [
        { expr: latest('bridge_batches'), legend: '{{cluster}} {{target}} live' },
        { expr: latest('bridge_batches_below_threshold'), legend: '{{cluster}} {{target}} below the threshold' },
        { expr: latest('bridge_relayable_batches'), legend: '{{cluster}} {{target}} relayable' },
        { expr: latest('bridge_batches_overdue'), legend: '{{cluster}} {{target}} overdue' },
        { expr: latest('bridge_batches_expired'), legend: '{{cluster}} {{target}} expired' },
      ],
    }),
    timeSeriesPanel({
      title: 'Signed power of the least signed batch',
      noValue: 'no batch',
      links: [toSigners],
      description:
        'Lowest share of the power of the validator set in the contract that has signed a live batch. The dashed line is the configured threshold, below which the batch cannot be relayed. Empty when there is no batch.',
      width: 12,
      unit: 'percentunit',
      min: 0,
      max: 1,
      series: [
        { expr: latest('bridge_batch_min_signed_power_ratio'), legend: '{{cluster}} {{target}}' },
        { expr: latest('bridge_power_threshold_ratio'), legend: '{{cluster}} {{target}} threshold', isReference: true },
      ],
    }),
    timeSeriesPanel({
      title: 'Age of the oldest batch',
      noValue: 'no batch',
      description:
        'Hub blocks since the oldest live batch was built, the oldest unsigned one, and the oldest relayable one. Signers are jailed if they do not sign a batch within the signed-batches window. Empty when there is no batch, or the node sends no height.',
      unit: BLOCKS,
      min: 0,
      series: [
        { expr: oldestBatchBlocks, legend: '{{cluster}} {{target}}' },
        {
          expr: `${latest('bridge_height')} - on (cluster, target) ${latest('bridge_oldest_unsigned_batch_height')}`,
          legend: '{{cluster}} {{target}} unsigned',
        },
        {
          expr: `${latest('bridge_height')} - on (cluster, target) ${latest('bridge_oldest_relayable_batch_height')}`,
          legend: '{{cluster}} {{target}} relayable',
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Estimated age of the oldest batch',
      noValue: 'no batch',
      description:
        'The age in blocks multiplied by the hub block time, measured over 15 minutes. Empty when there is no batch, or the node sends no height.',
      unit: 's',
      min: 0,
      series: [
        { expr: `(${oldestBatchBlocks}) * on (cluster, target) ${hubBlockSeconds}`, legend: '{{cluster}} {{target}}' },
      ],
    }),
    timeSeriesPanel({
      title: 'Remaining batch lifetime over time',
      noValue: 'no batch',
      description:
        'Time to the first timeout of a live batch, as a share of the lifetime of a new batch. Below zero, the batch has timed out on the external chain. Empty when there is no batch.',
      unit: 'percentunit',
      thresholds: batchLifeSteps,
      series: [{ expr: batchLifetimeLeft, legend: '{{cluster}} {{target}}' }],
    }),
    timeSeriesPanel({
      title: 'External blocks to the first timeout',
      noValue: 'no batch',
      description:
        'Blocks from the estimated external height, or from the last observed one if there is no estimate, to the first timeout of a live batch. Empty when there is no batch.',
      width: 12,
      unit: BLOCKS,
      series: [{ expr: batchBlocksLeft, legend: '{{cluster}} {{target}}' }],
    }),
    timeSeriesPanel({
      title: 'Estimated time to the first timeout',
      noValue: 'no batch',
      description:
        'The external blocks to the first timeout multiplied by the external block time of the parameters, which can differ from the real one. Empty when there is no batch.',
      width: 12,
      unit: 's',
      series: [
        {
          expr: `(${batchBlocksLeft}) * on (cluster, target) ${externalBlockSeconds}`,
          legend: '{{cluster}} {{target}}',
        },
      ],
    }),
  ],
};

const events: Row = {
  title: 'Events of the external chain',
  panels: [
    timeSeriesPanel({
      title: 'Pending events',
      description:
        'Events that a validator has claimed and the hub has not observed. Some are normal for a few minutes. If the line only rises, the oracle is stalled: deposits do not arrive and batches do not finish.',
      unit: 'short',
      min: 0,
      series: [{ expr: latest('bridge_pending_events'), legend: '{{cluster}} {{target}}' }],
    }),
    timeSeriesPanel({
      title: 'Votes for the next event',
      noValue: 'no event is pending',
      links: [toSigners],
      description:
        'Share of the power that voted for the best claim of the next event. The hub requires 66 % of the staking power. The Signers dashboard shows the missing votes. Empty when no validator has claimed the next event, as on a quiet bridge.',
      unit: 'percentunit',
      min: 0,
      max: 1,
      series: [{ expr: latest('bridge_next_event_voted_power_ratio'), legend: '{{cluster}} {{target}}' }],
    }),
    timeSeriesPanel({
      title: 'Contradictions to the state of the hub',
      description:
        'Validator sets and claims, by kind, that contradict what the hub has stored. A forgery, a bug or a restored state explains them; lost claims are votes of validators with a wrong node. On some chains, valset_unknown is always 1: the hub has deleted the set.',
      unit: 'short',
      min: 0,
      series: [{ expr: latestBy(['kind'], 'bridge_integrity_violations'), legend: '{{cluster}} {{target}} {{kind}}' }],
    }),
    timeSeriesPanel({
      title: 'Observed events in 15 minutes',
      description:
        'Increase of the last observed nonce. Zero is normal while no event is pending. A negative value means that the contract or the node was changed.',
      unit: 'short',
      series: [{ expr: changeOf('bridge_last_observed_nonce'), legend: '{{cluster}} {{target}}' }],
    }),
    timeSeriesPanel({
      title: 'Events with conflicting claims',
      description:
        'Events with more than one claim. The oracle stops at such an event until enough power agrees. Ask the validators of the minority to check their external node.',
      unit: 'short',
      min: 0,
      series: [{ expr: latest('bridge_conflicting_claims'), legend: '{{cluster}} {{target}}' }],
    }),
    timeSeriesPanel({
      title: 'Claims ahead of the last observed event',
      noValue: 'the state holds no claim',
      description:
        'Difference between the highest claimed nonce and the last observed one. It is negative for a short time when the state holds no claim of the newest events. Empty when the state holds no claim.',
      unit: 'short',
      series: [
        {
          expr: `${latest('bridge_newest_attested_nonce')} - on (cluster, target) ${latest('bridge_last_observed_nonce')}`,
          legend: '{{cluster}} {{target}}',
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Attestations by state',
      description: 'Attestations that the hub holds: normally an observed one and the pending ones.',
      unit: 'short',
      min: 0,
      width: 12,
      series: [
        { expr: latest('bridge_attestations', 'observed="true"'), legend: '{{cluster}} {{target}} observed' },
        { expr: latest('bridge_attestations', 'observed="false"'), legend: '{{cluster}} {{target}} pending' },
      ],
    }),
    timeSeriesPanel({
      title: 'Estimated external blocks since the last observed event',
      description:
        'Difference between the estimated and the last observed external height. On a quiet bridge it rises for hours. The hub notices the timeout of a batch only with the next event.',
      unit: BLOCKS,
      min: 0,
      width: 12,
      series: [
        {
          expr: `${latest('bridge_external_height_projected')} - on (cluster, target) ${latest('bridge_last_observed_external_height')}`,
          legend: '{{cluster}} {{target}}',
        },
      ],
    }),
  ],
};

const TOKEN = ['token_contract', 'denom'] as const;

const perToken = (metric: string, window: string): string => withSymbol(increaseBy(TOKEN, metric, window));

/** In whole coins, of tokens with configured decimals. */
const coinsPerDay = (metric: string): string =>
  withSymbol(
    `${increaseBy(TOKEN, metric, '1d')} / on (cluster, target, token_contract) group_left () (10 ^ ${latestBy(['token_contract'], 'bridge_token_decimals')})`,
  );

/** NaN, which is not drawn, when no batch ended. */
const canceledShare = (window: string): string => {
  const canceled = `sum by (cluster, target) (${increaseBy([...TOKEN, 'reason'], 'bridge_batches_canceled_total', window)})`;
  const executed = `sum by (cluster, target) (${increaseBy(TOKEN, 'bridge_batches_executed_total', window)})`;
  return `${canceled} / (${canceled} + ${executed})`;
};

const flow: Row = {
  title: 'Flow',
  panels: [
    timeSeriesPanel({
      title: 'Transfers executed per hour',
      description:
        'Outgoing transfers by token that the hub has observed as executed on the external chain. Zero on a quiet bridge.',
      unit: 'short',
      min: 0,
      series: [
        { expr: perToken('bridge_transfers_executed_total', '1h'), legend: '{{cluster}} {{target}} {{symbol}}' },
      ],
    }),
    timeSeriesPanel({
      title: 'Transfers requested and canceled per hour',
      description: 'All tokens together. A transfer is canceled by its sender, while it is in no batch.',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: changeOf('bridge_last_outgoing_pool_id', '1h'),
          legend: '{{cluster}} {{target}} requested',
        },
        {
          expr: `sum by (cluster, target) (${increaseBy(TOKEN, 'bridge_transfers_canceled_total', '1h')})`,
          legend: '{{cluster}} {{target}} canceled',
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Duration of a transfer',
      noValue: 'no transfer was executed in a day',
      description:
        'From the first document with a transfer to its execution, over the executions of a day. Estimated from buckets of a minute to a day.',
      unit: 's',
      min: 0,
      series: [
        { expr: quantileOf(0.5, 'bridge_transfer_duration_seconds', '1d'), legend: '{{cluster}} {{target}} median' },
        { expr: quantileOf(0.99, 'bridge_transfer_duration_seconds', '1d'), legend: '{{cluster}} {{target}} 99 %' },
      ],
    }),
    timeSeriesPanel({
      title: 'Duration of a batch',
      noValue: 'no batch was executed in a day',
      description:
        'From the creation of a batch to its execution, over the executions of a day. The rest of the duration of a transfer is its time in the queue.',
      unit: 's',
      min: 0,
      series: [
        { expr: quantileOf(0.5, 'bridge_batch_duration_seconds', '1d'), legend: '{{cluster}} {{target}} median' },
        { expr: quantileOf(0.99, 'bridge_batch_duration_seconds', '1d'), legend: '{{cluster}} {{target}} 99 %' },
      ],
    }),
    timeSeriesPanel({
      title: 'Batches canceled per day',
      description:
        'By reason: timeout, or superseded by a later batch of the token. Their transfers return to the queue. Many timeouts mean that batches are not worth relaying, or that nobody relays.',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: `sum by (cluster, target, reason) (${increaseBy([...TOKEN, 'reason'], 'bridge_batches_canceled_total', '1d')})`,
          legend: '{{cluster}} {{target}} {{reason}}',
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Batches created and executed per day',
      description: 'All tokens together. What is created and not executed is canceled, or still there.',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: changeOf('bridge_last_outgoing_batch_id', '1d'),
          legend: '{{cluster}} {{target}} created',
        },
        {
          expr: `sum by (cluster, target) (${increaseBy(TOKEN, 'bridge_batches_executed_total', '1d')})`,
          legend: '{{cluster}} {{target}} executed',
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Share of batches canceled',
      noValue: 'no batch ended in a week',
      description:
        'Of the batches of a week that ended, whatever the reason. Zero on a bridge whose relayers take every batch.',
      unit: 'percentunit',
      min: 0,
      max: 1,
      width: 12,
      series: [{ expr: canceledShare('7d'), legend: '{{cluster}} {{target}}' }],
    }),
    timeSeriesPanel({
      title: 'Oldest due withdrawal',
      noValue: 'none is due',
      description:
        'Age of the oldest live batch, or time since the fees in a queue pay for one. Batches and queues with insufficient fees are left out. Empty when none is due. The dashed line, the objective of the target, is empty without one, as in the demo.',
      unit: 's',
      min: 0,
      width: 12,
      series: [
        {
          expr: oldestDueSeconds,
          legend: '{{cluster}} {{target}}',
        },
        { expr: latest('bridge_objective_seconds'), legend: '{{cluster}} {{target}} objective', isReference: true },
      ],
    }),
    timeSeriesPanel({
      title: 'Late withdrawals',
      noValue: 'no objective',
      description:
        'Share of the withdrawals of 3 days that took longer than the objective of the target. Above the dashed line, more are late than the objective allows. Empty without an objective, as in the demo.',
      unit: 'percentunit',
      min: 0,
      width: 12,
      series: [
        {
          expr: `${increaseBy([], 'bridge_transfers_late_total', '3d')} / ${increaseBy([], 'bridge_transfer_duration_seconds_count', '3d')}`,
          legend: '{{cluster}} {{target}}',
        },
        {
          expr: `1 - ${latest('bridge_objective_ratio')}`,
          legend: '{{cluster}} {{target}} objective',
          isReference: true,
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Amounts withdrawn and deposited per day',
      noValue: 'no token has configured decimals',
      description: 'In whole coins, of tokens with decimals in the configuration of the exporter.',
      unit: 'short',
      min: 0,
      width: 12,
      series: [
        {
          expr: coinsPerDay('bridge_token_withdrawn_amount_total'),
          legend: '{{cluster}} {{target}} {{symbol}} withdrawn',
        },
        {
          expr: coinsPerDay('bridge_token_deposited_amount_total'),
          legend: '{{cluster}} {{target}} {{symbol}} deposited',
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Intervals left out per hour',
      description:
        'Intervals between two documents in which these counters have counted nothing, or with the reason unseen not everything. A shorter poll interval leaves less unseen.',
      unit: 'short',
      min: 0,
      width: 12,
      series: [
        {
          expr: `sum by (cluster, target, reason) (${increaseBy(['document', 'reason'], 'bridge_flow_gaps_total', '1h')})`,
          legend: '{{cluster}} {{target}} {{reason}}',
        },
      ],
    }),
  ],
};

const valsets: Row = {
  title: 'Validator sets',
  panels: [
    timeSeriesPanel({
      title: 'Validator sets by state',
      description:
        'Held: all sets that the hub keeps. Unrelayed: newer than the set in the contract. Below the threshold: cannot be relayed yet. An increasing number of unrelayed sets needs a relayer.',
      unit: 'short',
      min: 0,
      series: [
        { expr: latest('bridge_valsets'), legend: '{{cluster}} {{target}} held' },
        { expr: latest('bridge_unrelayed_valsets'), legend: '{{cluster}} {{target}} unrelayed' },
        {
          expr: latest('bridge_unrelayed_valsets_below_threshold'),
          legend: '{{cluster}} {{target}} below the threshold',
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Signed power of the least signed unrelayed set',
      links: [toSigners],
      description:
        'Lowest share of the power of the set in the contract that has signed an unrelayed set. The dashed line is the configured threshold. Only the dashed line is shown while no set is unrelayed.',
      unit: 'percentunit',
      min: 0,
      max: 1,
      series: [
        { expr: latest('bridge_unrelayed_valset_min_signed_power_ratio'), legend: '{{cluster}} {{target}}' },
        { expr: latest('bridge_power_threshold_ratio'), legend: '{{cluster}} {{target}} threshold', isReference: true },
      ],
    }),
    timeSeriesPanel({
      title: 'Drift of the set in the contract',
      description:
        'Sum of the differences in power between the set in the contract and the newest set. When a third of the power is new, the members of the set in the contract can no longer reach the threshold. The newest set has to be relayed before.',
      unit: 'percentunit',
      min: 0,
      thresholds: valsetDrift,
      series: [{ expr: latest('bridge_valset_power_drift_ratio'), legend: '{{cluster}} {{target}}' }],
    }),
    timeSeriesPanel({
      title: 'Members of the sets',
      description: 'Members of the newest set and of the set in the contract.',
      unit: 'short',
      width: 12,
      series: [
        { expr: latest('bridge_newest_valset_members'), legend: '{{cluster}} {{target}} newest' },
        { expr: latest('bridge_last_observed_valset_members'), legend: '{{cluster}} {{target}} in the contract' },
      ],
    }),
    timeSeriesPanel({
      title: 'Age of the sets',
      noValue: 'the node sends no height',
      description:
        'Hub blocks since the creation of the newest set and of the set in the contract. The nonce of a set is the height of its creation. Empty when the node sends no height.',
      unit: BLOCKS,
      width: 12,
      series: [
        {
          expr: `${latest('bridge_height')} - on (cluster, target) ${latest('bridge_newest_valset_nonce')}`,
          legend: '{{cluster}} {{target}} newest',
        },
        {
          expr: `${latest('bridge_height')} - on (cluster, target) ${latest('bridge_last_observed_valset_nonce')}`,
          legend: '{{cluster}} {{target}} in the contract',
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
    timeSeriesPanel({
      title: 'Accounts, addresses and tokens',
      description:
        'Lengths of lists that change rarely. An increase of admins or blacklisted addresses should be announced. Changes of parameters and of these lists are problems, for an hour or longer.',
      unit: 'short',
      min: 0,
      width: 24,
      series: [
        { expr: latest('bridge_params_admins'), legend: '{{cluster}} {{target}} admins' },
        { expr: latest('bridge_external_blacklist'), legend: '{{cluster}} {{target}} blacklisted addresses' },
        { expr: latest('bridge_erc20_to_denoms'), legend: '{{cluster}} {{target}} tokens of the hub' },
      ],
    }),
    tablePanel({
      title: 'Identity',
      description: 'The identity of the bridge in the parameters. Compare it with your records.',
      height: 5,
      rowLabels: {
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
          title: 'Info',
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
    tablePanel({
      title: 'Windows and times',
      description:
        'Blocks until a signer is jailed, and the times that the module uses for its own estimates. The real block times can differ: on Injective they are about 0.63 and 12 s, not 2 and 15 s.',
      height: 5,
      rowLabels: { cluster: 'Cluster', target: 'Target' },
      columns: [
        param('Sign validator sets', 'signed_valsets_window_blocks', BLOCKS),
        param('Sign batches', 'signed_batches_window_blocks', BLOCKS),
        param('Claim events', 'signed_claims_window_blocks', BLOCKS),
        param('Sign after unbonding', 'unbond_slashing_valsets_window_blocks', BLOCKS),
        param('Batch lifetime', 'target_batch_timeout_seconds', 's'),
        param('Hub block', 'average_block_time_seconds', 's'),
        param('External block', 'average_external_block_time_seconds', 's'),
        param('Contract deployed at', 'bridge_contract_start_height', 'none'),
      ],
    }),
    tablePanel({
      title: 'Slashing and rewards',
      description:
        'Share of the stake that is slashed for each offense. Injective only jails since version 1.16.3, except for a bad signature. The reward for relaying a validator set is in smallest units of its coin.',
      height: 5,
      rowLabels: { cluster: 'Cluster', target: 'Target' },
      columns: [
        param('Unsigned validator set', 'slash_fraction_valset_ratio', 'percentunit'),
        param('Unsigned batch', 'slash_fraction_batch_ratio', 'percentunit'),
        param('Missing claim', 'slash_fraction_claim_ratio', 'percentunit'),
        param('Conflicting claim', 'slash_fraction_conflicting_claim_ratio', 'percentunit'),
        param('Bad signature', 'slash_fraction_bad_eth_signature_ratio', 'percentunit'),
        {
          ...param('Claims are slashed', 'claim_slashing_enabled', 'none'),
          valueTexts: { '0': ['no', 'transparent'], '1': ['yes', 'transparent'] },
        },
        param('Reward (smallest units)', 'valset_reward_amount', 'none'),
      ],
    }),
  ],
};

export const bridgeOverview: Dashboard = {
  uid: 'bridge-overview',
  title: 'Bridge / Overview',
  description:
    'Are transfers stuck, since when, and what are they waiting for: a batch, signatures, a relayer or events?',
  tags: ['bridge'],
  variables: [...commonVariables, exporterUrlVariable],
  rows: [problems, summary, backlog, batches, flow, events, valsets, limits],
};
