import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folders of the packages that the bundle contains, such as `node_modules/express`. */
function packageFolders({ inputs, outputs }) {
  // Inputs of which nothing is left in an output are not distributed.
  const used = Object.values(outputs).flatMap((output) =>
    Object.keys(output.inputs).filter((file) => output.inputs[file].bytesInOutput > 0),
  );
  const folders = used
    .filter((file) => file in inputs)
    .map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  return [...new Set(folders.filter((folder) => folder !== undefined))].toSorted();
}

export function bundledPackages(root, metafile) {
  return packageFolders(metafile).map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const files = readdirSync(join(root, folder)).filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file));
    const texts = files.toSorted().map((file) => readFileSync(join(root, folder, file), 'utf8').trim());
    return { name, version, license, texts };
  });
}

/** A bill of materials in the format of CycloneDX. `npm sbom` lists what can be installed, and not what the bundle contains. */
export function billOfMaterials({ name, version, license }, packages) {
  const component = (type, item) => ({
    type,
    name: item.name,
    version: item.version,
    purl: `pkg:npm/${item.name.replace('@', '%40')}@${item.version}`,
    licenses: [{ license: { id: item.license } }],
  });
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: component('application', { name, version, license }) },
    components: packages.map((item) => component('library', item)),
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}

/** Name, version, license and license texts of every bundled package. */
export function licenseTexts(packages) {
  const sections = packages.map(
    ({ name, version, license, texts }) => `${name} ${version} (${license})\n\n${texts.join('\n\n')}`,
  );
  return `bridge-exporter contains these packages, under the licenses below.\n\n${sections.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
