import { count, duration } from '../text/format.js';
import { dataAlert, type Severity } from './alert.js';
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
  UNLESS_WATCHED,
  watchedWithNames,
  withNameLabels,
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

/** Which alert is about the missing signatures themselves. */
const CAUSES: Readonly<Record<ConfirmKind, string>> = { valset: 'BridgeValsetUnsigned', batch: 'BridgeBatchUnsigned' };

/** What a validator has to sign, in words. */
const SIGNED_THING: Readonly<Record<ConfirmKind, string>> = { valset: 'a validator set', batch: 'a batch' };

/** Seconds that are left to sign a validator set or a batch, by orchestrator and \`confirms\`. */
const TIME_LEFT = `(
  (
    label_replace(bridge_orchestrator_confirm_deadline_height, "confirms", "valset", "", "")
    or
    label_replace(bridge_orchestrator_batch_confirm_deadline_height, "confirms", "batch", "", "")
  )
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

/** The deadlines that are so many seconds away, with these as the value. Some follow from what lacks the signatures of many. */
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
      followsFrom: who === 'watched' ? [] : [CAUSES[next.confirms]],
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

const LATE_WITH = 'a signature with a near deadline';

function deadlineNear(
  who: 'watched' | 'others',
  [fromHours, untilHours]: readonly [number, number],
  alert: {
    readonly severity: Severity;
    readonly comment: string;
    readonly when: string;
    readonly action: string;
  },
) {
  const [from, until] = [fromHours * HOUR_SECONDS, untilHours * HOUR_SECONDS];
  const near = `${parenthesized(TIME_LEFT)} >= ${from} < ${until}`;
  const validator = who === 'watched' ? 'your validator' : 'validator';
  const first = who === 'watched' ? 'Your validator' : 'Validator';
  return dataAlert('module_state', {
    ...alert,
    name: 'BridgeOrchestratorDeadlineNear',
    lateWith: LATE_WITH,
    dashboard: 'bridge-signers',
    recordings: [orchestratorNames],
    expr:
      who === 'watched'
        ? watchedWithNames(near)
        : withNameLabels(`${near}
${UNLESS_WATCHED}`),
    forMinutes: DEADLINE_FOR_MINUTES,
    families: NEAR_FAMILIES,
    find: (view) => nearDeadlines(view, who, from, until),
    summary: `${validator} {{ or $labels.name $labels.orchestrator }} is jailed in {{ $value | humanizeDuration }}.`,
    description: `${first} {{ $labels.name }} (orchestrator {{ $labels.orchestrator }}) of {{ $labels.target }} has {{ $value | humanizeDuration }} left to sign a {{ if eq $labels.confirms "batch" }}batch{{ else }}validator set{{ end }}. After that it is jailed.`,
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
    ...(who === 'watched' && {
      inhibits: [{ alert: 'BridgeOrchestratorMissingConfirms', equal: ['orchestrator'] }],
    }),
  });
}

export const deadlineAlerts = [
  deadlineNear('watched', [0, CRITICAL_HOURS], {
    severity: 'critical',
    comment: `Your own validators: those in \`watch\`. 12 hours (43200 s) include a night. Batches are live for less than the window unless no
event is observed for days.`,
    when: `Less than ${CRITICAL_HOURS} hours are left for a watched validator to sign a validator set or a batch.`,
    action: 'Restart the orchestrator now.',
  }),
  deadlineNear('watched', [CRITICAL_HOURS, WARNING_HOURS], {
    severity: 'warning',
    comment: 'Your own validators, from a day (86400 s) to 12 hours (43200 s) before.',
    when: `Between ${CRITICAL_HOURS} and ${WARNING_HOURS} hours are left for a watched validator to sign.`,
    action: 'Restart the orchestrator today.',
  }),
  dataAlert('module_state', {
    name: 'BridgeOrchestratorDeadlineNear',
    lateWith: LATE_WITH,
    severity: 'warning',
    dashboard: 'bridge-signers',
    comment: `Validators of others with a third of the power: jailed validators neither sign nor vote, so nothing is relayed or observed before they are
unjailed. 12 hours (43200 s), when their operators can still be reached.`,
    when: `Less than ${CRITICAL_HOURS} hours are left to sign for validators that are not watched, with a third of the power or more.`,
    expr: powerOfOthersAtLeast(JAILED_POWER_RATIO, `${TIME_LEFT} >= 0 < ${CRITICAL_HOURS * HOUR_SECONDS}`),
    recordings: [orchestratorNames],
    labels: { watched: 'false' },
    forMinutes: DEADLINE_FOR_MINUTES,
    families: NEAR_FAMILIES,
    find: (view) => nearPower(view, CRITICAL_HOURS * HOUR_SECONDS),
    minimumSum: JAILED_POWER_RATIO,
    summary: 'validators with {{ $value | humanizePercentage }} of the power are jailed within hours.',
    description: `Validators of others with {{ $value | humanizePercentage }} of the power of {{ $labels.target }} have less than ${CRITICAL_HOURS} hours left to sign a validator set or a batch. Jailed, they neither sign nor vote, so nothing is relayed or observed.`,
    action: 'Tell the operators, the largest first: nothing is signed or observed without them.',
    sentence: (findings, view) => {
      const found = validatorsOf(findings, view);
      return withList(
        `${extentOf(found)} will be jailed, the first in ${timeToFirst(findings, view)}, unless they sign`,
        validators(found),
      );
    },
  }),
  deadlineNear('others', [0, CRITICAL_HOURS], {
    severity: 'info',
    comment: `The validators of others, and all when bridge_orchestrator_info is missing: 12 hours (43200 s) before.`,
    when: 'The same as the critical one for each validator that is not watched.',
    action: 'Inform the operator; if the validator is yours, restart its orchestrator and add it to watch.',
  }),
];
