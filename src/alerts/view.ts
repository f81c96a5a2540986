import { msBetween, type Instant } from '../clock.js';
import { MINUTE_MS } from '../config/units.js';
import type { DocumentName } from '../documents.js';
import type { BlockSpan, DecimalString, Items } from '../facts/items/items.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import type { FlowHistory } from './flow-history.js';
import { heightFamilies, type PollHistory } from './poll-history.js';
import type { Samples } from './samples.js';

/*
 * What an alert can read of an endpoint: its state, its recent history, and the samples and items of the last successful poll.
 */

/** Data without a successful poll for this long, or with a height that has not changed for this long, is outdated. */
export const OUTDATED_MINUTES = 10;

/** The labels of an alert besides `target`, `document` and the names. */
export type AlertLabels = Readonly<Record<string, string>>;

/** A time of the data in Unix seconds, read only when it is needed; `undefined` when the data does not have it. */
type TimeOfData = () => number | undefined;

/**
 * What the data or the history prove about the beginning of a finding. `mayBeOlder`: it may have begun earlier.
 * `notBeforeSeconds`: the earliest possible beginning.
 * - `shown`: verdicts show it. The alert counts from the first poll that found it, because the rule counts from when its expression has a
 *   result.
 * - `counted`: the alert counts from it too, for a time that differs between series, instead of the range and `for` of the alert.
 * - `proven`: the time before the exporter observed the finding. Shown and counted if it was in the first poll of all, and this is earlier.
 */
export type Start =
  | { readonly kind: 'shown'; readonly since: Instant; readonly mayBeOlder: boolean }
  | {
      readonly kind: 'counted';
      readonly since: Instant;
      readonly mayBeOlder: boolean;
      readonly notBeforeSeconds: TimeOfData;
      readonly requiredMs: number;
    }
  | {
      readonly kind: 'proven';
      readonly sinceSeconds: TimeOfData;
      readonly mayBeOlder: boolean;
      readonly notBeforeSeconds?: TimeOfData;
    };

/** It began then. */
export function beganAt(sinceSeconds: TimeOfData): Start {
  return { kind: 'proven', sinceSeconds, mayBeOlder: false };
}

/** It has lasted at least since then. */
export function lastedSince(sinceSeconds: TimeOfData, notBeforeSeconds?: TimeOfData): Start {
  return { kind: 'proven', sinceSeconds, mayBeOlder: true, ...(notBeforeSeconds && { notBeforeSeconds }) };
}

/** Something that is wrong in one poll: one series of the result of the alert expression without its range. */
export interface Finding {
  readonly labels: AlertLabels;
  /** The quantity that must not change while the finding lasts. With another value it is another finding. */
  readonly unchangedValue?: number | undefined;
  /** How much, for the sentence. */
  readonly value: number;
  /** When it began; without it, with the first poll that found it. */
  readonly start?: Start | undefined;
}

/** A finding with the time since when it is known to hold. */
export interface DatedFinding extends Finding {
  readonly since: Instant;
  /** Whether it may have begun before. */
  readonly mayBeOlder: boolean;
}

/** The findings of a condition for an endpoint. */
export interface DatedFindings {
  /** At least one, the oldest first. */
  readonly all: readonly DatedFinding[];
  readonly oldest: DatedFinding;
  /** How long they have been there: "18 min", "at least 18 min", "up to 18 min". */
  readonly duration: string;
}

/** Everything about an endpoint at a point in time. The samples are limited to the families that the alert declares. */
export interface PollView<Family extends string = string> {
  readonly state: EndpointState;
  readonly history: PollHistory;
  readonly flow: FlowHistory;
  /** Those of the last successful poll; none before it. */
  readonly samples: Samples<Family>;
  readonly items: Items | undefined;
  /** Of the same target, for the texts; `undefined` if it is not polled, or its data is old. */
  readonly isContractPaused?: boolean | undefined;
  readonly now: Instant;
}

/** The values of a label of the findings. */
export function fieldsOf({ all }: DatedFindings, label: string): string[] {
  return all.flatMap(({ labels }) => labels[label] ?? []);
}

/** A finding without labels, or none. */
export function findingIf(
  condition: boolean,
  value: number,
  unchangedValue?: number,
  start?: Start,
): readonly Finding[] {
  return condition ? [{ labels: {}, value, unchangedValue, start }] : [];
}

/** What `timeOfHeight` reads. */
export const HUB_TIME_FAMILIES = ['bridge_height', 'bridge_block_time_seconds'] as const;

/** The time of a hub height by the block time in use, in Unix seconds; `undefined` if one of the three is unknown. */
export function timeOfHeight(
  { samples, state, now }: PollView<(typeof HUB_TIME_FAMILIES)[number]>,
  height: number | undefined,
): number | undefined {
  const current = samples.value('bridge_height');
  const blockTime = samples.value('bridge_block_time_seconds');
  if (height === undefined || current === undefined || blockTime === undefined) return undefined;
  return (state.success?.at ?? now).epochSeconds - (current - height) * blockTime;
}

/** The time of a hub height in the items of a poll. */
export function timeOfItemHeight(
  view: PollView<(typeof HUB_TIME_FAMILIES)[number]>,
  height: DecimalString | null | undefined,
): number | undefined {
  return timeOfHeight(view, height === null || height === undefined ? undefined : Number(height));
}

/** The time that is this far in the future of the last successful poll, in Unix seconds. */
export function timeUntil(
  { state, now }: Pick<PollView, 'state' | 'now'>,
  left: BlockSpan | null | undefined,
): number | undefined {
  const seconds = left?.seconds ?? undefined;
  return seconds === undefined ? undefined : (state.success?.at ?? now).epochSeconds + seconds;
}

/** The time of something that was this old in the last successful poll, in Unix seconds. */
export function timeOfAge(
  { state, now }: Pick<PollView, 'state' | 'now'>,
  age: BlockSpan | null | undefined,
): number | undefined {
  const seconds = age?.seconds ?? undefined;
  return seconds === undefined ? undefined : (state.success?.at ?? now).epochSeconds - seconds;
}

interface SteadyHeight {
  readonly height: number;
  readonly since: Instant;
  /** Whether the exporter has not observed its last change, so that it may be older. */
  readonly mayBeOlder: boolean;
}

/**
 * The height of the document if no change of it was observed within `OUTDATED_MINUTES`. So it is steady from the first poll on, until a
 * change is observed, like `changes()` of the rules; `undefined` without a height.
 */
export function steadyHeight({
  state: { document },
  history: { changes, firstSuccessAt },
  samples,
  now,
}: PollView<(typeof heightFamilies)[DocumentName]>): SteadyHeight | undefined {
  const height = samples.value(heightFamilies[document]);
  const changedAt = changes.get(heightFamilies[document])?.at;
  if (height === undefined) return undefined;
  if (changedAt !== undefined && msBetween(changedAt, now) < OUTDATED_MINUTES * MINUTE_MS) return undefined;
  return { height, since: changedAt ?? firstSuccessAt ?? now, mayBeOlder: changedAt === undefined };
}
