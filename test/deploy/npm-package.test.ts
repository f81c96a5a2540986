import { describe, expect, it } from 'vitest';
import { packageJson, projectPath, readProjectFile } from '../support/project-files.js';
import { runTool } from '../support/tools.js';

interface PackedFiles {
  readonly files: readonly { readonly path: string }[];
}

/** The files that `npm publish` uploads. `prepack` is omitted, because other tests use `dist` at the same time. */
function packedFiles(): string[] {
  const flags = ['--dry-run', '--json', '--ignore-scripts', '--loglevel=error'];
  const { status, output } = runTool('npm', ['pack', ...flags, projectPath('.')]);
  if (status !== 0) throw new Error(output);
  const [packed] = JSON.parse(output) as PackedFiles[];
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
    expect(['src', 'test', 'grafana/source', '.ci', '.github', 'node_modules'].filter(isPacked)).toEqual([]);
  });

  it('names the repository, the homepage and the issue tracker', () => {
    const repository = 'https://github.com/bridge-exporter/bridge-exporter';
    expect(packageJson).toMatchObject({
      repository: { type: 'git', url: `git+${repository}.git` },
      homepage: `${repository}#readme`,
      bugs: `${repository}/issues`,
      keywords: expect.arrayContaining(['prometheus-exporter', 'bridge']),
    });
  });
});
