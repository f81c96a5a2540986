import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageJson, projectNames, projectPath, readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { runTool } from '../support/tools.js';

const FILES = [
  '.ci/release-notes',
  '.ci/set-version',
  '.ci/version.mjs',
  'names.json',
  'src/config/config.ts',
  'package.json',
  'package-lock.json',
  'compose.yaml',
  'deploy/helm/bridge-exporter/Chart.yaml',
  'docs/deployment.md',
];

const CHANGELOG = `# Changelog

## Unreleased

* [FEATURE] This.

## 0.0.1 / 2026-01-01

* [FEATURE] Before.
`;

/** A copy of the files with versions. */
function createRelease(original?: string) {
  const folder = createTempFolder();
  for (const file of FILES) {
    mkdirSync(dirname(join(folder.path, file)), { recursive: true });
    cpSync(original === undefined ? projectPath(file) : join(original, file), join(folder.path, file));
  }
  folder.write('CHANGELOG.md', original === undefined ? CHANGELOG : readFileSync(join(original, 'CHANGELOG.md')));
  const run = (script: string, ...args: readonly string[]) =>
    runTool(process.execPath, [join(folder.path, '.ci', script), ...args]);
  const read = (file: string): string => readFileSync(join(folder.path, file), 'utf8');
  return {
    path: folder.path,
    read,
    notes: (tag: string) => run('release-notes', tag),
    setVersion: (...args: readonly string[]) => expect(run('set-version', ...args)).toEqual({ status: 0, output: '' }),
    edit: (file: string, from: string | RegExp, to: string) => {
      const text = read(file);
      const edited = text.replace(from, to);
      expect(edited).not.toBe(text);
      folder.write(file, edited);
    },
  };
}

const released = createRelease();
released.setVersion('9.8.7', '2026-01-02');

describe('the notes of a release', () => {
  it('are its section of the changelog, after its version is set', () => {
    const release = createRelease(released.path);
    expect(release.notes('v9.8.7')).toEqual({ status: 0, output: '* [FEATURE] This.\n' });
    expect(release.read('CHANGELOG.md')).toContain('## Unreleased\n\n## 9.8.7 / 2026-01-02\n\n* [FEATURE] This.\n');
  });

  it('of a candidate are the unreleased changes', () => {
    const release = createRelease();
    release.setVersion('9.8.7-rc.1');
    expect(release.notes('v9.8.7-rc.1')).toEqual({ status: 0, output: '* [FEATURE] This.\n' });
    expect(release.read('CHANGELOG.md')).toBe(CHANGELOG);
  });

  it('of another tag are an error', () => {
    const release = createRelease(released.path);
    const files = ['package.json', 'package-lock.json', 'package-lock.json (packages)', 'Chart.yaml (version)'];
    const all = [...files, 'Chart.yaml (appVersion)', 'Chart.yaml (image)', 'compose.yaml', 'docs/deployment.md'];
    const problems = all.map((file) => `${file} has version 9.8.7 instead of 9.8.8\n`);
    expect(release.notes('v9.8.8')).toEqual({
      status: 1,
      output: `${problems.join('')}CHANGELOG.md has no section 9.8.8 / DATE\n`,
    });
  });

  it('require that nothing is left under Unreleased', () => {
    const release = createRelease(released.path);
    release.edit('CHANGELOG.md', '## Unreleased\n', '## Unreleased\n\n* [FEATURE] Later.\n');
    expect(release.notes('v9.8.7')).toEqual({ status: 1, output: 'CHANGELOG.md has changes under Unreleased\n' });
  });

  it('require a section with a date', () => {
    const release = createRelease(released.path);
    release.edit('CHANGELOG.md', '9.8.7 / 2026-01-02', '9.8.7');
    expect(release.notes('v9.8.7')).toEqual({ status: 1, output: 'CHANGELOG.md has no section 9.8.7 / DATE\n' });
  });

  it.each(['latest', 'v1.2', 'v1.2.3-beta', '1.2.3'])('require a tag with a version, not %s', (tag) => {
    expect(released.notes(tag)).toEqual({
      status: 1,
      output: 'usage: .ci/release-notes vMAJOR.MINOR.PATCH[-rc.N]\n',
    });
  });
});

it('links lead to the documentation of the version, and between releases to that of main', () => {
  const release = createRelease(released.path);
  const link = (): string | undefined =>
    /(?<=\/blob\/)[^/]+(?=\/docs\/runbook\.md)/.exec(release.read('src/config/config.ts'))?.[0];
  expect(link()).toBe('v9.8.7');
  release.setVersion('9.9.0-dev');
  expect(link()).toBe('main');
});

it('all links to the documentation have the same version', () => {
  const address = `github.com/${projectNames.repository}/blob/`;
  const files = ['prometheus/alerts.yml', 'src/config/config.ts', 'deploy/helm/bridge-exporter/values.yaml'];
  const chart = ['Chart.yaml', 'README.md'].map((file) => `deploy/helm/bridge-exporter/${file}`);
  for (const file of [...files, ...chart]) {
    const versions = readProjectFile(file)
      .split(address)
      .slice(1)
      .map((text) => text.replace(/\/[^]*/, ''));
    expect(versions.length).toBeGreaterThan(0);
    expect(new Set(versions)).toEqual(
      new Set([packageJson.version.endsWith('-dev') ? 'main' : `v${packageJson.version}`]),
    );
  }
});

it('between releases, the version ends with -dev and the documentation names the version that can be installed', () => {
  const release = createRelease(released.path);
  release.setVersion('9.9.0-dev');
  expect(release.read('package.json')).toContain('"version": "9.9.0-dev"');
  expect(release.read('docs/deployment.md')).toContain(`${projectNames.image}:9.8.7`);
  expect(release.read('docs/deployment.md')).not.toContain('9.9.0');
});
