import { moduleStateDocument, rateLimiterInputDocument } from './documents.js';
import type { EndpointState, Instant } from './endpoint-state.js';
import type { FamilyHeader } from './metrics/family.js';
import { formatHeader, type Format } from './metrics/text-format.js';
import { endpointFamilies, endpointLines } from './self-metrics.js';
import type { Snapshots } from './snapshots.js';

/** Every family that endpoints can show, in the order of the exposition. */
export const families: readonly FamilyHeader[] = [
  ...moduleStateDocument.families,
  ...rateLimiterInputDocument.families,
  ...endpointFamilies,
];

/** Writes what all endpoints show, under one HELP and TYPE a family, once a change and not once a scrape. */
export function createExposition(snapshots: Snapshots): (format: Format, now: Instant) => string {
  const written = new Map<Format, { readonly version: number; readonly text: string }>();
  return (format, now) => {
    const version = snapshots.version(now);
    const known = written.get(format);
    if (known?.version === version) return known.text;
    const text = write(merged(snapshots, now), format);
    written.set(format, { version, text });
    return text;
  };
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
    .map((family) => {
      const own = lines.get(family.name) ?? '';
      return own === '' ? '' : formatHeader(family, format) + own;
    })
    .join('');
}
