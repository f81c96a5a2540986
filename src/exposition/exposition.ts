import { moduleStateDocument, rateLimiterInputDocument } from '../documents.js';
import type { Instant } from '../poll/clock.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import type { FamilyHeader } from '../metrics/family.js';
import { formatHeader, type Format } from '../metrics/text-format.js';
import { endpointFamilies, endpointLines } from './endpoint-metrics.js';
import type { Snapshots } from '../poll/snapshots.js';

/** Every family that endpoints can show, in the order of the exposition. */
export const families: readonly FamilyHeader[] = [
  ...moduleStateDocument.families,
  ...rateLimiterInputDocument.families,
  ...endpointFamilies,
];

const headers: Readonly<Record<Format, readonly string[]>> = {
  text: families.map((family) => formatHeader(family, 'text')),
  openmetrics: families.map((family) => formatHeader(family, 'openmetrics')),
};

/** What all endpoints show, under one HELP and TYPE a family. */
export function renderExposition(snapshots: Snapshots, format: Format, now: Instant): string {
  return write(merged(snapshots, now), format);
}

function merged(snapshots: Snapshots, now: Instant): ReadonlyMap<string, string> {
  const lines = new Map<string, string>();
  for (const state of snapshots.all()) {
    for (const family of linesOf(state, snapshots.isShown(state, now))) {
      lines.set(family.name, (lines.get(family.name) ?? '') + family.lines);
    }
  }
  return lines;
}

function linesOf(state: EndpointState, isShown: boolean): readonly { readonly name: string; readonly lines: string }[] {
  const own = endpointLines(state);
  return isShown && state.success !== undefined ? [...state.success.snapshot.families, ...own] : own;
}

function write(lines: ReadonlyMap<string, string>, format: Format): string {
  return families
    .map(({ name }, index) => {
      const own = lines.get(name) ?? '';
      return own === '' ? '' : headers[format][index] + own;
    })
    .join('');
}
