import type { RecorderStatus } from '../recorder/recorder.js';
import { formatApproximateSize, formatDuration, formatSize } from '../config/units.js';

import { isolated, markup, type Markup } from './html.js';
import { ago, distanceElement, isoTime } from './time.js';

/** What the status page says about the recorder. */
export interface RecorderView {
  readonly directory: string;
  readonly intervalMs: number;
  readonly maxBytes: number;
  /** `null` before the recordings were added up. */
  readonly bytes: number | null;
  readonly recorded: number;
  readonly failed: number;
  readonly failingSince: string | null;
  readonly message: string | null;
}

export function recorderView(status: RecorderStatus | undefined): RecorderView | null {
  if (status === undefined) return null;
  const { settings, recorded, failed, bytes = null, failure } = status;
  return {
    directory: settings.directory,
    intervalMs: settings.interval,
    maxBytes: settings.max_size,
    bytes,
    recorded,
    failed,
    failingSince: failure === undefined ? null : isoTime(failure.since.epochSeconds),
    message: failure?.message ?? null,
  };
}

export function recorderFacts(view: RecorderView | null, nowMs: number): readonly (readonly [string, Markup])[] {
  if (view === null) return [];
  const { directory, intervalMs, maxBytes, bytes, recorded, failed, failingSince, message } = view;
  const frequency = intervalMs === 0 ? 'every poll' : `a response every ${formatDuration(intervalMs)}`;
  const size = bytes === null ? '' : `, ${formatApproximateSize(bytes)} of ${formatSize(maxBytes)}`;
  const facts = markup`${frequency} to ${isolated(directory)}${size}; since the start ${recorded} recorded, ${failed} failed`;
  if (failingSince === null || message === null) return [['Recorder', facts]];
  const since = distanceElement(failingSince, ago((nowMs - Date.parse(failingSince)) / 1000));
  const problem = markup`<span class="state failing">failing</span> since ${since}: ${isolated(message)}`;
  return [['Recorder', markup`${facts}. ${problem}`]];
}
