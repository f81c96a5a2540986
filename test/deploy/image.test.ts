import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFileExists, projectPath, readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';

/*
 * Checks of the Dockerfile without a build. `.ci/image` builds the image and runs it.
 */

/** Each line has one instruction. */
const lines = readProjectFile('Dockerfile')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => /^[A-Z]+ /.test(line));
const argumentsOf = (keyword: string): string[] =>
  lines.filter((line) => line.startsWith(`${keyword} `)).map((line) => line.slice(keyword.length + 1));

describe('the Dockerfile', () => {
  it('takes Node.js from an image with a fixed version of an LTS release, and nothing else', () => {
    const [build = '', runtime = '', ...others] = argumentsOf('FROM');
    const image = /node:(\d+)\.\d+\.\d+-\w+-slim(?:@sha256:[0-9a-f]{64})?/;
    const [found, version] = image.exec(build) ?? [];
    expect(image.exec(runtime)?.[0]).toBe(found);
    expect(Number(version) % 2).toBe(0);
    expect(others).toEqual(['scratch']);
  });

  it('builds on the build platform, and ships no native code besides Node.js', () => {
    expect(argumentsOf('FROM')).toContainEqual(expect.stringMatching(/^--platform=\$BUILDPLATFORM \S+ AS build$/i));
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

  it('keeps the state file in a volume to which any user can write', () => {
    expect(argumentsOf('ENV')).toContain('STATE_FILE=/var/lib/bridge-exporter/state.json');
    expect(argumentsOf('VOLUME')).toEqual(['/var/lib/bridge-exporter']);
    expect(argumentsOf('RUN')).toContain('mkdir --parents --mode=1777 /root-filesystem/var/lib/bridge-exporter');
  });

  it('sets a numeric user that is not root, as Kubernetes requires for runAsNonRoot', () => {
    const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
    expect(last.findLast((line) => line.startsWith('USER '))).toMatch(/^USER [1-9]\d*:[1-9]\d*$/);
  });

  it('copies existing files, and .dockerignore excludes all others', () => {
    const ofContext = argumentsOf('COPY').filter((text) => !text.startsWith('--from='));
    const wanted = ofContext.flatMap((text) => text.split(' ').slice(0, -1));
    expect(wanted.filter((file) => !projectFileExists(file))).toEqual([]);
    const [first, ...rules] = readProjectFile('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(first).toBe('*');
    expect(rules.toSorted()).toEqual([...new Set(wanted)].map((file) => `!${file.replace('./', '')}`).toSorted());
  });

  it('records the revision, which the build context does not contain', () => {
    const build = lines.indexOf('RUN node packaging/bundle.mjs /app --program');
    expect(lines.slice(0, build)).toContain('ARG REVISION');
  });
});

describe('the file system of the image', () => {
  it('contains what Node.js needs to run, and the packages it comes from, for any architecture', () => {
    const { path: image } = createTempFolder();
    const { path: files } = createTempFolder();
    const libraries = '/usr/lib/aarch64-linux-gnu';
    const write = (path: string, content: string): void => {
      mkdirSync(dirname(join(image, path)), { recursive: true });
      writeFileSync(join(image, path), content);
    };
    write('/usr/local/bin/node', '\0/lib/ld-linux-aarch64.so.1\0\0libc.so.6\0libstdc++.so.6\0libabsent.so.1\0');
    write(`${libraries}/ld-linux-aarch64.so.1`, '');
    write(`${libraries}/libc.so.6`, '\0ld-linux-aarch64.so.1\0');
    write(`${libraries}/libstdc++.so.6.0.30`, '\0libgcc_s.so.1\0');
    symlinkSync('libstdc++.so.6.0.30', join(image, libraries, 'libstdc++.so.6'));
    write(`${libraries}/libgcc_s.so.1`, '');
    write(`${libraries}/libz.so.1`, '');
    for (const path of ['/etc/passwd', '/etc/group', '/etc/nsswitch.conf', '/etc/os-release']) write(path, '');
    write('/usr/local/LICENSE', 'Node.js is licensed as follows');
    write('/bin/sh', '');
    write('/var/lib/dpkg/status', 'Package: libc6\nVersion: 2\n\nPackage: zlib1g\nVersion: 1\n');
    write('/var/lib/dpkg/info/libc6:arm64.list', '/lib/aarch64-linux-gnu/libc.so.6\n');
    write('/var/lib/dpkg/info/zlib1g:arm64.list', `${libraries}/libz.so.1\n`);
    execFileSync(process.execPath, [projectPath('packaging/runtime.mjs'), image, files]);
    const found = readdirSync(files, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(files.length));
    expect(found.toSorted()).toEqual([
      '/etc/group',
      '/etc/nsswitch.conf',
      '/etc/os-release',
      '/etc/passwd',
      '/lib/ld-linux-aarch64.so.1',
      `${libraries}/libc.so.6`,
      `${libraries}/libgcc_s.so.1`,
      `${libraries}/libstdc++.so.6`,
      '/usr/local/bin/node',
      '/usr/share/doc/nodejs/copyright',
      '/var/lib/dpkg/status.d/libc6',
    ]);
    expect(readFileSync(join(files, 'var/lib/dpkg/status.d/libc6'), 'utf8')).toBe('Package: libc6\nVersion: 2\n');
  });
});
