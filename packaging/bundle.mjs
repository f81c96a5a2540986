// Builds the package that npm publishes and that the image, the archive and the Linux packages contain: the program and its
// dependencies in one file, and one file for each worker thread.
//   node packaging/bundle.mjs FOLDER [--program]
// --program omits documentation, examples and configuration.
import { build } from 'esbuild';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readRevision } from './revision.mjs';
import { billOfMaterials, bundledPackages, licenseTexts } from './licenses.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [folder, option] = process.argv.slice(2);
if (process.argv.length < 3) throw new Error('usage: node packaging/bundle.mjs FOLDER [--program]');
const dist = join(folder, 'dist');
mkdirSync(dist, { recursive: true });

const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Keys of package.json that only the repository needs. */
const internal = new Set(['scripts', 'dependencies', 'devDependencies', 'prettier', 'files']);
const published = Object.fromEntries(Object.entries(packageJson).filter(([key]) => !internal.has(key)));

const common = {
  absWorkingDir: root,
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: 'warning',
};
const { metafile } = await build({
  ...common,
  // Threads are started from the folder of the program.
  entryPoints: ['main', 'poll/decoder-worker', 'server/password-worker', 'recorder/recorder-worker'].map((name) => ({
    in: `src/${name}.ts`,
    out: name.replace(/.*\//, ''),
  })),
  outdir: dist,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  // Stack traces and the names of errors are readable.
  keepNames: true,
  legalComments: 'none',
  metafile: true,
  // For packages that are CommonJS modules and load modules of Node.js.
  banner: {
    js: "import { createRequire as createRequireOfBundle } from 'node:module';const require = createRequireOfBundle(import.meta.url);",
  },
});
await build({
  ...common,
  entryPoints: ['src/pages/browser/refresh.js'],
  outdir: join(dist, 'browser'),
  target: 'es2022',
});
chmodSync(join(dist, 'main.js'), 0o755);
writeFileSync(join(dist, 'revision'), `${readRevision()}\n`);

const others = option === '--program' ? [] : packageJson.files.filter((name) => name !== 'dist');
for (const file of others) {
  cpSync(join(root, file), join(folder, file), { recursive: true });
}
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
const packages = bundledPackages(root, metafile);
writeFileSync(join(folder, 'THIRD-PARTY-LICENSES'), licenseTexts(packages));
writeFileSync(join(folder, 'sbom.cdx.json'), billOfMaterials(published, packages));
