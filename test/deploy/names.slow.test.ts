import { cpSync } from 'node:fs';
import { expect, it } from 'vitest';
import { projectNames, projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { runTool } from '../support/tools.js';

const OTHER = {
  repository: 'acme/token-monitor',
  image: 'registry.acme.example/tools/token-monitor',
  charts: 'registry.acme.example/helm',
  npmPackage: '@acme/token-monitor',
};

const trackedFiles = (): string[] => {
  const { status, output } = runTool('git', [
    '-C',
    projectPath('.'),
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
  ]);
  expect(status).toBe(0);
  return output.trim().split('\n');
};

/** A copy of the project in a repository whose index has what the project has. */
function createCopy() {
  const { path, write } = createTempFolder();
  for (const file of trackedFiles()) {
    try {
      cpSync(projectPath(file), `${path}/${file}`, { verbatimSymlinks: true });
    } catch (error) {
      // Deleted and not committed yet.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  const git = (...args: readonly string[]): string => runTool('git', ['-C', path, ...args]).output.trim();
  git('init', '--quiet');
  git('add', '--all');
  return {
    apply: (names: unknown): void => {
      write('names.json', JSON.stringify(names));
      expect(runTool(process.execPath, [`${path}/.ci/apply-names`])).toEqual({ status: 0, output: '' });
    },
    oldNames: () => git('grep', '--line-number', '--extended-regexp', OLD_NAMES),
    changedFiles: () =>
      git('diff', '--name-only')
        .split('\n')
        .filter((file) => file !== '' && file !== 'names.json' && file !== 'test/deploy/names.slow.test.ts'),
  };
}

const escape = (text: string): string => text.replaceAll('.', '\\.');
const OLD_NAMES = [
  `github\\.com/${escape(projectNames.repository)}`,
  escape(projectNames.image),
  escape(projectNames.charts),
  `registry: ${escape(projectNames.image.replace(/\/.*/, ''))}`,
  `npx ${projectNames.npmPackage}`,
  `npm install (-g|--global) ${projectNames.npmPackage}`,
].join('|');

it('names.json contains the names that all other files have, and is enough to change them', () => {
  const { apply, oldNames, changedFiles } = createCopy();
  apply(OTHER);
  expect(oldNames()).toBe('');
  expect(changedFiles()).toEqual(
    expect.arrayContaining([
      '.github/workflows/release.yml',
      'README.md',
      'compose.yaml',
      'deploy/helm/bridge-exporter/Chart.yaml',
      'deploy/helm/bridge-exporter/values.yaml',
      'package-lock.json',
      'package.json',
      'prometheus/alerts.yml',
      'src/config/config.ts',
    ]),
  );
  apply(projectNames);
  expect(changedFiles()).toEqual([]);
});
