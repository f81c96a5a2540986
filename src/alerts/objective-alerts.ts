import { duration, percent } from '../text/format.js';
import { dataAlert } from './alert.js';
import { countLate, FLOW_MINUTES, flowIncrease, isObjectiveMissed, objectiveFamilies } from './flow-history.js';
import { ON_TARGET, parenthesized, promDuration, TARGET, type RecordingRule } from './promql.js';
import { withList } from './sentences.js';
import { findingIf, type Finding, type PollView } from './view.js';

/* The objective for withdrawals, by events and by time. docs/objectives.md explains both. */

const RECENT_MINUTES = 6 * 60;
/** Fewer late withdrawals of an objective of 99 % are a matter of luck where there are less than some hundreds. */
const MINIMUM_LATE = 5;
const FOR_MINUTES = 15;

const RATIO = `(1 - max by (${TARGET}) (bridge_objective_ratio))`;

const objectiveAsLabel = (seconds: string): string => `count_values by (${TARGET}) ("le", ${seconds})`;

/**
 * The objective as the label of its bucket: as the exporter prints it, which Prometheus 2 stores, and as Prometheus 3 stores it, which has an
 * exponent from a million seconds on. A longer objective than 30 days is not valid, so there is one exponent only.
 */
const bucketOfObjective: RecordingRule = {
  name: 'target:bridge_objective_seconds:le',
  expr: `label_replace(${objectiveAsLabel('bridge_objective_seconds')}, "le", "$1.0", "le", "([0-9]+)")
or
label_replace(
  label_replace(${objectiveAsLabel('bridge_objective_seconds >= 1000000')}, "le", "\${1}.\${2}e+06", "le", "([0-9])([0-9]*[1-9])0*"),
  "le", "\${1}e+06", "le", "([0-9])0*"
)`,
};

const oldest = `time() - min by (${TARGET}) (bridge_oldest_due_transfer_timestamp_seconds{fees="sufficient"})`;

const met: RecordingRule = {
  name: 'target:bridge_objective:met',
  // Whether the oldest withdrawal with sufficient fees is younger than the objective (1) or not (0). Its average is a
  // share of time.
  expr: `max by (${TARGET}) (bridge_objective_seconds)
  >= bool (${oldest})
or
max by (${TARGET}) (bridge_objective_seconds) * 0 + 1
unless ${ON_TARGET} bridge_exporter_family_withdrawn{family="bridge_oldest_due_transfer_timestamp_seconds"}`,
};

function executed(minutes: number): string {
  return `max by (${TARGET}) (increase(bridge_transfer_duration_seconds_count[${promDuration(minutes)}]))`;
}

/** The number of withdrawals executed in this time that took longer than the objective. */
function late(minutes: number): string {
  return `${executed(minutes)}
- max by (${TARGET}) (
  increase(bridge_transfer_duration_seconds_bucket[${promDuration(minutes)}])
  and on (${TARGET}, le) ${bucketOfObjective.name}
)`;
}

/** The share of late withdrawals, where it is above that of the objective. */
function missedShare(minutes: number): string {
  return `${parenthesized(late(minutes))} / ${executed(minutes)} > ${RATIO}`;
}

const byEvents = `${missedShare(FLOW_MINUTES)}
and ${parenthesized(late(FLOW_MINUTES))} >= ${MINIMUM_LATE}
and ${missedShare(RECENT_MINUTES)}`;

// Only the average is of the recorded series, of which the copies of several evaluations are not of the same minute.
const byTime = `1 - min by (${TARGET}) (avg_over_time(${met.name}[${promDuration(FLOW_MINUTES)}])) > ${RATIO}
and ${oldest} > max by (${TARGET}) (bridge_objective_seconds)`;

type ObjectiveView = PollView<(typeof objectiveFamilies)[number]>;

/** The shares of the last days that missed the objective; `undefined` without an objective. */
function missedShares({ samples, flow, now }: ObjectiveView) {
  const objective = samples.value('bridge_objective_seconds');
  const ratio = samples.value('bridge_objective_ratio');
  const total = flowIncrease(flow, FLOW_MINUTES, now);
  const recent = flowIncrease(flow, RECENT_MINUTES, now);
  if (objective === undefined || ratio === undefined || total === undefined || recent === undefined) return undefined;
  const [ofAll, ofRecent] = [total, recent].map(({ transferDurations }) => countLate(transferDurations, objective));
  return {
    objective,
    allowed: 1 - ratio,
    lateCount: ofAll?.late ?? 0,
    events: shareOf(ofAll),
    recentEvents: shareOf(ofRecent),
    time: shareOf({ late: total.missedPolls, all: total.judgedPolls }),
  };
}

function shareOf(counts: { readonly late: number; readonly all: number } | undefined): number {
  return counts === undefined || counts.all === 0 ? 0 : counts.late / counts.all;
}

function findByEvents(view: ObjectiveView): readonly Finding[] {
  const shares = missedShares(view);
  if (shares === undefined) return [];
  const { allowed, lateCount, events, recentEvents } = shares;
  return findingIf(lateCount >= MINIMUM_LATE && events > allowed && recentEvents > allowed, events);
}

function findByTime(view: ObjectiveView): readonly Finding[] {
  const shares = missedShares(view);
  if (shares === undefined || isObjectiveMissed(view.state, view.now) !== true) return [];
  return findingIf(shares.time > shares.allowed, shares.time);
}

export const objectiveAlerts = [
  dataAlert('module_state', {
    name: 'BridgeObjectiveMissed',
    severity: 'warning',
    // A bridge with few withdrawals a day has too few in an hour to judge. By time, it fires also when nothing is executed.
    description: `More withdrawals of ${FLOW_MINUTES / 60 / 24} days than the \`objective\` of the target allows took longer, at least ${MINIMUM_LATE}, and also of the last ${RECENT_MINUTES / 60} hours; or for a larger share of ${FLOW_MINUTES / 60 / 24} days, and at present, a withdrawal with sufficient fees has been due for longer.`,
    expr: `${parenthesized(byEvents)}
or
${parenthesized(byTime)}`,
    forMinutes: FOR_MINUTES,
    recordings: [bucketOfObjective, met],
    families: objectiveFamilies,
    patterns: [
      { rangeMinutes: 0, find: findByEvents },
      { rangeMinutes: 0, find: findByTime },
    ],
    summary: 'withdrawals take longer than the objective, {{ $value | humanizePercentage }} of them or of the time.',
    action:
      'Look for the step that is slow: batches are not built, not signed, or not relayed. Compare the durations of batches and of transfers on the dashboard.',
    sentence: ({ oldest: { value }, duration: lasting }, view) => {
      const { objective = 0 } = missedShares(view) ?? {};
      const current = isObjectiveMissed(view.state, view.now) === true ? ', and one is older at present' : '';
      return withList(
        `withdrawals have missed the objective of ${duration(objective)} for ${lasting}`,
        `${percent(value, 1)} of them or of the time in the last days${current}`,
      );
    },
  }),
];
