import { rules } from '../../support/alert-rules.js';
import type { Thresholds } from './grafana.js';

/*
 * The colors of values follow the severity of alerts: red is critical, orange is a warning. A value with an alert
 * changes its color at the threshold of the alert, which is read from prometheus/alerts.yml.
 */

function thresholdOf(name: string): number {
  const rule = rules.find(({ record }) => record === `default:${name}:threshold`);
  if (typeof rule?.expr !== 'number') throw new Error(`prometheus/alerts.yml records no threshold for ${name}`);
  return rule.expr;
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
export const STUCK_TRANSFERS = thresholdOf('bridge_stuck_transfers');
export const STUCK_SECONDS = stuckSeconds('critical');

export const dataAge = red(thresholdOf('bridge_snapshot_age_seconds'));
export const responseSizeRatio = orange(thresholdOf('bridge_response_size_ratio'));
export const backlogTransfers = orange(thresholdOf('bridge_waiting_transfers'));
export const timeWithoutBatch = red(STUCK_SECONDS);
export const timeWithSameOldestTransfer = orange(stuckSeconds('warning'));
export const batchLifetimeThresholds: Thresholds = [
  ['red', null],
  ['orange', 0],
  ['green', thresholdOf('bridge_batch_life_ratio')],
];
export const valsetDrift = orange(thresholdOf('bridge_valset_power_drift_ratio'));
export const confirmWindowLeft: Thresholds = [
  ['red', null],
  ['green', thresholdOf('bridge_confirm_window_ratio')],
];
export const cctxsPending = orange(thresholdOf('crosschain_total_pending'));
export const cctxAge: Thresholds = [
  ...orange(thresholdOf('crosschain_oldest_seconds')),
  ['red', thresholdOf('crosschain_oldest_critical_seconds')],
];
export const rateLimitUtilization: Thresholds = [
  ['green', null],
  ['yellow', thresholdOf('crosschain_rate_limit_utilization_ratio')],
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
