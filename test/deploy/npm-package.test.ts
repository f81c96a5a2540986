import { describe, expect, it } from 'vitest';
import { packageJson, projectNames, projectPath, readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { runTool } from '../support/tools.js';

interface PackedFiles {
  readonly files: readonly { readonly path: string }[];
}

/** The files that `npm publish` uploads. */
function packedFiles(): string[] {
  const folder = createTempFolder().path;
  const bundle = runTool(process.execPath, [projectPath('packaging/bundle.mjs'), folder]);
  if (bundle.status !== 0) throw new Error(bundle.output);
  const { status, output } = runTool('npm', ['pack', '--dry-run', '--json', '--loglevel=error', folder]);
  if (status !== 0) throw new Error(output);
  const [packed] = JSON.parse(output.slice(output.indexOf('['), output.lastIndexOf(']') + 1)) as PackedFiles[];
  return packed?.files.map(({ path }) => path) ?? [];
}

const files = packedFiles();
const isPacked = (path: string): boolean => files.some((file) => file === path || file.startsWith(`${path}/`));

describe('the npm package', () => {
  it('contains every file that the README links to', () => {
    const links = Array.from(readProjectFile('README.md').matchAll(/\]\(([^()\s]+)\)/g), ([, link = '']) => link);
    const paths = links.filter((link) => !/^[a-z]+:|^#/.test(link)).map((link) => link.replace(/[#?].*/, ''));
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((path) => !isPacked(path))).toEqual([]);
  });

  it('contains the files that compose.yaml mounts', () => {
    const mounts = Array.from(readProjectFile('compose.yaml').matchAll(/- \.\/([^:\s]+):/g), ([, path = '']) => path);
    expect(mounts.length).toBeGreaterThan(4);
    expect(mounts.filter((path) => !isPacked(path))).toEqual([]);
  });

  it('contains the program and its revision, and neither sources nor tests', () => {
    expect(Object.values(packageJson.bin).filter((path) => !isPacked(path))).toEqual([]);
    expect(files).toContain('dist/revision');
    expect(files).toContain('THIRD-PARTY-LICENSES');
    expect(['src', 'test', 'grafana/source', 'packaging', '.ci', '.github', 'node_modules'].filter(isPacked)).toEqual(
      [],
    );
  });

  it('names the repository, the homepage and the issue tracker', () => {
    const repository = `https://github.com/${projectNames.repository}`;
    expect(packageJson).toMatchObject({
      repository: { type: 'git', url: `git+${repository}.git` },
      homepage: `${repository}#readme`,
      bugs: `${repository}/issues`,
      keywords: expect.arrayContaining(['prometheus-exporter', 'bridge']),
    });
  });
});

it('the package cannot be published without the bundle', () => {
  const { status, output } = runTool('npm', ['publish', '--dry-run', projectPath('.')]);
  expect(status).toBe(1);
  expect(output).toContain('Publish the bundle instead');
});
