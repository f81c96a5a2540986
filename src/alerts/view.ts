import type { LabelValues } from '../metrics/family.js';
import type { FiniteSample } from '../metrics/render-families.js';
import type { Items } from '../pending/items.js';
import type { Instant } from '../poll/clock.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import type { Snapshot } from '../poll/poll.js';
import type { PollHistory } from './poll-history.js';
import type { AlertLabels } from './verdict.js';

/** Something that is wrong in one poll: one series of the result of the alert expression without its range. */
export interface Finding {
  readonly labels: AlertLabels;
  /** The quantity that must not change while the finding lasts. With another value it is another finding. */
  readonly unchangedValue?: number | undefined;
  /** How much, for the sentence. */
  readonly value: number;
  /** When it began, if the data or the history tells; otherwise with the first poll that found it. */
  readonly since?: Instant | undefined;
  /** Whether it may have begun before `since`. */
  readonly mayBeOlder?: boolean;
  /** Unix seconds before which it cannot have begun, if the data proves that. */
  readonly notBeforeSeconds?: number | undefined;
}

/** A finding with the time at which it began. */
export interface DatedFinding extends Finding {
  readonly since: Instant;
  /** Whether it may have begun before the exporter observed it. */
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
  /** Those of the last successful poll; none before it. */
  readonly samples: Samples<Family>;
  readonly items: Items | undefined;
  /** Since when a successful poll is expected: the start of the process, or the reload that added the endpoint. */
  readonly expectedSince: Instant;
  readonly now: Instant;
}

/** The samples of a successful poll that alerts read. They are those of the exposition. */
export interface Samples<Family extends string = string> {
  /** The value of a family without labels; `undefined` when it is not exported. */
  readonly value: (family: Family) => number | undefined;
  /** All series of a family. */
  readonly series: (family: Family) => readonly FiniteSample[];
}

/** The kept samples of a snapshot, by family. */
export function samplesOf(snapshot: Snapshot | undefined): Samples & { readonly families: () => Iterable<string> } {
  const byFamily = new Map<string, readonly FiniteSample[]>();
  for (const { name, samples } of snapshot?.families ?? []) {
    if (samples !== undefined) byFamily.set(name, samples);
  }
  const series = (family: string): readonly FiniteSample[] => byFamily.get(family) ?? [];
  return { series, value: (family) => series(family)[0]?.value, families: () => byFamily.keys() };
}

/** The value of a label; every series of a family has all labels of the family. */
export function labelOf(labels: LabelValues, name: string): string {
  return labels[name] ?? '';
}

/** A finding without labels, or none. */
export function findingIf(condition: boolean, value: number, unchangedValue?: number): readonly Finding[] {
  return condition ? [{ labels: {}, value, unchangedValue }] : [];
}

/** Finds a family without labels that is above a limit; `unchangedFamily` is the family whose value must not change meanwhile. */
export function above<Family extends string>(family: Family, limit: number, unchangedFamily?: Family) {
  return ({ samples }: PollView<Family>): readonly Finding[] => {
    const value = samples.value(family);
    const unchangedValue = unchangedFamily === undefined ? undefined : samples.value(unchangedFamily);
    if (value === undefined || (unchangedFamily !== undefined && unchangedValue === undefined)) return [];
    return findingIf(value > limit, value, unchangedValue);
  };
}
