/**
 * `npm run mutants` makes faults in the code, one at a time, and prints how many of them the fast tests notice. It takes hours.
 *
 * It works on a copy of a commit. The file of `--list` keeps the faults with their results, and the folder beside it the copies. If the file
 * exists, the same faults are found again in the commit, and those that have a result for the commit are not repeated: this compares commits,
 * and continues after an interruption.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chooseFaults, faultsIn, findAgain, KINDS } from './faults.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** A fault can make a test endless. */
const LIMIT_MS = 1_200_000;

const { values: flags } = parseArgs({
  options: {
    list: { type: 'string', default: join(tmpdir(), 'mutants.json') },
    commit: { type: 'string', default: 'HEAD' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '60' },
    folders: { type: 'string', default: 'facts,metrics,flow,problems,engine,http' },
  },
});
const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

const commit = git('rev-parse', `${flags.commit}^{commit}`).slice(0, 10);
const folder = join(flags.list.replace(/\.json$/, ''), commit);
const tree = join(folder, 'tree');

let running;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    stopTests();
    process.exit(1);
  });
}

copyCommit();
const { mutants, sites } = findMutants();
const unreliable = (await runTests()).failed;
if (unreliable.length > 0) console.error(`Left out, because they fail without a fault: ${unreliable.join(', ')}`);
for (const [id, { results }] of mutants.entries()) {
  results[commit] ??= await judge(sites[id]);
  writeFileSync(flags.list, JSON.stringify(mutants, undefined, 2));
  console.error(`${id + 1} of ${mutants.length}: ${Object.values(results[commit]).join(', ')}`);
}
printReport();

function copyCommit() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  git('clone', '--quiet', '--shared', '--no-checkout', ROOT, tree);
  git('-C', tree, 'checkout', '--quiet', '--detach', commit);
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: tree, stdio: 'inherit' });
}

/** The faults of the list, or new ones, and where they are in this commit. */
function findMutants() {
  const files = readdirSync(join(tree, 'src'), { recursive: true, encoding: 'utf8' });
  const faults = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => faultsIn(`src/${file}`, readFileSync(join(tree, 'src', file), 'utf8')));
  if (existsSync(flags.list)) {
    const known = readJson(flags.list);
    return { mutants: known, sites: findAgain(known, faults) };
  }
  const { seed, count, folders } = flags;
  const chosen = chooseFaults(faults, { seed, count: Number(count), folders: folders.split(',') });
  return { mutants: chosen.map((fault) => ({ ...fault, results: {} })), sites: chosen };
}

/** The tests of the folder of the fault are the first, because most faults are noticed there. */
async function judge(site) {
  if (site === undefined) return { outcome: 'removed' };
  const { file, line, start, end, mutated } = site;
  const source = readFileSync(join(tree, file), 'utf8');
  replaceSource(file, source.slice(0, start) + mutated + source.slice(end));
  try {
    const failure = (await failureIn(file.split('/', 2).join('/').replace('src', 'test'))) ?? (await failureIn());
    return { outcome: failure === undefined ? 'unnoticed' : 'noticed', place: `${file}:${line}`, by: failure };
  } finally {
    replaceSource(file, source);
  }
}

function replaceSource(file, source) {
  writeFileSync(join(tree, file), source);
  // Reports errors, because a fault hides from the compiler what a condition excludes, but writes the files.
  spawnSync('npx', ['tsc'], { cwd: tree });
}

/** The first test that fails twice in a row: one that fails now and then notices nothing. */
async function failureIn(...paths) {
  const leftOut = [...unreliable];
  for (;;) {
    const first = await runTests([...paths, '--bail=1'], leftOut);
    if (first.isPassed) return undefined;
    if (first.failed.length === 0) return first.failure;
    const second = await runTests(first.failed);
    if (!second.isPassed) return second.failure;
    leftOut.push(...first.failed);
  }
}

async function runTests(args = [], leftOut = []) {
  const reportFile = join(folder, 'report.json');
  rmSync(reportFile, { force: true });
  const options = ['--project=fast', '--reporter=json', `--outputFile=${reportFile}`];
  const excluded = leftOut.map((file) => `--exclude=${file}`);
  running = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...options, ...excluded, ...args], {
    cwd: tree,
    stdio: 'ignore',
    detached: true,
  });
  const timer = setTimeout(stopTests, LIMIT_MS);
  const [code] = await once(running, 'exit');
  clearTimeout(timer);
  stopTests();
  if (!existsSync(reportFile)) return { isPassed: false, failed: [], failure: `no end within ${LIMIT_MS / 1000} s` };
  const failed = readJson(reportFile)
    .testResults.filter(({ status }) => status === 'failed')
    .map((result) => ({ ...result, file: relative(tree, result.name) }));
  const test = failed[0]?.assertionResults.find(({ status }) => status === 'failed');
  return {
    isPassed: code === 0,
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
    const notes = [result.outcome, ...elsewhere].join('; ');
    console.log(`- ${file}:${line}, ${kind}: \`${change.replaceAll(/\s+/g, ' ')}\` (${notes})`);
  }
  console.log('\nFound again in code that differs:\n');
  for (const [id, { file, line, text }] of mutants.entries()) {
    const site = sites[id];
    if (site === undefined || (site.file === file && site.text === text)) continue;
    console.log(`- ${file}:${line} \`${text}\` is ${site.file}:${site.line} \`${site.text}\``);
  }
}
