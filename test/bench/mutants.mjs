/**
 * `npm run mutants` makes faults in the code, one at a time, and prints how many of them the fast tests notice. It takes hours.
 *
 * It works on a copy of a commit, in which all faults are compiled in and the environment variable MUTANT selects one. The file of `--list`
 * keeps the faults with their results, and the folder beside it the copies. If the file exists, the same faults are found again in the
 * commit, and those that have a result for the commit are not repeated: this compares commits, and continues after an interruption.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chooseFaults, faultsIn, findAgain, KINDS, withFaults } from './faults.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The longest durations in milliseconds of test files in each stage: those in the folder of the fault, and others. Stages end when a test fails. */
const STAGES = [
  [3000, 300],
  [30_000, 3000],
  [Infinity, 20_000],
  [Infinity, Infinity],
];

const VITEST_CONFIG = `
import config from './vitest.config';
// With isolation, each test file loads the modules, so that code at the top level is recorded for all of them.
const isolate = process.env.MUTANT === 'record';
export default { ...config, test: { ...config.test, isolate, setupFiles: ['./mutants.setup.ts'] } };
`;
/** Processes that a test starts inherit the variable. */
const VITEST_SETUP = `
import { relative } from 'node:path';
import { expect } from 'vitest';
process.env.MUTANT_TEST = relative(import.meta.dirname, expect.getState().testPath);
`;

const { values: flags } = parseArgs({
  options: {
    list: { type: 'string', default: join(tmpdir(), 'mutants.json') },
    commit: { type: 'string', default: 'HEAD' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '60' },
    folders: { type: 'string', default: 'facts,metrics,flow,problems,poll,http' },
  },
});
const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
const writeJson = (file, value) => writeFileSync(file, JSON.stringify(value, undefined, 2));

const commit = git('rev-parse', `${flags.commit}^{commit}`).slice(0, 10);
const folder = join(flags.list.replace(/\.json$/, ''), commit);
const tree = join(folder, 'tree');
const recordFolder = join(folder, 'record');
const durationsFile = join(folder, 'durations.json');

let running;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    stopTests();
    process.exit(1);
  });
}

const isPrepared = existsSync(flags.list) && existsSync(durationsFile);
if (!isPrepared) copyCommit();
const { mutants, sites } = findMutants();
writeJson(flags.list, mutants);
if (!isPrepared) await recordTests();
const durations = readJson(durationsFile);
const records = readdirSync(recordFolder);
for (const [id, { results }] of mutants.entries()) {
  results[commit] ??= await judge(id);
  writeJson(flags.list, mutants);
  console.error(`${id + 1} of ${mutants.length}: ${Object.values(results[commit]).join(', ')}`);
}
printReport();

function copyCommit() {
  rmSync(folder, { recursive: true, force: true });
  git('clone', '--quiet', '--shared', '--no-checkout', ROOT, tree);
  git('-C', tree, 'checkout', '--quiet', '--detach', commit);
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: tree, stdio: 'inherit' });
  // Without the faults, to find them again.
  cpSync(join(tree, 'src'), join(folder, 'src'), { recursive: true });
}

/** The faults of the list, or new ones, and where they are in this commit. */
function findMutants() {
  const files = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' });
  const faults = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => faultsIn(`src/${file}`, readFileSync(join(folder, 'src', file), 'utf8')));
  if (existsSync(flags.list)) {
    const known = readJson(flags.list);
    return { mutants: known, sites: findAgain(known, faults) };
  }
  const { seed, count, folders } = flags;
  const chosen = chooseFaults(faults, { seed, count: Number(count), folders: folders.split(',') });
  return { mutants: chosen.map((fault) => ({ ...fault, results: {} })), sites: chosen };
}

/** Compiles the faults in, and records which test files reach them, and the durations of those that pass without a fault. */
async function recordTests() {
  const inTree = sites.flatMap((site, id) => (site === undefined ? [] : [{ ...site, id }]));
  for (const file of new Set(inTree.map((site) => site.file))) {
    const source = readFileSync(join(folder, file), 'utf8');
    const ofFile = inTree.filter((site) => site.file === file);
    writeFileSync(join(tree, file), withFaults(source, ofFile));
  }
  // Reports errors, because a fault hides from the compiler what a condition excludes, but writes the files.
  spawnSync('npx', ['tsc'], { cwd: tree });
  writeFileSync(join(tree, 'mutants.config.ts'), VITEST_CONFIG);
  writeFileSync(join(tree, 'mutants.setup.ts'), VITEST_SETUP);
  mkdirSync(recordFolder);
  const { files, failed } = await runTests([], { MUTANT: 'record', MUTANT_RECORD: recordFolder });
  const failedAgain = failed.length === 0 ? [] : (await runTests(failed)).failed;
  if (failedAgain.length > 0) console.error(`Left out, because they fail without a fault: ${failedAgain.join(', ')}`);
  writeJson(durationsFile, Object.fromEntries(files.filter(([file]) => !failedAgain.includes(file))));
}

async function judge(id) {
  const site = sites[id];
  if (site === undefined) return { outcome: 'removed' };
  const place = `${site.file}:${site.line}`;
  const reaching = records
    .filter((record) => record.startsWith(`${id}@`))
    .map((record) => decodeURIComponent(record.slice(`${id}@`.length)))
    .filter((file) => durations[file] !== undefined);
  const ownTests = site.file.split('/', 2).join('/').replace('src', 'test');
  const stageOf = (file) =>
    STAGES.findIndex(([ownMs, otherMs]) => durations[file] <= (file.startsWith(`${ownTests}/`) ? ownMs : otherMs));
  for (const stage of STAGES.keys()) {
    let files = reaching.filter((file) => stageOf(file) === stage);
    while (files.length > 0) {
      const limitMs = 120_000 + files.reduce((sum, file) => sum + durations[file], 0);
      const run = async (some) => runTests([...some, '--bail=1'], { MUTANT: String(id) }, limitMs);
      const first = await run(files);
      if (first.isPassed) break;
      const failed = first.failed.length === 0 ? files : first.failed;
      const second = await run(failed);
      if (!second.isPassed) return { outcome: 'noticed', place, by: second.failure };
      // A test that fails now and then notices nothing, but has ended the stage.
      files = files.filter((file) => !failed.includes(file));
    }
  }
  return {
    outcome: 'unnoticed',
    place,
    by: `test files that reach it: ${reaching.length}`,
  };
}

/** Runs test files with these arguments of vitest. `files` has their durations in milliseconds. */
async function runTests(args, environment = {}, limitMs = 7_200_000) {
  const reportFile = join(folder, 'report.json');
  rmSync(reportFile, { force: true });
  const options = ['--config=mutants.config.ts', '--project=fast', '--reporter=json', `--outputFile=${reportFile}`];
  running = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...options, ...args], {
    cwd: tree,
    env: { ...process.env, ...environment },
    stdio: 'ignore',
    detached: true,
  });
  const timer = setTimeout(stopTests, limitMs);
  const [code] = await once(running, 'exit');
  clearTimeout(timer);
  stopTests();
  if (!existsSync(reportFile)) return { isPassed: false, failed: [], failure: `no end within ${limitMs / 1000} s` };
  const results = readJson(reportFile).testResults.map((result) => ({ ...result, file: relative(tree, result.name) }));
  const failed = results.filter(({ status }) => status === 'failed');
  const test = failed[0]?.assertionResults.find(({ status }) => status === 'failed');
  return {
    isPassed: code === 0,
    files: results.map(({ file, startTime, endTime }) => [file, Math.round(endTime - startTime)]),
    failed: failed.map(({ file }) => file),
    failure: failed.length === 0 ? 'unhandled error' : `${failed[0].file}: ${test?.fullName ?? 'the file fails'}`,
  };
}

/** Ends the tests and the processes that they have left. */
function stopTests() {
  try {
    process.kill(-running.pid, 'SIGKILL');
  } catch {
    // There are none.
  }
}

function printReport() {
  const rows = [['', ...KINDS, 'made', 'noticed', 'unnoticed', 'code removed']];
  rows.push(rows[0].map(() => '---'));
  const folderOf = ({ file }) => file.split('/', 2).join('/');
  for (const name of [...new Set(mutants.map(folderOf)), 'all']) {
    const some = mutants.filter((mutant) => name === 'all' || folderOf(mutant) === name);
    const count = (outcome, kinds = KINDS) =>
      some.filter((mutant) => mutant.results[commit].outcome === outcome && kinds.includes(mutant.kind)).length;
    const ofKind = (kind) => `${count('noticed', [kind])} of ${count('noticed', [kind]) + count('unnoticed', [kind])}`;
    rows.push([name, ...KINDS.map(ofKind), some.length, count('noticed'), count('unnoticed'), count('removed')]);
  }
  console.log(`Faults that the tests of ${commit} notice:\n`);
  for (const cells of rows) console.log(`| ${cells.join(' | ')} |`);
  console.log('\nNot noticed:\n');
  for (const [id, mutant] of mutants.entries()) {
    const { [commit]: result, ...others } = mutant.results;
    if (result.outcome === 'noticed') continue;
    const { file, line, kind, original, mutated } = sites[id] ?? mutant;
    const change = kind === 'dropped statement' ? original : `${original} → ${mutated}`;
    const elsewhere = Object.entries(others).map(([other, { outcome }]) => `${outcome} at ${other}`);
    const notes = [result.by ?? 'code removed', ...elsewhere].join('; ');
    console.log(`- ${file}:${line}, ${kind}: \`${change.replaceAll(/\s+/g, ' ')}\` (${notes})`);
  }
  console.log('\nFound again in code that differs:\n');
  for (const [id, { file, line, text }] of mutants.entries()) {
    const site = sites[id];
    if (site === undefined || (site.file === file && site.text === text)) continue;
    console.log(`- ${file}:${line} \`${text}\` is ${site.file}:${site.line} \`${site.text}\``);
  }
}
