import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { createView, toJson } from '../../src/pages/view.js';
import { shownOf, testLinks } from '../pages/sample-snapshots.js';
import { record } from '../problems/recording.js';
import { projectPath, readProjectFile } from '../support/project-files.js';
import { blocksOf } from './pages.js';

/*
 * The jq commands of the documentation print something from the JSON of the pages. They are read here, as far as they are used, because jq
 * prints null for a key that does not exist.
 */

/** What `/pending` has after 40 minutes of the golden scenario, and after an hour in which nothing moves. */
function samplePages(): readonly unknown[] {
  const { endpoints, verdicts, at } = record([{ minutes: 8 }, { minutes: 60, scenario: 'stuck' }], {
    sampleSeconds: 120,
  });
  const view = createView(shownOf(endpoints), verdicts, testLinks(), at, '');
  const stuck = JSON.stringify(toJson(view, { withItems: true }));
  return [readProjectFile('test/pages/golden/missed-cctxs-pending.json'), stuck].map((text): unknown =>
    JSON.parse(text),
  );
}

const COMMAND = /\bjq (?:-\w+ |--arg \w+ "\S+" )*'(?<expression>[^']+)'(?: pending\.json$|$)/;

const commands = blocksOf('sh')
  .flatMap(({ file, code }) => code.split('\n').map((line) => ({ file, line })))
  .filter(({ line }) => /\bjq .* pending\.json$/.test(line) || line.includes('10917/ | jq'))
  .map(({ file, line }) => ({ file, expression: COMMAND.exec(line)?.groups?.['expression'] ?? line }));

/** The values of an expression: paths, separated by commas, objects and `select` of what is equal, with pipes in between. */
function run(expression: string, input: readonly unknown[]): readonly unknown[] {
  return expression.split(' | ').reduce((values: readonly unknown[], step): readonly unknown[] => {
    const isFilter = /^(?:select\(|\{)/.test(step);
    const paths = isFilter ? step.replaceAll(/^(?:select\(|\{)| == \$\w+\)$|\}$|\w+: (?=\.)/g, '') : step;
    const found = paths.split(', ').flatMap((path) => follow(path.replace(/^(?=\w)/, '.'), values));
    return isFilter ? values : found;
  }, input);
}

function follow(path: string, input: readonly unknown[]): readonly unknown[] {
  return (path.match(/\w+|\[\d*\]\??/g) ?? []).reduce((values: readonly unknown[], step): readonly unknown[] => {
    if (step.startsWith('[')) return values.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : []));
    // Endpoints have the items of their documents.
    const having = values.filter((value) => typeof value === 'object' && value !== null && Object.hasOwn(value, step));
    if (values.length > 0 && having.length === 0) throw new Error(`${path}: there is no key ${step}`);
    return having.map((value) => (value as Record<string, unknown>)[step]);
  }, input);
}

describe('a jq command on the JSON of the pages', () => {
  let pages: readonly unknown[];
  beforeAll(() => {
    pages = samplePages();
  });

  it.each(commands)('in $file prints what exists: $expression', ({ expression }) => {
    expect(run(expression, pages)).not.toEqual([]);
  });

  it('that names an unknown key is noticed', () => {
    expect(commands.length).toBeGreaterThan(7);
    for (const expression of ['.targets[].blocking', '.targets[] | {target, blocking}']) {
      expect(() => run(expression, pages)).toThrow('there is no key blocking');
    }
  });
});

function keysWithin(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(Array.isArray(value) ? [] : [key]),
    ...keysWithin(inner),
  ]);
}

it('docs/pages.md names keys of the JSON that the pages have', () => {
  const text = readProjectFile('docs/pages.md');
  const section = text.slice(text.indexOf('## JSON'), text.indexOf('## Links'));
  const others = new Set(['firing', 'pending', 'null', 'q']);
  const paths = Array.from(section.matchAll(/`([a-z][\w.[\]]*)`/gi), ([, path = '']) => path);
  const named = paths.flatMap((path) => path.split(/[.[\]]+/)).filter((name) => name !== '' && !others.has(name));
  const golden = readdirSync(projectPath('test/pages/golden')).filter((name) => name.endsWith('.json'));
  const keys = new Set(golden.flatMap((name) => keysWithin(JSON.parse(readProjectFile(`test/pages/golden/${name}`)))));
  // Without a filter, there is no number of matches.
  expect(named.filter((name) => !keys.has(name))).toEqual(['found']);
  expect(named.length).toBeGreaterThan(10);
});
