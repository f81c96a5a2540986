import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { moduleStateDocument, rateLimiterInputDocument } from '../documents.js';
import type { FamilyHeader } from '../metrics/family.js';
import { formatHeader, type Format } from '../metrics/text-format.js';
import type { Instant } from '../poll/clock.js';
import type { EndpointState, EndpointStore } from '../poll/endpoint-store.js';
import { ENDPOINT_LABELS, pollFamilies, pollFamilyLines } from './poll-metrics.js';
import type { ProcessMetrics } from './process-metrics.js';

/*
 * The page `/metrics`: the chain families of the latest documents, the families about the polls (poll-metrics.ts), and the
 * metrics of the process (process-metrics.ts).
 */

/** The name of an encoding as in `Content-Encoding`. */
export type ContentEncoding = 'identity' | 'gzip';

/** The body of `/metrics` at a point in time. */
export type MetricsPage = (format: Format, encoding: ContentEncoding, now: Instant) => Promise<Buffer>;

/** Process metrics are collected at most once a second, and immediately after a reload. */
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
 * Creates the page with its only cache, which bounds the CPU time that frequent scrapes can cause: all scrapes between two
 * changes of the endpoints or of the process metrics share one rendered page per format, and one compressed page.
 */
export function createMetricsPage(
  store: EndpointStore,
  processMetrics: Pick<ProcessMetrics, 'reloads' | 'render'>,
): MetricsPage {
  const pages = new Map<Format, CachedPage>();

  /** Differs after a poll, after a reload, and after the last success of an endpoint became stale. */
  function versionAt(now: Instant): string {
    const freshness = store.all().map((state) => Number(store.hasFreshSnapshot(state, now)));
    return [store.version(), ...freshness].join(' ');
  }

  function processTextAt(now: Instant, format: Format, last: ProcessText | undefined): ProcessText {
    const reloads = processMetrics.reloads();
    const isCurrent = last?.reloads === reloads && now.monotonicMs - last.collectedAtMs < PROCESS_MAX_AGE_MS;
    return isCurrent ? last : { text: processMetrics.render(format), collectedAtMs: now.monotonicMs, reloads };
  }

  async function render(format: Format, now: Instant, processText: ProcessText): Promise<Buffer> {
    const endpoints = renderEndpoints(store, format, now);
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

/** All families of documents and polls, in the order of the exposition. */
export const families: readonly FamilyHeader[] = [
  ...moduleStateDocument.families,
  ...rateLimiterInputDocument.families,
  ...pollFamilies,
];

/** The labels of the series of a target. Configured labels of a target cannot have these names. */
export const metricLabels: ReadonlySet<string> = new Set([
  ...ENDPOINT_LABELS,
  ...families.flatMap(({ labels }) => labels),
]);

const headers: Readonly<Record<Format, readonly string[]>> = {
  text: families.map((family) => formatHeader(family, 'text')),
  openmetrics: families.map((family) => formatHeader(family, 'openmetrics')),
};

/** The families of all endpoints as text. Lines are grouped by family, because HELP and TYPE precede all series of a family. */
export function renderEndpoints(store: EndpointStore, format: Format, now: Instant): string {
  const linesByFamily = new Map<string, string>();
  for (const state of store.all()) {
    for (const { name, lines } of familiesOf(state, store.hasFreshSnapshot(state, now))) {
      linesByFamily.set(name, (linesByFamily.get(name) ?? '') + lines);
    }
  }
  return families
    .map(({ name }, index) => {
      const lines = linesByFamily.get(name) ?? '';
      return lines === '' ? '' : headers[format][index] + lines;
    })
    .join('');
}

/** The chain families of the last successful poll, unless it is stale, and the families about the polls. */
function familiesOf(
  state: EndpointState,
  isFresh: boolean,
): readonly { readonly name: string; readonly lines: string }[] {
  const lines = pollFamilyLines(state);
  return isFresh && state.success !== undefined ? [...state.success.snapshot.families, ...lines] : lines;
}
