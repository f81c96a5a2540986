import type { Alert, Condition, JudgedAlert } from './alert.js';
import { contractAlerts } from './contract-alerts.js';
import { progressAlerts } from './crosschain-progress-alerts.js';
import { missedAlerts } from './missed-cctx-alerts.js';
import { deadlineAlerts } from './deadline-alerts.js';
import { endpointAlerts } from './endpoint-alerts.js';
import { exporterAlerts, watchdogAlerts } from './exporter-alerts.js';
import { integrityAlerts } from './integrity-alerts.js';
import { lateValidatorAlerts } from './late-validator-alerts.js';
import { nodeAlerts } from './node-alerts.js';
import { objectiveAlerts } from './objective-alerts.js';
import { oracleAlerts } from './oracle-alerts.js';
import { paramsAlerts } from './params-alerts.js';
import { rollbackAlerts } from './rollback-alerts.js';
import { batchTimeoutAlerts } from './batch-timeout-alerts.js';
import { queueAlerts } from './queue-alerts.js';
import { relayAlerts } from './relay-alerts.js';
import { unsignedBatchAlerts } from './unsigned-batch-alerts.js';
import { valsetAlerts } from './valset-alerts.js';
import { seriesKey } from './series-key.js';
import type { AlertLabels, Finding, PollView } from './view.js';
import { watchedAlerts } from './watched-alerts.js';
import { withdrawnAlerts } from './invalid-values-alerts.js';

const dataAlerts = [
  ...nodeAlerts,
  ...contractAlerts,
  ...integrityAlerts,
  ...oracleAlerts,
  ...batchTimeoutAlerts,
  ...unsignedBatchAlerts,
  ...relayAlerts,
  ...queueAlerts,
  ...objectiveAlerts,
  ...deadlineAlerts,
  ...valsetAlerts,
  ...lateValidatorAlerts,
  ...watchedAlerts,
  ...paramsAlerts,
  ...missedAlerts,
  ...progressAlerts,
] satisfies readonly JudgedAlert[];

const readFamilies = new Set<string>(
  [...endpointAlerts, ...rollbackAlerts, ...dataAlerts].flatMap(({ families }) => families),
);

/** The alerts that a running exporter can judge, in the order of verdicts with the same severity: causes before their consequences. */
export const judgedAlerts = [
  ...endpointAlerts,
  ...withdrawnAlerts(readFamilies),
  ...rollbackAlerts,
  ...dataAlerts,
] satisfies readonly JudgedAlert[];

/** The name of an alert that a running exporter can judge. */
export type AlertName = (typeof judgedAlerts)[number]['name'];

/** All alerts, in the order of the rules file. */
export const alerts: readonly Alert[] = [...exporterAlerts, ...judgedAlerts, ...watchdogAlerts];

/** A finding with its alert, and the range of the pattern that found it. */
export interface AlertFinding extends Finding {
  /** Identifies the finding among those of an endpoint. */
  readonly key: string;
  readonly alert: JudgedAlert<AlertName>;
  readonly rangeMinutes: number;
  /** Whether everything holds that the alert requires only now. */
  readonly holdsNow: boolean;
}

/** The same in another version of the program that has other alerts. */
function findingKey(alert: JudgedAlert, patternIndex: number, labels: AlertLabels): string {
  return seriesKey(`${identityOf(alert)} ${patternIndex}`, labels);
}

export function identityOf({ name, severity, labels }: JudgedAlert): string {
  return [name, severity, ...Object.values(labels)].join(' ');
}

/** Whether the key is of a finding of an alert that reads one of these families. */
export function readsAny(families: ReadonlySet<string>): (key: string) => boolean {
  const reading = judgedAlerts.filter((alert) => alert.families.some((family) => families.has(family)));
  const keys = reading.flatMap((alert) =>
    alert.condition.patterns.map((_pattern, index) => findingKey(alert, index, {}).replace(/\{\}\]$/, '')),
  );
  return (key) => keys.some((own) => key.startsWith(own));
}

/** What the conditions of a source find. */
export function findAll(source: Condition['source'], view: PollView): readonly AlertFinding[] {
  return judgedAlerts.flatMap((alert) => {
    const { condition } = alert;
    const { document = view.state.document } = condition;
    if (condition.source !== source || document !== view.state.document) return [];
    return condition.patterns.flatMap(({ rangeMinutes, find, holdsNow }, patternIndex) =>
      find(view).map((finding) => ({
        ...finding,
        key: findingKey(alert, patternIndex, finding.labels),
        alert,
        rangeMinutes,
        holdsNow: holdsNow?.(finding, view) !== false,
      })),
    );
  });
}
