import { formatMetadata, formatSeries, type Format } from '../metrics/text-format.js';

/** What the recorder has done, as far as it is exported. */
export interface RecorderCounts {
  readonly recorded: number;
  readonly failed: number;
  readonly bytes: number | undefined;
}

interface RecorderFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly value: (counts: RecorderCounts) => number | undefined;
}

const recorderFamilies: readonly RecorderFamily[] = [
  {
    name: 'bridge_exporter_recordings_total',
    type: 'counter',
    help: 'Total number of polls that the recorder has written.',
    value: ({ recorded }) => recorded,
  },
  {
    name: 'bridge_exporter_recording_failures_total',
    type: 'counter',
    help: 'Total number of polls that the recorder could not write.',
    value: ({ failed }) => failed,
  },
  {
    name: 'bridge_exporter_recordings_size_bytes',
    type: 'gauge',
    help: 'Size of all recorded polls in the directory of the recorder.',
    value: ({ bytes }) => bytes,
  },
];

/** The families of the recorder as text; empty if nothing is recorded. */
export function formatRecorder(counts: RecorderCounts | undefined, format: Format): string {
  if (counts === undefined) return '';
  return recorderFamilies
    .map(({ name, type, help, value }) => {
      const current = value(counts);
      if (current === undefined) return '';
      return (
        formatMetadata(name, type, help, format) +
        formatSeries({ name, labels: [] }, '', { labels: {}, value: current })
      );
    })
    .join('');
}
