// Writes the files that are generated from the source, and prints those that it changes: npm run generate
import { build } from 'esbuild';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './program.mjs';

process.chdir(root);
process.env.PATH = [join(root, '.ci/bin'), process.env.PATH].join(delimiter);

const outfile = join(root, 'dist/generate.mjs');
await build({
  absWorkingDir: root,
  entryPoints: ['packaging/generate/files.ts'],
  outfile,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  logLevel: 'warning',
});
const { generatedFiles } = await import(pathToFileURL(outfile).href);

await Promise.all(
  Object.entries(generatedFiles).map(async ([file, generate]) => {
    const text = await generate();
    if (text === undefined) {
      console.error(`${file}: not generated, because its program is not installed (.ci/install-tools)`);
    } else if (!existsSync(file) || text !== readFileSync(file, 'utf8')) {
      writeFileSync(file, text);
      console.log(file);
    }
  }),
);
