import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Format } from '../metrics/text-format.js';
import type { Instant } from '../poll/clock.js';
import type { EndpointStore } from '../poll/snapshots.js';
import { renderEndpoints } from './exposition.js';
import type { ProcessMetrics } from './process-metrics.js';

/*
 * The metrics page consists of the families of all endpoints (exposition.ts), about the chains and about the polls
 * (endpoint-metrics.ts), and of the metrics of the process (process-metrics.ts).
 */

/** The name of an encoding as in `Content-Encoding`. */
export type ContentEncoding = 'identity' | 'gzip';

/** The body of `/metrics` at a point in time. */
export type MetricsPage = (format: Format, encoding: ContentEncoding, now: Instant) => Promise<Buffer>;

/** Process metrics change all the time; they are collected once a second, and at once after a reload. */
const PROCESS_MAX_AGE_MS = 1000;

interface ProcessText {
  readonly text: Promise<string>;
  readonly collectedAtMs: number;
  readonly reloads: number;
}

interface CachedPage {
  readonly version: string;
  readonly processText: ProcessText;
  /** Bytes, because Node.js would encode a string again for every response. */
  readonly plain: Promise<Buffer>;
  gzip?: Promise<Buffer>;
}

const compress = promisify(gzip);

/**
 * The metrics page and its only cache. The page of a format is rendered by the first scrape after one of its inputs changed,
 * and compressed by the first one that accepts gzip. The scrapes until the next change share the result, also while it is
 * being rendered.
 */
export function createMetricsPage(
  snapshots: EndpointStore,
  processMetrics: Pick<ProcessMetrics, 'reloads' | 'render'>,
): MetricsPage {
  const pages = new Map<Format, CachedPage>();

  /** Differs after a poll, after a reload, and after the last success of an endpoint became stale. */
  function versionAt(now: Instant): string {
    const shown = snapshots.all().map((state) => Number(snapshots.hasFreshSnapshot(state, now)));
    return [snapshots.version(), ...shown].join(' ');
  }

  function processTextAt(now: Instant, format: Format, last: ProcessText | undefined): ProcessText {
    const reloads = processMetrics.reloads();
    const isCurrent = last?.reloads === reloads && now.monotonicMs - last.collectedAtMs < PROCESS_MAX_AGE_MS;
    return isCurrent ? last : { text: processMetrics.render(format), collectedAtMs: now.monotonicMs, reloads };
  }

  async function render(format: Format, now: Instant, processText: ProcessText): Promise<Buffer> {
    const endpoints = renderEndpoints(snapshots, format, now);
    const end = format === 'openmetrics' ? '# EOF\n' : '';
    return Buffer.from(endpoints + (await processText.text) + end);
  }

  return async (format, encoding, now) => {
    const version = versionAt(now);
    let page = pages.get(format);
    const processText = processTextAt(now, format, page?.processText);
    if (page?.version !== version || page.processText !== processText) {
      page = { version, processText, plain: render(format, now, processText) };
      pages.set(format, page);
    }
    if (encoding === 'identity') return page.plain;
    page.gzip ??= page.plain.then(async (plain) => compress(plain, { level: 1 }));
    return page.gzip;
  };
}
