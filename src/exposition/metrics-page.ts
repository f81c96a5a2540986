import type { Instant } from '../poll/clock.js';
import type { Format } from '../metrics/text-format.js';
import { compressedText, type CompressedText } from './compressed-text.js';

/** What the page consists of. */
interface Parts {
  /** Changes whenever what the endpoints show does. */
  readonly version: (now: Instant) => number;
  readonly ofEndpoints: (format: Format, now: Instant) => string;
  /** The same promise for as long as its text is good enough. */
  readonly ofProcess: (format: Format, now: Instant) => Promise<string>;
}

interface Made {
  readonly version: number;
  readonly ofProcess: Promise<string>;
  /** Bytes alone: a text of this size, kept for a while, stays in memory until all of it is collected. */
  readonly body: Promise<CompressedText>;
}

/** All of `/metrics`, put together and compressed once a change and not once a scrape: a scrape copies bytes. */
export function createMetricsPage(parts: Parts): (format: Format, now: Instant) => Promise<CompressedText> {
  const made = new Map<Format, Made>();
  const make = async (format: Format, now: Instant, ofProcess: Promise<string>): Promise<CompressedText> =>
    compressedText(parts.ofEndpoints(format, now) + (await ofProcess) + (format === 'openmetrics' ? '# EOF\n' : ''));
  // Of promises, as every further one that a scrape waits for takes longer than to find out that there is nothing new.
  return (format, now) => {
    const version = parts.version(now);
    const ofProcess = parts.ofProcess(format, now);
    const known = made.get(format);
    if (known?.version === version && known.ofProcess === ofProcess) return known.body;
    const body = make(format, now, ofProcess);
    made.set(format, { version, ofProcess, body });
    return body;
  };
}
