import { OUTDATED_SECONDS, SIZE_RATIO } from '../../src/poll/endpoint-conditions.js';
import { DRIFT_RATIO, TIMEOUT_RATIO } from '../../src/problems/relay.js';
import type { FieldOptions, Thresholds } from './grafana.js';

/*
 * The colors of values follow the severity of alerts: red is critical, orange is a warning. A value with an alert
 * changes its color at the threshold of the alert (src/problems).
 */

/** For values above zero that are normal for a short time. */
export const orangeFromOne: Thresholds = orange(1);

export const redBelowOne: Thresholds = [
  ['red', null],
  ['green', 1],
];

/** For ratios that are above zero for a short time, such as the missing power of a new batch. */
export const orangeAboveZero: Thresholds = [
  ['green', null],
  ['orange', 0.0001],
];

export const dataAge = red(OUTDATED_SECONDS);
export const responseSizeRatio = orange(SIZE_RATIO);
/** Of a limit that is a series. */
export const limitUsed = orange(1);
export const batchLifetimeThresholds: Thresholds = [
  ['red', null],
  ['orange', 0],
  ['green', TIMEOUT_RATIO],
];
export const valsetDrift = orange(DRIFT_RATIO);
/** See `tooOldByChain`. */
export const aboveLimit: Required<FieldOptions>['valueTexts'] = {
  '0': ['no', 'green'],
  '1': ['yes', 'orange'],
  '2': ['critical', 'red'],
};
/** See `problemSeverity`. Only what has an alert is red. */
export const problemSeverities: Required<FieldOptions>['valueTexts'] = {
  '1': ['info, building up', 'transparent'],
  '2': ['warning, building up', 'yellow'],
  '3': ['critical, building up', 'yellow'],
  '11': ['info', 'blue'],
  '12': ['warning', 'orange'],
  '13': ['critical', 'red'],
};
export const rateLimitUtilization: Thresholds = [
  ['green', null],
  ['yellow', 0.8],
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
