import { documentNames } from '../document-types.js';
import { documents } from '../documents.js';
import type { FamilyHeader } from '../metrics/family.js';
import { type RenderedFamily, formatHeader, type Format } from '../metrics/text-format.js';
import { wallSeconds, type Moment } from '../clock.js';
import { exportedFamilies, type EndpointState } from '../engine/endpoint-state.js';
import { problemSeries } from '../engine/target-problems.js';
import { problemDue, problemInfo, problemStart, problemUnjudged } from '../problems/problem-families.js';
import { nodeQueryFamilies } from '../queries/node-queries.js';
import { ENDPOINT_LABELS, pollFamilies, renderedPollFamilies } from './exporter-metrics.js';
import type { RenderProcessMetrics } from './node-metrics.js';

/* The page `/metrics`: chain families of the latest documents, families about polls, and metrics of the process. */

/** The body of `/metrics` at a point in time. */
export async function metricsPage(
  states: readonly EndpointState[],
  renderProcessMetrics: RenderProcessMetrics,
  format: Format,
  now: Moment,
): Promise<string> {
  const text = renderEndpoints(states, format, now) + (await renderProcessMetrics(format, now));
  return format === 'openmetrics' ? `${text}# EOF\n` : text;
}

/** All families of documents and polls, in the order of the exposition. */
export const allFamilies: readonly FamilyHeader[] = [
  ...documentNames.flatMap((name): readonly FamilyHeader[] => [
    ...documents[name].families,
    ...documents[name].flow.gauges,
    ...documents[name].flow.cumulative,
  ]),
  ...nodeQueryFamilies,
  problemStart,
  problemDue,
  problemInfo,
  problemUnjudged,
  ...pollFamilies,
];

/** The labels of the series of a target. Configured labels of a target cannot have these names. */
export const metricLabels: ReadonlySet<string> = new Set([
  ...ENDPOINT_LABELS,
  ...allFamilies.flatMap(({ labels }) => labels),
]);

const headers: Readonly<Record<Format, readonly string[]>> = {
  text: allFamilies.map((family) => formatHeader(family, 'text')),
  openmetrics: allFamilies.map((family) => formatHeader(family, 'openmetrics')),
};

/** The families of all endpoints as text, grouped by family: HELP and TYPE precede all series of a family. */
export function renderEndpoints(states: readonly EndpointState[], format: Format, now: Moment): string {
  const textsByFamily = new Map<string, string[]>(allFamilies.map(({ name }) => [name, []]));
  const addTexts = (rendered: readonly RenderedFamily[]): void => {
    for (const { name, text, isInstant } of rendered) {
      if (text !== '') textsByFamily.get(name)?.push(isInstant === true ? withUnixSeconds(text, now) : text);
    }
  };
  for (const state of states) {
    addTexts(exportedFamilies(state, now.at));
    addTexts(state.lastSuccess?.snapshot.renderedCumulative ?? []);
    addTexts(renderedPollFamilies(state));
  }
  addTexts(problemSeries(states, now));
  return allFamilies
    .flatMap(({ name }, index) => {
      const texts = textsByFamily.get(name) ?? [];
      return texts.length === 0 ? [] : [headers[format][index], ...texts];
    })
    .join('');
}

/** Converts instants to Unix seconds at each scrape, so that setting the wall clock moves them without a poll. */
function withUnixSeconds(text: string, now: Moment): string {
  return text.replaceAll(/ ([^ \n]+)\n/g, (_, instant) => ` ${wallSeconds(Number(instant), now)}\n`);
}
