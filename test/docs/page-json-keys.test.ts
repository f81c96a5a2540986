import { describe, expect, it } from 'vitest';
import { readProjectFile } from '../support/project-files.js';

const GOLDEN_PAGES = ['missed-cctxs-pending', 'missed-cctxs-status', 'unsigned-batch-pending', 'unsigned-batch-status'];

function keysWithin(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(Array.isArray(value) ? [] : [key]),
    ...keysWithin(inner),
  ]);
}

describe('docs/pages.md', () => {
  it('names keys of the JSON that the pages have', () => {
    const text = readProjectFile('docs/pages.md');
    const section = text.slice(text.indexOf('## JSON'), text.indexOf('## Links'));
    const others = new Set(['firing', 'pending', 'null', 'q']);
    const paths = Array.from(section.matchAll(/`([a-z][\w.[\]]*)`/gi), ([, path = '']) => path);
    const inQueries = Array.from(
      section.matchAll(/jq '([^']*)'/g),
      ([, query = '']) => query.match(/(?<=\.)\w+/g) ?? [],
    );
    const named = [...paths.flatMap((path) => path.split(/[.[\]]+/)), ...inQueries.flat()].filter(
      (name) => name !== '' && !others.has(name),
    );
    const keys = new Set(
      GOLDEN_PAGES.flatMap((name) => keysWithin(JSON.parse(readProjectFile(`test/pages/golden/${name}.json`)))),
    );
    // Without a filter, there is no number of matches.
    expect(named.filter((name) => !keys.has(name))).toEqual(['found']);
    expect(named.length).toBeGreaterThan(10);
  });
});
