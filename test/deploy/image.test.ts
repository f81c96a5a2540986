import { DockerfileParser, type Copy, type From, type Instruction } from 'dockerfile-ast';
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  packageJson,
  projectNames,
  projectFileExists,
  projectPath,
  readProjectFile,
} from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';

/*
 * Checks of the Dockerfile without a build. `.ci/image` builds the image and runs it.
 */

const dockerfile = DockerfileParser.parse(readProjectFile('Dockerfile'));
const instructions = dockerfile.getInstructions();
const bases = dockerfile.getFROMs();
const copies = dockerfile.getCOPYs();
const last = <T>(list: readonly T[]): T | undefined => list.at(-1);
const linesOf = (keyword: string): Instruction[] => instructions.filter((line) => line.getKeyword() === keyword);
const textOf = (line: Instruction | undefined): string => line?.getArgumentsContent() ?? '';

/** The source arguments of a COPY instruction. */
const sourcesOf = (copy: Copy): string[] =>
  copy
    .getArguments()
    .slice(0, -1)
    .map((argument) => argument.getValue());

const isFromContext = (copy: Copy): boolean => copy.getFromFlag() === null;

describe('the Dockerfile', () => {
  it('has one base image with a fixed version of an LTS release', () => {
    const images = new Set(bases.map((base: From) => base.getImage()));
    expect(images.size).toBe(1);
    expect(Number(/^node:(\d+)\.\d+\.\d+-\w+-slim$/.exec([...images][0] ?? '')?.[1]) % 2).toBe(0);
  });

  it('builds on the build platform, and ships no native code', () => {
    const stages = bases.slice(0, -1).map((base) => base.getPlatformFlag()?.getValue());
    expect(stages).toEqual(['$BUILDPLATFORM']);
    expect(linesOf('RUN').every((line) => line.getRange().start.line < (last(bases)?.getRange().start.line ?? 0))).toBe(
      true,
    );
    const { packages } = JSON.parse(readProjectFile('package-lock.json')) as {
      packages: Record<
        string,
        { dev?: true; devOptional?: true; hasInstallScript?: true; os?: unknown; cpu?: unknown }
      >;
    };
    const shipped = Object.entries(packages).filter(
      ([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional,
    );
    expect(shipped.length).toBeGreaterThan(50);
    expect(shipped.filter(([, { hasInstallScript, os, cpu }]) => hasInstallScript ?? os ?? cpu)).toEqual([]);
  });

  it('sets a numeric user that is not root, as Kubernetes requires for runAsNonRoot', () => {
    expect(textOf(last(linesOf('USER')))).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(last(linesOf('USER'))?.getRange().start.line).toBeGreaterThan(
      last(bases)?.getRange().start.line ?? Infinity,
    );
  });

  it('starts and checks the program without a shell', () => {
    expect(JSON.parse(textOf(last(linesOf('ENTRYPOINT'))))).toEqual(['node', '/app/dist/main.js']);
    expect(linesOf('CMD')).toEqual([]);
    expect(healthCommand()).toEqual(['node', '/app/dist/main.js', 'healthcheck']);
  });

  it('copies existing files, and .dockerignore excludes all others', () => {
    const wanted = copies.filter(isFromContext).flatMap(sourcesOf);
    expect(wanted.filter((file) => !projectFileExists(file))).toEqual([]);
    const [first, ...rules] = readProjectFile('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(first).toBe('*');
    expect(rules.toSorted()).toEqual([...new Set(wanted)].map((file) => `!${file.replace('./', '')}`).toSorted());
  });

  it('ships the bundle only', () => {
    const shipped = copies.slice(-2);
    expect(shipped.map(textOf)).toEqual(['/app ./', 'LICENSE ./']);
    expect(shipped.map((copy) => copy.getFromFlag()?.getValue())).toEqual(['build', undefined]);
  });

  it('sets labels with name, license, version and revision', () => {
    const labels = Object.fromEntries(
      dockerfile
        .getInstructions()
        .filter((line) => line.getKeyword() === 'LABEL')
        .flatMap((line) => [...textOf(line).matchAll(/org\.opencontainers\.image\.(\w+)="([^"]*)"/g)])
        .map(([, name = '', value]) => [name, value]),
    );
    expect(labels).toEqual({
      title: packageJson.name,
      description: expect.stringMatching(/./),
      licenses: packageJson.license,
      source: `https://github.com/${projectNames.repository}`,
      version: '${VERSION}',
      revision: '${REVISION}',
    });
  });
});

describe('the build stage of the image', () => {
  it('records the revision, which the build context does not contain', () => {
    const run = linesOf('RUN').at(-1);
    expect(textOf(run)).toBe('node packaging/bundle.mjs /app --program');
    const before = linesOf('ARG').filter(
      (line) => line.getRange().start.line < (run?.getRange().start.line ?? 0) && textOf(line) === 'REVISION',
    );
    expect(before).toHaveLength(1);
  });

  it('copies everything that the bundle is built from', () => {
    const folder = createTempFolder().path;
    for (const file of copies.filter(isFromContext).flatMap(sourcesOf)) {
      cpSync(projectPath(file), join(folder, file), { recursive: true });
    }
    symlinkSync(projectPath('node_modules'), join(folder, 'node_modules'));
    const env = { ...process.env, REVISION: 'f'.repeat(40) };
    execFileSync(process.execPath, ['packaging/bundle.mjs', join(folder, 'app'), '--program'], { cwd: folder, env });
    expect(readdirSync(join(folder, 'app')).toSorted()).toEqual([
      'THIRD-PARTY-LICENSES',
      'dist',
      'package.json',
      'sbom.cdx.json',
    ]);
    const version = execFileSync(process.execPath, [join(folder, 'app/dist/main.js'), '--version'], {
      encoding: 'utf8',
    });
    expect(version).toContain(`(revision ${'f'.repeat(40)}, `);
  });
});

function healthCommand(): string[] {
  const [, command = '[]'] = /CMD (\[.+\])$/.exec(textOf(last(linesOf('HEALTHCHECK')))) ?? [];
  return JSON.parse(command) as string[];
}
