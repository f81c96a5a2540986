import type { Instant } from '../endpoint-state.js';
import type { Format } from '../metrics/text-format.js';
import { bodyOf, type Body } from './body.js';

/** What the page consists of. */
interface Parts {
  /** Changes whenever what the endpoints show does. */
  readonly version: (now: Instant) => number;
  readonly ofEndpoints: (format: Format, now: Instant) => string;
  readonly ofProcess: (format: Format, now: Instant) => Promise<string>;
}

interface Made {
  readonly version: number;
  readonly ofProcess: string;
  /** Bytes alone: a text of this size, kept for a while, stays in memory until all of it is collected. */
  readonly body: Body;
}

/** All of `/metrics`, put together and compressed once a change and not once a scrape: a scrape copies bytes. */
export function createMetricsPage(parts: Parts): (format: Format, now: Instant) => Promise<Body> {
  const made = new Map<Format, Made>();
  return async (format, now) => {
    // Asked first, while `now` is now: what is put together may be newer than its version, never older.
    const version = parts.version(now);
    const ofProcess = await parts.ofProcess(format, now);
    const known = made.get(format);
    if (known?.version === version && known.ofProcess === ofProcess) return known.body;
    const body = bodyOf(parts.ofEndpoints(format, now) + ofProcess + (format === 'openmetrics' ? '# EOF\n' : ''));
    made.set(format, { version, ofProcess, body });
    return body;
  };
}
