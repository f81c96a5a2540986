import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createView, toJson } from '../../src/pages/view.js';
import { shownOf, testLinks } from '../pages/sample-snapshots.js';
import { record } from '../problems/recording.js';
import { projectPath, readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { describeIf, hasTool, runTool } from '../support/tools.js';
import { blocksOf } from './pages.js';

/* The jq commands of the documentation print something from the JSON of the pages, of keys that exist. */

/** What `/pending` has after 40 minutes of the golden scenario, and after an hour in which nothing moves. */
function samplePages(): readonly string[] {
  const { endpoints, problems, at } = record([{ minutes: 8 }, { minutes: 60, scenario: 'stuck' }], {
    sampleSeconds: 120,
  });
  const view = createView(shownOf(endpoints), problems, testLinks(), at, '');
  const stuck = JSON.stringify(toJson(view, { withItems: true }));
  // For a key that does not exist, jq prints null.
  return [readProjectFile('test/pages/golden/missed-cctxs-pending.json'), stuck].map((text) =>
    JSON.stringify(JSON.parse(text, (_key, value: unknown) => value ?? 'no value')),
  );
}

const commands = blocksOf('sh')
  .flatMap(({ file, code }) => code.split('\n').map((command) => ({ file, command })))
  .filter(({ command }) => /\bjq .* pending\.json$|10917\/ \| jq/.test(command));

describeIf(hasTool('jq'), 'a jq command on the JSON of the pages', () => {
  const folder = createTempFolder();
  const files = samplePages().map((text, index) => folder.write(`${index}.json`, text));

  const print = (command: string): string => {
    const [jq] = /(?<=\bjq ).*'/.exec(command) ?? [];
    return files.map((file) => runTool('sh', ['-c', `CHAIN=56\njq -c ${jq} ${file}`]).output).join('');
  };

  it.each(commands)('in $file prints what exists: $command', ({ command }) => {
    // Some rows leave a key out.
    expect(print(command)).toMatch(/^(?!.*\bnull\b|jq: ).+$/m);
  });

  it('that names an unknown key is noticed', () => {
    expect(commands.length).toBeGreaterThan(7);
    expect(print("jq '.targets[] | {target, blocking}' pending.json")).not.toMatch(/^(?!.*\bnull\b).+$/m);
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
