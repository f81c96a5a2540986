import { cpSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
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

/** Applies these names to a copy of the project. Returns the lines that still have the old names, and the changed files. */
function applyNames(json: unknown): { readonly old: string; readonly changed: string } {
  const copy = createTempFolder();
  for (const file of trackedFiles()) {
    try {
      cpSync(projectPath(file), `${copy.path}/${file}`, { verbatimSymlinks: true });
    } catch (error) {
      // Deleted and not committed yet.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  copy.write('names.json', JSON.stringify(json));
  for (const args of [
    ['init', '--quiet'],
    ['add', '--all'],
  ]) {
    expect(runTool('git', ['-C', copy.path, ...args]).status).toBe(0);
  }
  expect(runTool(process.execPath, [`${copy.path}/.ci/apply-names`])).toEqual({ status: 0, output: '' });
  const git = (...args: readonly string[]): string => runTool('git', ['-C', copy.path, ...args]).output.trim();
  return {
    old: git('grep', '--line-number', '--extended-regexp', OLD_NAMES),
    changed: git('diff', '--name-only'),
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

describe('names.json', () => {
  it('contains the names that all other files have', () => {
    expect(applyNames(projectNames).changed).toBe('');
  });

  it('is enough to change the names in all files', () => {
    const { old, changed } = applyNames(OTHER);
    expect(old).toBe('');
    expect(changed.split('\n')).toEqual(
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
  });
});
