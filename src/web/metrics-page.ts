import type { Instant } from '../endpoint-state.js';
import type { Format } from '../metrics/text-format.js';
import { bodyOf, type Body } from './body.js';

interface Made {
  readonly ofEndpoints: string;
  readonly ofProcess: string;
  readonly body: Body;
}

/** All of `/metrics`, put together and compressed once a change and not once a scrape: a scrape copies bytes. */
export function createMetricsPage(
  exposeEndpoints: (format: Format, now: Instant) => string,
  exposeProcess: (format: Format, now: Instant) => Promise<string>,
): (format: Format, now: Instant) => Promise<Body> {
  const made = new Map<Format, Made>();
  return async (format, now) => {
    const ofProcess = await exposeProcess(format, now);
    const ofEndpoints = exposeEndpoints(format, now);
    const known = made.get(format);
    if (known?.ofEndpoints === ofEndpoints && known.ofProcess === ofProcess) return known.body;
    const body = bodyOf(ofEndpoints + ofProcess + (format === 'openmetrics' ? '# EOF\n' : ''));
    made.set(format, { ofEndpoints, ofProcess, body });
    return body;
  };
}
