import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { blocksOf } from '../docs/pages.js';
import { packageJson, projectPath, readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';
import { hasHelm } from './helm.js';

/*
 * The archives and the Linux packages of a release, installed and upgraded in a folder instead of the root directory.
 */

const { version } = packageJson;
const hasTools = hasHelm() && hasTool('nfpm');
const release = createTempFolder().path;
const fileOf = (suffix: string): string => join(release, `bridge-exporter-${version}.${suffix}`);

function run(command: string, ...args: readonly string[]): string {
  const { status, output } = runTool(command, args);
  if (status !== 0) throw new Error(output);
  return output;
}

beforeAll(() => {
  if (hasTools) run(projectPath('.ci/build-release'), release);
});

describe.skipIf(!hasTools)('a release', () => {
  it('has files with checksums', () => {
    const files = readdirSync(release).filter((name) => name !== 'SHA256SUMS');
    expect(files.toSorted()).toEqual(
      [
        `bridge-exporter-${version}.cdx.json`,
        `bridge-exporter-${version}.deb`,
        `bridge-exporter-${version}.rpm`,
        `bridge-exporter-${version}.tar.gz`,
        `bridge-exporter-chart-${version}.tgz`,
        `bridge-exporter-dashboards-${version}.tar.gz`,
        `bridge-exporter-npm-${version}.tgz`,
      ].toSorted(),
    );
    expect(
      execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: release, encoding: 'utf8' }).match(/: OK$/gm),
    ).toHaveLength(files.length);
  });

  it('has a bill of materials with every dependency of the program', () => {
    const { components } = JSON.parse(readFileSync(fileOf('cdx.json'), 'utf8')) as {
      components: readonly { name: string }[];
    };
    const missing = Object.keys(packageJson.dependencies).filter((name) =>
      components.every((item) => item.name !== name),
    );
    expect(missing).toEqual([]);
    expect(components).toContainEqual(
      expect.objectContaining({ name: 'express', purl: expect.stringMatching(/^pkg:npm\/express@\d/) }),
    );
  });
});

describe.skipIf(!hasTools)('the dashboards for grafana.com', () => {
  it('ask for a data source, which their variable then has, and are otherwise those of the project', () => {
    const folder = createTempFolder().path;
    const archive = join(release, `bridge-exporter-dashboards-${version}.tar.gz`);
    run('tar', '--extract', '--gzip', '--strip-components=1', `--file=${archive}`, `--directory=${folder}`);
    const names = readdirSync(projectPath('grafana/dashboards')).filter((name) => name.endsWith('.json'));
    expect(readdirSync(folder).toSorted()).toEqual(names.toSorted());
    for (const name of names) {
      const original = JSON.parse(readProjectFile(`grafana/dashboards/${name}`)) as Dashboard;
      const [first, ...others] = original.templating.list;
      expect(JSON.parse(readFileSync(join(folder, name), 'utf8'))).toEqual({
        ...original,
        __inputs: [expect.objectContaining({ name: 'DS_PROMETHEUS', pluginId: 'prometheus' })],
        __requires: expect.arrayContaining(
          ['grafana', 'prometheus', 'timeseries'].map((id) => expect.objectContaining({ id }) as unknown),
        ) as unknown,
        id: null,
        templating: {
          list: [{ ...first, current: expect.objectContaining({ value: '${DS_PROMETHEUS}' }) as unknown }, ...others],
        },
      });
    }
  });
});

interface Dashboard {
  readonly templating: { readonly list: readonly object[] };
}

/** The commands of the documentation, with paths in this folder, these downloads and a record of calls of systemctl. */
function createMachine() {
  const { path: root, write } = createTempFolder();
  const bin = join(root, 'bin');
  for (const folder of ['bin', 'opt', 'etc', 'home']) mkdirSync(join(root, folder));
  const program = (name: string, script: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program('systemctl', `echo "$@" >>${root}/systemctl.log`);
  program('curl', `for url; do case $url in https:*) cp "${release}/\${url##*/}" .;; esac; done`);
  return {
    write,
    read: (file: string): string => readFileSync(join(root, file), 'utf8'),
    calls: (): string[] => {
      const log = join(root, 'systemctl.log');
      const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
      writeFileSync(log, '');
      return lines;
    },
    run: (script: string): string =>
      execFileSync('sh', ['-euc', script.replaceAll(/(?<=^|[\s=])\/(?=opt|etc)/gm, `${root}/`)], {
        cwd: join(root, 'home'),
        encoding: 'utf8',
        env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` },
      }),
  };
}

it.skipIf(!hasTools)('the archive runs as documented, and an upgrade keeps its configuration', () => {
  const program = '/opt/bridge-exporter/dist/main.js';
  const command = `/usr/bin/node --max-semi-space-size=16 --no-allocation-site-pretenuring --heap-growing-percent=60 ${program}`;
  const blocks = blocksOf('sh').filter(({ file }) => file === 'docs/deployment.md');
  const { code = '' } = blocks.find((block) => block.code.startsWith('version=')) ?? {};
  const install = code.replace(/^version=.*$/m, `version=${version}`);
  const machine = createMachine();
  machine.run(install);
  expect(machine.read('etc/systemd/system/bridge-exporter.service')).toContain(`\nExecStart=${command}\n`);
  expect(machine.run(`${program} --version`)).toContain(`bridge-exporter ${version} (revision `);
  expect(machine.calls()).toEqual(['daemon-reload', 'try-restart bridge-exporter']);

  machine.write('etc/bridge-exporter/bridge.yaml', 'targets: [{name: a, bridge: {url: "https://a.example.org"}}]\n');
  const [check = ''] = blocks.flatMap((block) => /^\/opt\/.* --config\.check.*$/m.exec(block.code)?.[0] ?? []);
  expect(machine.run(check)).toContain('name: a');

  const environment = 'etc/bridge-exporter/bridge-exporter.env';
  machine.write(environment, 'BRIDGE_URL=https://own.example.org\n');
  machine.run(install);
  expect(machine.read(environment)).toBe('BRIDGE_URL=https://own.example.org\n');
  expect(machine.calls()).toEqual(['daemon-reload', 'try-restart bridge-exporter']);
});

describe.skipIf(!hasTools || !hasTool('dpkg'))('the Debian package', () => {
  const ENVIRONMENT = 'etc/bridge-exporter/bridge-exporter.env';

  /** Runs dpkg for a root directory of its own. Scripts find no systemd there, and are not run. */
  function createDebian() {
    const root = createTempFolder().path;
    for (const folder of ['var/lib/dpkg/info', 'var/lib/dpkg/updates'])
      mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, 'var/lib/dpkg/status'), '');
    const flags = [
      `--root=${root}`,
      '--force-script-chrootless',
      '--force-depends',
      '--force-not-root',
      '--force-confold',
      `--log=${root}/dpkg.log`,
    ];
    return { root, dpkg: (...args: readonly string[]) => run('dpkg', ...flags, ...args) };
  }

  /** The package of an earlier version, with another program and another environment file. */
  function earlierPackage(): string {
    const { path } = createTempFolder();
    const files = join(path, 'files');
    run('dpkg-deb', '--raw-extract', fileOf('deb'), files);
    const control = join(files, 'DEBIAN/control');
    writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, 'Version: 0.0.1'));
    writeFileSync(join(files, 'usr/lib/bridge-exporter/dist/main.js'), 'earlier');
    writeFileSync(join(files, ENVIRONMENT), '# earlier\n');
    run('dpkg-deb', '--build', '-Znone', files, join(path, 'earlier.deb'));
    return join(path, 'earlier.deb');
  }

  it('keeps the environment file and replaces the program, in an upgrade and back', () => {
    const { root, dpkg } = createDebian();
    const earlier = earlierPackage();
    const program = join(root, 'usr/lib/bridge-exporter/dist/main.js');
    const environment = (): string => readFileSync(join(root, ENVIRONMENT), 'utf8');
    dpkg('--install', earlier);
    writeFileSync(join(root, ENVIRONMENT), 'BRIDGE_URL=https://own.example.org\n');
    dpkg('--install', fileOf('deb'));
    expect(environment()).toBe('BRIDGE_URL=https://own.example.org\n');
    expect(readFileSync(program, 'utf8')).not.toBe('earlier');
    dpkg('--install', earlier);
    expect([environment(), readFileSync(program, 'utf8')]).toEqual(['BRIDGE_URL=https://own.example.org\n', 'earlier']);
    dpkg('--install', fileOf('deb'));
    expect(run(process.execPath, program, '--version')).toContain(`bridge-exporter ${version} `);
    dpkg('--remove', 'bridge-exporter');
    expect(existsSync(program)).toBe(false);
    expect(existsSync(join(root, ENVIRONMENT))).toBe(true);
  });

  it('requires Node.js as package.json does, and has the unit of the project with its own path', () => {
    const { root, dpkg } = createDebian();
    const [, node = ''] = /"node": ">=([\d.]+)"/.exec(readProjectFile('package.json')) ?? [];
    expect(run('dpkg-deb', '--field', fileOf('deb'), 'Depends', 'Architecture')).toBe(
      `Depends: nodejs (>= ${node})\nArchitecture: all\n`,
    );
    dpkg('--install', fileOf('deb'));
    const unit = readFileSync(join(root, 'usr/lib/systemd/system/bridge-exporter.service'), 'utf8');
    expect(unit).toContain(
      'ExecStart=/usr/bin/node --max-semi-space-size=16 --no-allocation-site-pretenuring --heap-growing-percent=60 /usr/bin/bridge-exporter\n',
    );
    expect(unit.replace('/usr/bin/bridge-exporter', '/opt/bridge-exporter/dist/main.js')).toBe(
      readProjectFile('deploy/systemd/bridge-exporter.service'),
    );
  });
});

describe.skipIf(!hasTools || !hasTool('rpm'))('the RPM package', () => {
  it('marks the environment file as configuration that an upgrade keeps', () => {
    const query = (...args: readonly string[]): string => run('rpm', '--query', '--package', ...args, fileOf('rpm'));
    expect(query('--queryformat=[%{FILEFLAGS:fflags} %{FILENAMES}\\n]')).toContain(
      'cn /etc/bridge-exporter/bridge-exporter.env\n',
    );
    expect(query('--requires')).toContain('nodejs >= 20.19');
  });
});
