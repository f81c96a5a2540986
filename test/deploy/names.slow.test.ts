import { expect, it } from 'vitest';
import { copyProject } from '../docs/project-copy.js';
import { projectNames } from '../support/project-files.js';

const OTHER = {
  repository: 'acme/token-monitor',
  image: 'registry.acme.example/tools/token-monitor',
  charts: 'registry.acme.example/helm',
  npmPackage: '@acme/token-monitor',
};

const escape = (text: string): string => text.replaceAll('.', '\\.');
const OLD_NAMES = [
  `github\\.com/${escape(projectNames.repository)}`,
  escape(projectNames.image),
  escape(projectNames.charts),
  `registry: ${escape(projectNames.image.replace(/\/.*/, ''))}`,
  `npx ${projectNames.npmPackage}`,
  `npm install (-g|--global) ${projectNames.npmPackage}`,
].join('|');

it('names.json contains the names that all other files have, and is enough to change them', async () => {
  const copy = copyProject();
  await copy.run('sh', '-ec', 'git init --quiet && git add --all');
  const apply = async (names: unknown): Promise<void> => {
    copy.write('names.json', JSON.stringify(names));
    expect(await copy.run('node', '.ci/apply-names')).toBe('');
  };
  await apply(OTHER);
  expect(await copy.run('sh', '-c', `git grep --line-number --extended-regexp '${OLD_NAMES}' || true`)).toBe('');
  expect(copy.changedFiles()).toEqual(
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
  await apply(projectNames);
  // This file has the other names, too.
  expect(copy.changedFiles()).toEqual(['names.json', 'test/deploy/names.slow.test.ts']);
});
