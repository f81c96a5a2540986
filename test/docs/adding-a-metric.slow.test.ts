import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createModel } from '../../src/simulator/model.js';
import { valueIn } from '../support/exposition-text.js';
import { readProjectFile } from '../support/project-files.js';
import { codeBlocks, copyProject } from './project-copy.js';

/*
 * Follows the steps of contributing/adding-a-metric.md in a copy of the project.
 */
const page = readProjectFile('contributing/adding-a-metric.md');

const EDITED_FILE = 'src/metrics/bridge-families.ts';
/** The tests that check every metric, without the slow ones that start processes. */
const TESTS = [
  'docs/coverage',
  'exposition',
  'metrics/rules',
  'facts/property/absence',
  'facts/required-fields',
  'dashboards/references',
];

/** The first code block of the page in this language. */
const codeBlock = (language: string): string => codeBlocks(page, language)[0] ?? '';

describe('contributing/adding-a-metric.md', () => {
  it('adds a gauge by editing one file', { timeout: 180_000 }, async () => {
    const copy = copyProject();
    const before = readProjectFile(EDITED_FILE);
    expect(before.endsWith('\n});\n'), 'the file ends with the table of families').toBe(true);
    copy.write(EDITED_FILE, `${before.slice(0, -'});\n'.length)}${codeBlock('ts')}});\n`);
    await copy.run('npx', 'prettier', '--check', EDITED_FILE);

    expect(await copy.run('sh', '-ec', codeBlock('sh'))).toBe(codeBlock('text'));

    const { state } = createModel({
      seed: 1,
      scenario: 'backlog',
      startTime: 1_790_000_000,
      blockTimeMs: 2000,
    }).moduleState();
    copy.write('body.json', JSON.stringify({ state }));
    const maxTransactions = Math.max(...state.batches.map(({ transactions }) => transactions.length));
    const replayed = await copy.run('node', 'dist/main.js', 'replay', '--bridge', 'body.json');
    expect(maxTransactions).toBeGreaterThan(0);
    expect(valueIn(replayed, 'bridge_batch_max_transactions')).toBe(maxTransactions);
    rmSync(join(copy.path, 'body.json'));

    await copy.run('npm', 'run', 'generate');
    await copy.run('npx', 'vitest', 'run', '--project', 'fast', ...TESTS.map((name) => `test/${name}`), '-u');
    const documentedFiles = Array.from(page.matchAll(/^- `([^`]+)`: the /gm), ([, file = '']) => file);
    expect(documentedFiles).toHaveLength(4);
    expect(copy.changedFiles()).toEqual([EDITED_FILE, ...documentedFiles].toSorted());
  });
});
