import { describe, expect, it } from 'vitest';
import { projectFileExists, readProjectFile } from '../support/project-files.js';
import { blocksOf } from './pages.js';

/*
 * Every command of docs/deployment.md is executed by a test, or there is a reason why not.
 */

interface Coverage {
  /** The test, and a text in it. */
  readonly test?: readonly [file: string, text: string];
  readonly reason?: string;
}

const NO_ENGINE = 'The tests have no container engine; .ci/image runs the image with the same restrictions in CI.';
const NO_CLUSTER =
  'The tests have no cluster. They render the chart, validate the manifests and run the container with its arguments.';

const COMMANDS: readonly (readonly [command: RegExp, coverage: Coverage])[] = [
  [/^docker run (?:--read-only|--rm) /, { reason: NO_ENGINE }],
  [
    /^cosign verify(?:-blob)? /,
    {
      reason:
        'A signature requires the identity of the release workflow. test/deploy/workflows.test.ts checks the identity.',
    },
  ],
  [
    /^helm install /,
    { test: ['.ci/release-dry-run', 'helm template bridge-exporter "oci://$charts/bridge-exporter"'] },
  ],
  [/^kubectl (?:get|create) /, { reason: NO_CLUSTER }],
  [/^kustomize build /, { test: ['test/deploy/chart.slow.test.ts', "'kustomize', [\n      'build'"] }],
  [/^jb install /, { test: ['test/deploy/mixin.test.ts', 'mixin/mixin.libsonnet'] }],
  [/^npx bridge-exporter demo$/, { test: ['test/deploy/npx.test.ts', 'demo'] }],
  [/^npm install --global /, { test: ['.ci/release-dry-run', 'npm install --silent --prefix='] }],
  [/^bridge-exporter --config\.file=/, { test: ['test/docs/examples.test.ts', 'EXPORTER_COMMAND'] }],
  [/^(?:apt-get|dnf) /, { reason: 'The package of a release that is not published yet.' }],
  [
    /^curl --fail --location --remote-name https:\S+\.deb$/,
    { test: ['test/deploy/linux-packages.test.ts', "dpkg('--install'"] },
  ],
  [
    /^(?:version=|archive=|address=|curl --fail .*SHA256SUMS"|sha256sum|tar --extract|ln --symbolic|cd \/opt|install -D|test -e|systemctl (?:daemon-reload|try-restart))/,
    { test: ['test/deploy/linux-packages.test.ts', 'const install = (archive: string)'] },
  ],
  [
    /^\/opt\/bridge-exporter\/bridge-exporter --config\.check/,
    { test: ['test/deploy/linux-packages.test.ts', "documentedBlock('--config.check')"] },
  ],
  [
    /^(?:systemctl enable|journalctl)/,
    { reason: 'The tests have no systemd. test/deploy/systemd.test.ts verifies the unit.' },
  ],
  [/docker compose up$/, { reason: `${NO_ENGINE} test/deploy/compose.test.ts checks what Compose starts.` }],
];

const commands = blocksOf('sh')
  .filter(({ file }) => file === 'docs/deployment.md')
  .flatMap(({ code }) =>
    code
      .replaceAll(/\\\n\s*/g, '')
      .trim()
      .split('\n'),
  );

const coverageOf = (command: string): Coverage | undefined => COMMANDS.find(([pattern]) => pattern.test(command))?.[1];

describe('a command of docs/deployment.md', () => {
  it.each([...new Set(commands)])('is executed by a test, or there is a reason why not: %s', (command) => {
    const { test, reason } = coverageOf(command) ?? {};
    if (test === undefined) {
      expect(reason).toMatch(/\.$/);
      return;
    }
    const [file, text] = test;
    expect(projectFileExists(file)).toBe(true);
    expect(readProjectFile(file)).toContain(text);
  });

  it('exists for every entry of the list', () => {
    const unused = COMMANDS.filter(([pattern]) => !commands.some((command) => pattern.test(command)));
    expect(unused.map(([pattern]) => String(pattern))).toEqual([]);
  });
});
