import { moduleStateDocument, rateLimiterInputDocument } from '../documents.js';
import type { FamilyHeader } from '../metrics/family.js';
import { formatHeader, type Format } from '../metrics/text-format.js';
import type { Instant } from '../poll/clock.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import type { EndpointStore } from '../poll/snapshots.js';
import { pollFamilies, endpointLines } from './endpoint-metrics.js';

/** Every family of the endpoints, in the order of the exposition. */
export const families: readonly FamilyHeader[] = [
  ...moduleStateDocument.families,
  ...rateLimiterInputDocument.families,
  ...pollFamilies,
];

const headers: Readonly<Record<Format, readonly string[]>> = {
  text: families.map((family) => formatHeader(family, 'text')),
  openmetrics: families.map((family) => formatHeader(family, 'openmetrics')),
};

/** The metrics of all endpoints. Lines are grouped by family, because HELP and TYPE precede all series of a family. */
export function renderEndpoints(snapshots: EndpointStore, format: Format, now: Instant): string {
  const linesByFamily = new Map<string, string>();
  for (const state of snapshots.all()) {
    for (const { name, lines } of familiesOf(state, snapshots.hasFreshSnapshot(state, now))) {
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

/** Chain families of the last success, unless it is stale, and the families about its polls. */
function familiesOf(
  state: EndpointState,
  isShown: boolean,
): readonly { readonly name: string; readonly lines: string }[] {
  const pollFamilies = endpointLines(state);
  return isShown && state.success !== undefined ? [...state.success.snapshot.families, ...pollFamilies] : pollFamilies;
}
