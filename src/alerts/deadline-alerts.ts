import { count, duration } from '../text/format.js';
import { dataAlert } from './alert.js';
import {
  blocksToFirst,
  byOrchestrator,
  creationTime,
  deadlines,
  DEADLINE_FAMILIES,
  extentOf,
  IDENTITY_FAMILIES,
  infoByOrchestrator,
  isWatched,
  orchestratorLabels,
  validatorsOf,
  WINDOW_FAMILIES,
  type ConfirmKind,
  type Deadline,
  type DeadlineFamily,
  type IdentityFamily,
} from './orchestrators.js';
import {
  ON_TARGET,
  orchestratorNames,
  parenthesized,
  powerOfOthersAtLeast,
  TARGET,
  watchedWithNames,
} from './promql.js';
import { orchestratorKey, validators, withList } from './sentences.js';
import { labelOf } from './samples.js';
import { beganAt, timeOfHeight, type DatedFindings, type Finding, type PollView } from './view.js';

/* Alerts on the time that is left to validators before they are jailed. */

/** The time left to sign from which on a watched validator is urgent, and from which on it is a warning. */
export const CRITICAL_HOURS = 12;
export const WARNING_HOURS = 24;
const HOUR_SECONDS = 3600;

/** From this share of the power of others on, a deadline is the problem of the whole bridge: without them nothing is signed or observed. */
const JAILED_POWER_RATIO = 0.33;

/** What a validator has to sign, in words. */
const SIGNED_THING: Readonly<Record<ConfirmKind, string>> = { valset: 'a validator set', batch: 'a batch' };

/** Seconds that are left to sign a validator set or a batch, by orchestrator and \`confirms\`. */
const TIME_LEFT = `(
  bridge_orchestrator_confirm_deadline_height
  - ${ON_TARGET} group_left () max by (${TARGET}) (bridge_height)
)
* ${ON_TARGET} group_left () max by (${TARGET}) (bridge_block_time_seconds)`;

/** Tells apart a signature that is missing from one that is given within minutes. */
const DEADLINE_FOR_MINUTES = 15;

/** Since when so little time has been left, in Unix seconds: a signature that is missing now was missing from the creation on. */
function missingSince(
  view: PollView<DeadlineFamily | (typeof WINDOW_FAMILIES)[number]>,
  next: Deadline,
  untilSeconds: number,
): number | undefined {
  const created = creationTime(view, next);
  const deadline = timeOfHeight(view, (view.samples.value('bridge_height') ?? 0) + next.blocks);
  return created === undefined || deadline === undefined ? undefined : Math.max(created, deadline - untilSeconds);
}

type NearFamily = DeadlineFamily | IdentityFamily | (typeof WINDOW_FAMILIES)[number];
const NEAR_FAMILIES = [...IDENTITY_FAMILIES, ...DEADLINE_FAMILIES, ...WINDOW_FAMILIES] as const;

/** The deadlines that are so many seconds away, with these as the value. */
function nearDeadlines(
  view: PollView<NearFamily>,
  who: 'watched' | 'others',
  from: number,
  until: number,
): readonly Finding[] {
  const info = infoByOrchestrator(view.samples);
  const blockTime = view.samples.value('bridge_block_time_seconds');
  if (blockTime === undefined) return [];
  return deadlines(view)
    .filter(({ labels }) => isWatched(info, labels) === (who === 'watched'))
    .map((next): Finding => ({
      labels: { ...orchestratorLabels(next.labels), confirms: next.confirms },
      value: next.blocks * blockTime,
      start: beganAt(() => missingSince(view, next, until)),
    }))
    .filter(({ value }) => value >= from && value < until);
}

/** The power of the validators of others that are jailed soon. */
function nearPower(view: PollView<NearFamily>, until: number): readonly Finding[] {
  const power = byOrchestrator(view.samples, 'bridge_orchestrator_power_ratio');
  return nearDeadlines(view, 'others', 0, until).flatMap((finding) => {
    const value = power.get(orchestratorKey(finding.labels));
    return value === undefined ? [] : [{ ...finding, labels: orchestratorLabels(finding.labels), value }];
  });
}

/** The time to the first of these deadlines. */
function timeToFirst(findings: DatedFindings, view: PollView<NearFamily>): string {
  const blockTime = view.samples.value('bridge_block_time_seconds') ?? 0;
  return `about ${duration((blocksToFirst(findings, view) ?? 0) * blockTime)}`;
}

const deadlineNear = {
  name: 'BridgeOrchestratorDeadlineNear',
  lateWith: 'a signature with a near deadline',
  dashboard: 'bridge-signers',
  recordings: [orchestratorNames],
  forMinutes: DEADLINE_FOR_MINUTES,
  families: NEAR_FAMILIES,
} as const;

function watchedDeadlineNear(
  severity: 'critical' | 'warning',
  [fromHours, untilHours]: readonly [number, number],
  texts: { readonly description: string; readonly action: string },
) {
  const [from, until] = [fromHours * HOUR_SECONDS, untilHours * HOUR_SECONDS];
  return dataAlert('module_state', {
    ...deadlineNear,
    ...texts,
    severity,
    expr: watchedWithNames(`${parenthesized(TIME_LEFT)} >= ${from} < ${until}`),
    find: (view) => nearDeadlines(view, 'watched', from, until),
    summary:
      'your validator {{ or $labels.name $labels.orchestrator }} is jailed in {{ $value | humanizeDuration }} unless it signs a {{ if eq $labels.confirms "batch" }}batch{{ else }}validator set{{ end }}.',
    sentence: (findings, view) => {
      const soonest = findings.all.toSorted((a, b) => a.value - b.value)[0] ?? findings.oldest;
      const time = `about ${duration(soonest.value)}`;
      const kind = labelOf(soonest.labels, 'confirms') === 'batch' ? 'batch' : 'valset';
      const found = validatorsOf(findings, view);
      return found.length === 1
        ? `${validators(found)} will be jailed in ${time} unless it signs ${SIGNED_THING[kind]}`
        : withList(
            `${count(found.length, 'validator')} will be jailed, the first in ${time}, unless they sign`,
            validators(found),
          );
    },
    inhibits: [{ alert: 'BridgeOrchestratorMissingConfirms', equal: ['orchestrator'] }],
  });
}

export const deadlineAlerts = [
  // 12 hours include a night. Batches are live for less than the window unless no event is observed for days.
  watchedDeadlineNear('critical', [0, CRITICAL_HOURS], {
    description: `Less than ${CRITICAL_HOURS} hours are left for a validator of \`watch\` to sign a validator set or a batch. After that it is jailed.`,
    action: 'Restart the orchestrator now.',
  }),
  watchedDeadlineNear('warning', [CRITICAL_HOURS, WARNING_HOURS], {
    description: `Between ${CRITICAL_HOURS} and ${WARNING_HOURS} hours are left for a validator of \`watch\` to sign a validator set or a batch. After that it is jailed.`,
    action: 'Restart the orchestrator today.',
  }),
  dataAlert('module_state', {
    ...deadlineNear,
    severity: 'warning',
    description: `Less than ${CRITICAL_HOURS} hours are left to sign a validator set or a batch for validators that are not in \`watch\`, with a third of the power or more. Jailed, they neither sign nor vote, so nothing is relayed or observed.`,
    // 12 hours, when their operators can still be reached.
    expr: powerOfOthersAtLeast(JAILED_POWER_RATIO, `${TIME_LEFT} >= 0 < ${CRITICAL_HOURS * HOUR_SECONDS}`),
    labels: { watched: 'false' },
    find: (view) => nearPower(view, CRITICAL_HOURS * HOUR_SECONDS),
    minimumSum: JAILED_POWER_RATIO,
    summary: 'validators with {{ $value | humanizePercentage }} of the power are jailed within hours.',
    action: 'Tell the operators, the largest first: nothing is signed or observed without them.',
    sentence: (findings, view) => {
      const found = validatorsOf(findings, view);
      return withList(
        `${extentOf(found)} will be jailed, the first in ${timeToFirst(findings, view)}, unless they sign`,
        validators(found),
      );
    },
  }),
];
