import { execFile } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createModel } from '../../src/simulator/model.js';
import { valueIn } from '../support/exposition-text.js';
import { projectPath, readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';

/*
 * Follows the steps of docs/adding-a-metric.md in a copy of the project.
 */
const project = projectPath('.');
const page = readProjectFile('docs/adding-a-metric.md');
const copy = createTempFolder();

const EDITED_FILE = 'src/metrics/bridge/numbers.ts';
/** The tests that check every metric, without the slow ones that start processes. */
const TESTS = [
  'docs/metric-reference',
  'docs/coverage',
  'exposition',
  'metrics/rules',
  'metrics/property/exact',
  'dashboards/references',
];

/** The first code block of the page in this language. */
function codeBlock(language: string): string {
  const [, text] = new RegExp(`\\n\`\`\`${language}\\n([^]*?)\`\`\`\\n`).exec(page) ?? [];
  if (text === undefined) throw new Error(`the page has no block of ${language}`);
  return text;
}

/** Runs a program in the copy and returns its output. Rejects when it fails. */
async function run(command: string, ...args: readonly string[]): Promise<string> {
  // With these variables, the inner vitest would behave like a worker of the outer one.
  const ofVitest = /^(?:VITEST|NODE_ENV$|TEST$|DEV$|PROD$|MODE$|SSR$|BASE_URL$)/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofVitest.test(name)));
  const { stdout } = await promisify(execFile)(command, args, { cwd: copy.path, env });
  return stdout;
}

const isCopied = (path: string): boolean => !/^(?:node_modules|dist|\.git|\.ci)(?:\/|$)/.test(relative(project, path));

/** The files of the copy that differ from the project. */
function changedFiles(): string[] {
  const changed = readdirSync(copy.path, { recursive: true, encoding: 'utf8' })
    .filter((file) => isCopied(join(project, file)) && statSync(join(copy.path, file)).isFile())
    .filter((file) => readFileSync(join(copy.path, file), 'utf8') !== contentOf(file));
  return changed.toSorted();
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(join(project, file), 'utf8');
  } catch {
    return undefined;
  }
}

describe('docs/adding-a-metric.md', () => {
  it('adds a gauge by editing one file', { timeout: 180_000 }, async () => {
    cpSync(project, copy.path, { recursive: true, filter: isCopied });
    symlinkSync(join(project, 'node_modules'), join(copy.path, 'node_modules'));
    const before = readProjectFile(EDITED_FILE);
    expect(before.endsWith('\n];\n'), 'the file ends with the list of families').toBe(true);
    copy.write(EDITED_FILE, `${before.slice(0, -'];\n'.length)}${codeBlock('ts')}];\n`);
    await run('npx', 'prettier', '--check', EDITED_FILE);

    expect(await run('sh', '-ec', codeBlock('sh'))).toBe(codeBlock('text'));

    const { state } = createModel({
      seed: 1,
      scenario: 'backlog',
      startTime: 1_790_000_000,
      blockTimeMs: 2000,
    }).moduleState();
    copy.write('body.json', JSON.stringify({ state }));
    const maxTransactions = Math.max(...state.batches.map(({ transactions }) => transactions.length));
    const replayed = await run('node', 'dist/main.js', 'replay', '--bridge', 'body.json');
    expect(maxTransactions).toBeGreaterThan(0);
    expect(valueIn(replayed, 'bridge_batch_max_transactions')).toBe(maxTransactions);
    rmSync(join(copy.path, 'body.json'));

    await run('npx', 'vitest', 'run', '--project', 'fast', ...TESTS.map((name) => `test/${name}`), '-u');
    const documentedFiles = Array.from(page.matchAll(/^- `([^`]+)`: the /gm), ([, file = '']) => file);
    expect(documentedFiles).toHaveLength(3);
    expect(changedFiles()).toEqual([EDITED_FILE, ...documentedFiles].toSorted());
  });
});
