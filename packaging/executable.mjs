// Builds the program and Node.js as a single executable.
//   node packaging/executable.mjs IMAGE FOLDER
// IMAGE is the root of an image with the version of Node.js that runs this script, for any architecture. The folder gets the executable and
// the license of Node.js.
import { inject } from 'postject';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buildProgram, root } from './program.mjs';

const [image, folder] = process.argv.slice(2);
if (process.argv.length < 4) throw new Error('usage: node packaging/executable.mjs IMAGE FOLDER');

const work = mkdtempSync(join(tmpdir(), 'executable-'));
await buildProgram(work, { forExecutable: true });

const assets = ['password-worker.js', 'revision', 'browser/refresh.js'].map((file) => join(work, file));
const blob = join(work, 'blob');
const settings = {
  main: join(work, 'main.js'),
  output: blob,
  disableExperimentalSEAWarning: true,
  // As in the first line of src/main.ts.
  execArgv: ['--max-semi-space-size=16', '--no-allocation-site-pretenuring', '--heap-growing-percent=60'],
  assets: Object.fromEntries([...assets, join(root, 'package.json')].map((file) => [basename(file), file])),
};
writeFileSync(join(work, 'settings.json'), JSON.stringify(settings));
execFileSync(process.execPath, ['--experimental-sea-config', join(work, 'settings.json')]);

mkdirSync(folder, { recursive: true });
const executable = join(folder, 'bridge-exporter');
copyFileSync(join(image, 'usr/local/bin/node'), executable);
copyFileSync(join(image, 'usr/local/LICENSE'), join(folder, 'LICENSE-NODE'));
// Node.js looks for a note of this name, when the fuse is set. https://nodejs.org/docs/latest-v24.x/api/single-executable-applications.html
await inject(executable, 'NODE_SEA_BLOB', readFileSync(blob), {
  sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
});
rmSync(work, { recursive: true });
