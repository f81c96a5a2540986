// Builds the package that npm publishes and that the image, the archive and the Linux packages contain.
//   node packaging/bundle.mjs FOLDER [--program]
// --program omits documentation, examples and configuration.
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { billOfMaterials, bundledPackages, licenseTexts } from './licenses.mjs';
import { buildProgram, root } from './program.mjs';

const [folder, option] = process.argv.slice(2);
if (process.argv.length < 3) throw new Error('usage: node packaging/bundle.mjs FOLDER [--program]');
const dist = join(folder, 'dist');
mkdirSync(dist, { recursive: true });

const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Keys of package.json that only the repository needs. */
const internal = new Set(['scripts', 'dependencies', 'devDependencies', 'prettier', 'files']);
const published = Object.fromEntries(Object.entries(packageJson).filter(([key]) => !internal.has(key)));

const metafile = await buildProgram(dist);
chmodSync(join(dist, 'main.js'), 0o755);

const others = option === '--program' ? [] : packageJson.files.filter((name) => name !== 'dist');
for (const file of others) {
  cpSync(join(root, file), join(folder, file), { recursive: true });
}
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
const packages = bundledPackages(root, metafile);
writeFileSync(join(folder, 'THIRD-PARTY-LICENSES'), licenseTexts(packages));
writeFileSync(join(folder, 'sbom.cdx.json'), billOfMaterials(published, packages));
