import { renderEndpoints } from '../exposition/metrics-page.js';
import { instantAt, type ReplayedEndpoint } from './replayed-endpoint.js';

/* The exposition of a recording over time, as OpenMetrics with timestamps. */

export interface TimeSeries {
  /** The series of endpoints at a point in time. */
  readonly endpointsAt: (endpoints: readonly ReplayedEndpoint[], timeMs: number) => string;
  /** A text of OpenMetrics with this timestamp. */
  readonly textAt: (openMetrics: string, timeMs: number) => string;
}

/**
 * Formats samples in the order of time. HELP and TYPE of a family precede its first sample only: Prometheus requires no more, and a
 * text in the order of families could not be streamed.
 */
export function createTimeSeries(): TimeSeries {
  const described = new Set<string>();

  function textAt(openMetrics: string, timeMs: number): string {
    const timestamp = ` ${(timeMs / 1000).toFixed(3)}\n`;
    return openMetrics
      .split('\n')
      .map((line) => {
        if (line === '') return '';
        if (!line.startsWith('#')) return line + timestamp;
        if (described.has(line)) return '';
        described.add(line);
        return `${line}\n`;
      })
      .join('');
  }

  return {
    textAt,
    endpointsAt: (endpoints, timeMs) => textAt(renderAt(endpoints, timeMs), timeMs),
  };
}

/** Each endpoint has clocks of its own. */
export function renderAt(endpoints: readonly ReplayedEndpoint[], timeMs: number): string {
  return endpoints
    .map((endpoint) => renderEndpoints([endpoint.state], 'openmetrics', instantAt(endpoint, timeMs)))
    .join('');
}
