import { FLOW_MINUTES, flowIncrease, medianSeconds, type FlowHistory } from '../flow/flow-history.js';
import { countLate } from '../flow/histogram.js';
import { samplesOf } from '../metrics/samples.js';
import { ageSeconds, type Instant } from '../clock.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import { count, duration, percent } from '../text/format.js';
import { markup, type Markup } from './html.js';
import { isoTime } from './time.js';

/*
 * How the bridge moves, in numbers: what was executed, how long it took, and how long the oldest has been waiting.
 */

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** Durations are estimated from the buckets of `bridge_transfer_duration_seconds`. */
export interface FlowView {
  /** Since when executions are counted: a restart of the exporter starts at 0. ISO 8601. */
  readonly since: string;
  readonly countedSeconds: number;
  /** Withdrawals executed in the last hour, or since counting began. */
  readonly executedLastHour: number;
  /** The same in the last 24 hours. */
  readonly executedLastDay: number;
  /** Median duration of those; `null` when none was executed, or all had been requested before counting began. */
  readonly medianSeconds: number | null;
  /** How long the oldest withdrawal has been due: in a live batch, or in a queue whose fees pay for one; `null` when none is. */
  readonly oldestDueSeconds: number | null;
  /** `null` unless the target has an objective. */
  readonly objective: ObjectiveView | null;
}

interface ObjectiveView {
  readonly seconds: number;
  /** Share of the withdrawals that has to meet it. */
  readonly ratio: number;
  /** Share of the withdrawals of the last three days that met it; `null` when none was executed. */
  readonly met: number | null;
}

/** `null` for a document without a flow, and before its first successful poll. */
export function flowView(state: EndpointState, history: FlowHistory | undefined, now: Instant): FlowView | null {
  const since = history?.since;
  if (history === undefined || since === undefined) return null;
  const hour = flowIncrease(history, HOUR_SECONDS / 60, now);
  const day = flowIncrease(history, DAY_SECONDS / 60, now);
  if (hour === undefined || day === undefined) return null;
  return {
    since: isoTime(since.epochSeconds),
    countedSeconds: ageSeconds(since, now),
    executedLastHour: hour.transfersExecuted,
    executedLastDay: day.transfersExecuted,
    medianSeconds: medianSeconds(day) ?? null,
    oldestDueSeconds: oldestDueSeconds(state, now),
    objective: objectiveView(state, history, now),
  };
}

function oldestDueSeconds({ success }: EndpointState, now: Instant): number | null {
  const due = samplesOf(success?.snapshot.families ?? []).series('bridge_oldest_due_transfer_timestamp_seconds');
  return due.length === 0 ? null : Math.max(0, now.epochSeconds - Math.min(...due.map(({ value }) => value)));
}

function objectiveView({ success }: EndpointState, history: FlowHistory, now: Instant): ObjectiveView | null {
  const samples = samplesOf(success?.snapshot.families ?? []);
  const seconds = samples.value('bridge_objective_seconds');
  const ratio = samples.value('bridge_objective_ratio');
  const increase = flowIncrease(history, FLOW_MINUTES, now);
  if (seconds === undefined || ratio === undefined || increase === undefined) return null;
  const { late, all } = countLate(increase.transferDurations, seconds);
  return { seconds, ratio, met: all === 0 ? null : 1 - late / all };
}

/** The numbers in words: "none in the last hour" rather than nothing. */
export function flowHtml(view: FlowView | null): Markup {
  if (view === null) return markup``;
  const { countedSeconds, executedLastHour, oldestDueSeconds: oldest, objective } = view;
  const hour = countedSeconds < HOUR_SECONDS ? duration(countedSeconds) : 'hour';
  const counted =
    countedSeconds < DAY_SECONDS ? markup`<li class="quiet">counted for ${duration(countedSeconds)}` : markup``;
  return markup`<ul class="flow"><li>Withdrawals executed <b>${executedLastHour === 0 ? 'none' : executedLastHour}</b> in the last ${hour}
<li>Median time ${medianText(view)}
<li>Oldest due withdrawal <b>${oldest === null ? 'none' : duration(oldest)}</b>${objective === null ? '' : objectiveHtml(objective)}
${counted}</ul>`;
}

function medianText({ medianSeconds: median, executedLastDay, countedSeconds }: FlowView): Markup {
  const day = countedSeconds < DAY_SECONDS ? `last ${duration(countedSeconds)}` : 'last 24 hours';
  if (median !== null) return markup`<b>about ${duration(median)}</b> in the ${day}`;
  return executedLastDay === 0
    ? markup`<b>none</b> in the ${day}`
    : markup`<b>unknown</b>: ${count(executedLastDay, 'withdrawal')} requested before the start`;
}

function objectiveHtml({ seconds, ratio, met }: ObjectiveView): Markup {
  const share = met === null ? 'none executed' : percent(met, 1);
  return markup`
<li>Within ${duration(seconds)} <b>${share}</b> in the last 3 days, objective ${percent(ratio, 1)}`;
}
