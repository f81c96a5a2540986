import { rules } from '../../support/alert-rules.js';
import type { Thresholds } from './grafana.js';

/*
 * The colors of values follow the severity of alerts: red is critical, orange is a warning. A value with an alert
 * changes its color at the threshold of the alert, which is read from its expression in prometheus/alerts.yml.
 */

/** The number with which an alert compares, or by which it multiplies, behind this text in its expression. */
function thresholdOf(name: string, severity: string, textBefore: string): number {
  const rule = rules.find(({ alert, labels }) => alert === name && labels?.['severity'] === severity);
  const [, ...after] = String(rule?.expr).split(textBefore);
  const value = Number.parseFloat(after[0] ?? '');
  if (after.length !== 1 || Number.isNaN(value)) {
    throw new Error(
      `${name} (${severity}) in prometheus/alerts.yml does not contain '${textBefore}' and a number once`,
    );
  }
  return value;
}

/** The time for which the queue has to stand still before BridgeBacklogStuck with this severity fires. */
function stuckSeconds(severity: string): number {
  const rule = rules.find(({ alert, labels }) => alert === 'BridgeBacklogStuck' && labels?.['severity'] === severity);
  const { count, unit } = /offset (?<count>\d+)(?<unit>[mh])/.exec(String(rule?.expr))?.groups ?? {};
  if (count === undefined) throw new Error(`prometheus/alerts.yml has no offset in the ${severity} BridgeBacklogStuck`);
  return Number(count) * (unit === 'h' ? 3600 : 60);
}

export const redFromOne: Thresholds = red(1);

/** For values above zero that are normal for a short time. */
export const orangeFromOne: Thresholds = orange(1);

export const redBelowOne: Thresholds = [
  ['red', null],
  ['green', 1],
];

/** Signed power divided by the required power. A new batch is below 1 for a short time. */
export const signedPower: Thresholds = [
  ['orange', null],
  ['green', 1],
];

/** The critical BridgeBacklogStuck needs this many unbatched transfers for this long. */
export const STUCK_TRANSFERS = thresholdOf('BridgeBacklogStuck', 'critical', 'bridge_unbatched_transfers[45m]) >= ');
export const STUCK_SECONDS = stuckSeconds('critical');

export const dataAge = red(thresholdOf('BridgeSnapshotStale', 'critical', '\n) > '));
export const responseSizeRatio = orange(thresholdOf('BridgeResponseNearLimit', 'warning', '\n) > '));
export const backlogTransfers = orange(thresholdOf('BridgeBacklogHigh', 'warning', 'bridge_batch_transactions > '));
export const timeWithoutBatch = red(STUCK_SECONDS);
export const timeWithSameOldestTransfer = orange(stuckSeconds('warning'));
export const batchLifetimeThresholds: Thresholds = [
  ['red', null],
  ['orange', 0],
  ['green', thresholdOf('BridgeBatchTimeoutNear', 'warning', 'bridge_params_average_external_block_time_seconds * ')],
];
export const valsetDrift = orange(thresholdOf('BridgeValsetDrift', 'warning', 'bridge_valset_power_drift_ratio > '));
export const confirmWindowLeft: Thresholds = [
  ['red', null],
  [
    'green',
    thresholdOf('BridgeOrchestratorDeadlineNear', 'critical', '(bridge_params_signed_valsets_window_blocks) * '),
  ],
];
export const cctxsPending = orange(thresholdOf('CrosschainBacklogHigh', 'warning', 'crosschain_total_pending > '));
export const cctxAge: Thresholds = [
  ...orange(
    thresholdOf('CrosschainOldestPendingTooOld', 'warning', 'crosschain_oldest_cctx_created_timestamp_seconds > '),
  ),
  [
    'red',
    thresholdOf('CrosschainOldestPendingTooOld', 'critical', 'crosschain_oldest_cctx_created_timestamp_seconds > '),
  ],
];
export const rateLimitUtilization: Thresholds = [
  ['green', null],
  ['yellow', thresholdOf('CrosschainRateLimitNear', 'info', 'crosschain_rate_limit_utilization_ratio > ')],
  ['orange', 1],
];

function orange(from: number): Thresholds {
  return [
    ['green', null],
    ['orange', from],
  ];
}

function red(from: number): Thresholds {
  return [
    ['green', null],
    ['red', from],
  ];
}
