// The program with its dependencies: main.js, and what a command loads when it runs. The executable has one file, and one for the worker thread.
import { build } from 'esbuild';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readRevision } from './revision.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));

const common = {
  absWorkingDir: root,
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: 'warning',
};

const MODULE = {
  format: 'esm',
  // A command loads only what it needs: one file takes the health check, which runs every 30 s, twice the CPU time.
  splitting: true,
  chunkNames: '[name]-[hash]',
  // For packages that are CommonJS modules and load modules of Node.js.
  banner: {
    js: "import { createRequire as createRequireOfBundle } from 'node:module';const require = createRequireOfBundle(import.meta.url);",
  },
};

/** For a single executable, whose main file is a CommonJS module. Files are searched for as in the folder of the executable. */
const COMMON_JS = {
  format: 'cjs',
  define: { 'import.meta.url': 'PROGRAM_URL' },
  banner: {
    js: "const PROGRAM_URL = require('node:url').pathToFileURL(require('node:path').join(process.execPath, '../dist/main.js')).href;",
  },
};

/** Writes the files of the program to a folder, and returns the metafile of esbuild. */
export async function buildProgram(folder, { forExecutable = false } = {}) {
  const { metafile } = await build({
    ...common,
    ...(forExecutable ? COMMON_JS : MODULE),
    // The thread is started from the folder of the program.
    entryPoints: ['main', 'server/password-worker'].map((name) => ({
      in: `src/${name}.ts`,
      out: name.replace(/.*\//, ''),
    })),
    outdir: folder,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    // Stack traces and the names of errors are readable.
    keepNames: true,
    legalComments: 'none',
    metafile: true,
  });
  await build({
    ...common,
    entryPoints: ['src/pages/browser/refresh.js'],
    outdir: join(folder, 'browser'),
    target: 'es2022',
  });
  writeFileSync(join(folder, 'revision'), `${readRevision()}\n`);
  return metafile;
}
