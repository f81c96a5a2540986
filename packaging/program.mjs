// The program with its dependencies: main.js, and what a command loads when it runs.
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

/** Writes the files of the program to a folder, and returns the metafile of esbuild. */
export async function buildProgram(folder) {
  const { metafile } = await build({
    ...common,
    // The thread is started from the folder of the program.
    entryPoints: ['main', 'server/password-worker'].map((name) => ({
      in: `src/${name}.ts`,
      out: name.replace(/.*\//, ''),
    })),
    outdir: folder,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    // A command loads only what it needs: one file takes the health check, which runs every 30 s, twice the CPU time.
    splitting: true,
    chunkNames: '[name]-[hash]',
    // For packages that are CommonJS modules and load modules of Node.js.
    banner: {
      js: "import { createRequire as createRequireOfBundle } from 'node:module';const require = createRequireOfBundle(import.meta.url);",
    },
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
