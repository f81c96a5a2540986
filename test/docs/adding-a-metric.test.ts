import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { createModel } from '../../src/simulator/model.js';
import { valueIn } from '../support/exposition-text.js';

/*
 * Follows docs/adding-a-metric.md in a copy of the project: what it says to write, run and expect.
 */
const project = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(project, 'docs/adding-a-metric.md'), 'utf8');
const copy = mkdtempSync(join(tmpdir(), 'adding-a-metric-'));

const HAND_WRITTEN = 'src/metrics/bridge/lengths.ts';
/** The tests that look at every metric, the slow ones of real processes aside. */
const TESTS = [
  'reference',
  'coverage',
  'exposition',
  'metrics/rules',
  'metrics/property/exact',
  'dashboards/references',
];

function block(language: string): string {
  const [, text] = new RegExp(`\\n\`\`\`${language}\\n([^]*?)\`\`\`\\n`).exec(page) ?? [];
  if (text === undefined) throw new Error(`the page has no block of ${language}`);
  return text;
}

/** Runs a program in the copy and gives what it prints; rejects when it fails. */
async function run(command: string, ...args: readonly string[]): Promise<string> {
  // A vitest inside a vitest must not take itself for a worker of the outer one.
  const own = /^(?:VITEST|NODE_ENV$|TEST$|DEV$|PROD$|MODE$|SSR$|BASE_URL$)/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
  const { stdout } = await promisify(execFile)(command, args, { cwd: copy, env });
  return stdout;
}

const isCopied = (path: string): boolean => !/^(?:node_modules|dist|\.git)(?:\/|$)/.test(relative(project, path));

/** Files of the copy that are not as in the project. */
function changedFiles(): string[] {
  const changed = readdirSync(copy, { recursive: true, encoding: 'utf8' })
    .filter((file) => isCopied(join(project, file)) && statSync(join(copy, file)).isFile())
    .filter((file) => readFileSync(join(copy, file), 'utf8') !== textOf(file));
  return changed.toSorted();
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(join(project, file), 'utf8');
  } catch {
    return undefined;
  }
}

afterAll(() => rmSync(copy, { recursive: true }));

it('a gauge is one edit of one file', { timeout: 180_000 }, async () => {
  cpSync(project, copy, { recursive: true, filter: isCopied });
  symlinkSync(join(project, 'node_modules'), join(copy, 'node_modules'));
  const family = join(copy, HAND_WRITTEN);
  const before = readFileSync(family, 'utf8');
  expect(before.endsWith('\n];\n'), 'the list of families is the end of the file').toBe(true);
  writeFileSync(family, `${before.slice(0, -'];\n'.length)}${block('ts')}];\n`);
  await run('npx', 'prettier', '--check', HAND_WRITTEN);

  expect(await run('sh', '-ec', block('sh'))).toBe(block('text'));

  const { state } = createModel({
    seed: 1,
    scenario: 'backlog',
    startTime: 1_790_000_000,
    blockTimeMs: 2000,
  }).moduleState();
  writeFileSync(join(copy, 'body.json'), JSON.stringify({ state }));
  const most = Math.max(...state.batches.map(({ transactions }) => transactions.length));
  const replayed = await run('node', 'dist/main.js', 'replay', '--bridge', 'body.json');
  expect(most).toBeGreaterThan(0);
  expect(valueIn(replayed, 'bridge_batch_max_transactions')).toBe(most);
  rmSync(join(copy, 'body.json'));

  await run('npx', 'vitest', 'run', ...TESTS.map((name) => `test/${name}`), '-u');
  const listed = Array.from(page.matchAll(/^- `([^`]+)`: the /gm), ([, file = '']) => file);
  expect(listed).toHaveLength(3);
  expect(changedFiles()).toEqual([HAND_WRITTEN, ...listed].toSorted());
});
