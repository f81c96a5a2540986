import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageJson, projectPath, readProjectFile, readProjectYaml } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { runTool } from '../support/tools.js';

const FILES = ['.ci/release-notes', 'package.json', 'package-lock.json', 'deploy/helm/bridge-exporter/Chart.yaml'];

/** Runs .ci/release-notes with this changelog and the other files of the project. */
function releaseNotes(tag: string, changelog: string) {
  const folder = createTempFolder();
  for (const file of FILES) {
    mkdirSync(dirname(join(folder.path, file)), { recursive: true });
    cpSync(projectPath(file), join(folder.path, file));
  }
  folder.write('CHANGELOG.md', changelog);
  return runTool(process.execPath, [join(folder.path, '.ci/release-notes'), tag]);
}

const { version } = packageJson;
const CHANGELOG = `# Changelog

## Unreleased

* [FEATURE] Later.

## ${version} / 2026-01-02

* [FEATURE] This.

## 0.0.1 / 2026-01-01

* [FEATURE] Before.
`;

describe('the release notes', () => {
  it('are the section of the changelog', () => {
    expect(releaseNotes(`v${version}`, CHANGELOG)).toEqual({ status: 0, output: '* [FEATURE] This.\n' });
  });

  it('require the version of the tag in every file', () => {
    const files = ['package.json', 'package-lock.json', 'Chart.yaml (version)', 'Chart.yaml (appVersion)'];
    const problems = files.map((file) => `${file} has version ${version} instead of 9.9.9\n`);
    expect(releaseNotes('v9.9.9', CHANGELOG)).toEqual({
      status: 1,
      output: `${problems.join('')}CHANGELOG.md has no section 9.9.9\n`,
    });
  });

  it('require a section with a date', () => {
    const output = `CHANGELOG.md has no section ${version}\n`;
    expect(releaseNotes(`v${version}`, CHANGELOG.replace(`${version} / 2026-01-02`, version))).toEqual({
      status: 1,
      output,
    });
  });

  it('require a tag with a version', () => {
    expect(releaseNotes('latest', CHANGELOG)).toEqual({
      status: 1,
      output: 'usage: .ci/release-notes vMAJOR.MINOR.PATCH\n',
    });
  });
});

it('the documentation pins the current version', () => {
  const versions = readProjectFile('docs/deployment.md').match(
    /(?<=ghcr\.io\/bridge-exporter\/bridge-exporter:)[\d.]+\d/g,
  );
  expect(new Set(versions)).toEqual(new Set([version]));
});

describe('the dependency bot', () => {
  const { updates } = readProjectYaml('.github/dependabot.yml') as {
    updates: { 'package-ecosystem': string; directory?: string; directories?: string[] }[];
  };

  it('updates actions, packages, tools and images', () => {
    const ecosystems = updates.map((update) => update['package-ecosystem']);
    expect(ecosystems).toEqual(['github-actions', 'npm', 'gomod', 'docker', 'docker-compose']);
  });

  it('updates every Go module', () => {
    const folders = updates.flatMap(({ directories = [] }) => directories);
    for (const folder of folders) expect(readProjectFile(`${folder.slice(1)}/go.mod`)).toMatch(/^module /);
    expect(folders).toHaveLength(3);
  });
});
