import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';

/**
 * A point in time of this process, in seconds of the process clock, which is monotonic and includes suspensions of the
 * machine, like CLOCK_BOOTTIME. It starts at the wall time or, with a state file, at the last instant of the previous
 * process plus the wall time since then, so that instants of both can be compared.
 */
export type Instant = number;

/** Now, by both clocks. */
export interface Moment {
  readonly at: Instant;
  /** Wall time minus process time, in seconds. Add it to an instant that is exported or compared with times of a chain. */
  readonly clockOffset: number;
}

export type Clock = () => Moment;

/** The sources of a clock; by default those of the machine. */
interface ClockSources {
  readonly wallMs?: () => number;
  /** Stops while the machine is suspended. */
  readonly monotonicMs?: () => number;
  /** Goes on while the machine is suspended, and has whole seconds where a sandbox hides `/proc/uptime`. */
  readonly uptimeSeconds?: () => number;
  readonly start?: Instant | undefined;
}

/** A shorter suspension is within the resolution of the uptime, so it cannot be detected. */
const MIN_SUSPENSION_MS = 2_000;

/** Smaller changes of the offset are corrections by NTP. If applied, each would move the timestamps of metrics. */
const MIN_SETTING_SECONDS = 1;

export function createClock({
  wallMs = () => Date.now(),
  monotonicMs = () => performance.now(),
  uptimeSeconds = () => uptime(),
  start = Math.round(wallMs()) / 1000,
}: ClockSources = {}): Clock {
  const startMs = monotonicMs();
  const aheadMs = uptimeSeconds() * 1000 - startMs;
  let suspendedMs = 0;
  let clockOffset = toMilliseconds(wallMs() / 1000 - start);

  return () => {
    const monotonic = monotonicMs();
    const suspended = uptimeSeconds() * 1000 - monotonic - aheadMs;
    if (suspended - suspendedMs > MIN_SUSPENSION_MS) suspendedMs = suspended;
    const at = toMilliseconds(start + (monotonic - startMs + suspendedMs) / 1000);
    const offset = wallMs() / 1000 - at;
    if (Math.abs(offset - clockOffset) > MIN_SETTING_SECONDS) clockOffset = toMilliseconds(offset);
    return { at, clockOffset };
  };
}

/** In whole milliseconds, as in recordings, so that sums of instants and offsets are exact in output. */
export function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

/** Unix seconds of an instant. */
export function wallSeconds(instant: Instant, { clockOffset }: Pick<Moment, 'clockOffset'>): number {
  return toMilliseconds(instant + clockOffset);
}

/** The seconds since a value of `performance.now()`. */
export function secondsSince(startMs: number): number {
  return (performance.now() - startMs) / 1000;
}

/** The latest time with a year of four digits, in Unix seconds. */
export const LAST_SECONDS = 253_402_300_799;

/**
 * Unix seconds as ISO 8601. A document can have any number: before 1970 it is printed as 1970, after 9999 as its end.
 */
export function isoTime(epochSeconds: number): string {
  return new Date(Math.round(Math.max(0, Math.min(epochSeconds, LAST_SECONDS)) * 1000)).toISOString();
}
