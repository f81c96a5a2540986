import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Steps } from './grafana.js';

/*
 * Where colours change. Red is what would wake someone, orange what can wait for working hours, as with the severity of the
 * alerts; what an alert judges changes where the alert does. Its figures are records of the first group of the
 * rules, and are read from there.
 */

const RULES = new URL('../../../prometheus/alerts.yml', import.meta.url);

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: unknown;
  readonly labels?: { readonly severity?: string };
}

const { groups } = parse(readFileSync(RULES, 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);

function recorded(what: string): number {
  const rule = rules.find(({ record }) => record === `default:${what}:threshold`);
  if (typeof rule?.expr !== 'number') throw new Error(`prometheus/alerts.yml records no threshold for ${what}`);
  return rule.expr;
}

/** For how long, in seconds, the queue has to stand still before the alert of this severity fires. */
function stuckFor(severity: string): number {
  const rule = rules.find(({ alert, labels }) => alert === 'BridgeBacklogStuck' && labels?.severity === severity);
  const { count, unit } = /offset (?<count>\d+)(?<unit>[mh])/.exec(String(rule?.expr))?.groups ?? {};
  if (count === undefined) throw new Error(`prometheus/alerts.yml has no time for a ${severity} BridgeBacklogStuck`);
  return Number(count) * (unit === 'h' ? 3600 : 60);
}

export const noneIsGood: Steps = red(1);

/** Normal for moments; the alerts wait before they fire. */
export const someIsBusy: Steps = orange(1);

export const oneIsGood: Steps = [
  ['red', null],
  ['green', 1],
];

/** Signed power over the power the contract asks for: at 1 anyone can relay; a fresh batch is below for moments. */
export const signedPower: Steps = [
  ['orange', null],
  ['green', 1],
];

/** From so many transfers, waiting for so long, a queue without a batch wakes someone. */
export const STUCK_TRANSFERS = recorded('bridge_stuck_transfers');
export const STUCK_SECONDS = stuckFor('critical');

export const dataAge = red(recorded('bridge_snapshot_age_seconds'));
export const sizeOfLimit = orange(recorded('bridge_response_size_ratio'));
export const transfersWaiting = orange(recorded('bridge_waiting_transfers'));
export const noBatch = red(STUCK_SECONDS);
export const sameOldest = orange(stuckFor('warning'));
export const batchLifeLeft: Steps = [
  ['red', null],
  ['orange', 0],
  ['green', recorded('bridge_batch_life_ratio')],
];
export const valsetDrift = orange(recorded('bridge_valset_power_drift_ratio'));
export const confirmWindowLeft: Steps = [
  ['red', null],
  ['green', recorded('bridge_confirm_window_ratio')],
];
export const cctxsPending = orange(recorded('crosschain_total_pending'));
export const cctxAge: Steps = [
  ...orange(recorded('crosschain_oldest_seconds')),
  ['red', recorded('crosschain_oldest_critical_seconds')],
];
export const rateLimitUse: Steps = [
  ['green', null],
  ['yellow', recorded('crosschain_rate_limit_utilization_ratio')],
  ['orange', 1],
];

function orange(from: number): Steps {
  return [
    ['green', null],
    ['orange', from],
  ];
}

function red(from: number): Steps {
  return [
    ['green', null],
    ['red', from],
  ];
}
