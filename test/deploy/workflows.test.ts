import { NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { accessSync, constants, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { projectNames, projectPath, readProjectFile, readProjectYaml } from '../support/project-files.js';
import { hasTool, runTool } from '../support/tools.js';

const FOLDER = '.github/workflows';
const files = readdirSync(projectPath(FOLDER)).map((name) => `${FOLDER}/${name}`);

/** The errors that GitHub reports for a workflow. */
function errorsOf(content: string): string[] {
  const { context } = parseWorkflow({ name: 'workflow.yml', content }, new NoOperationTraceWriter());
  return context.errors.getErrors().map(({ message }) => message);
}

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Job {
  readonly needs?: string | readonly string[];
  readonly uses?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly container?: string;
  readonly if?: string;
  readonly environment?: string;
  readonly strategy?: { readonly matrix: { readonly node: readonly string[] } };
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly concurrency?: unknown;
  readonly defaults?: { readonly run: { readonly shell: string } };
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const workflow = (name: string): Workflow => readProjectYaml(`${FOLDER}/${name}`) as Workflow;
const jobs = files.flatMap((file) => Object.values((readProjectYaml(file) as Workflow).jobs));
const steps = jobs.flatMap((job) => job.steps ?? []);

describe('the workflows', () => {
  it.each(files)('include the valid file %s', (file) => {
    expect(errorsOf(readProjectFile(file))).toEqual([]);
  });

  it.each([
    ['an unknown key', 'timeout-minutes: 60', 'timeout-minute: 60', /Unexpected value 'timeout-minute'/],
    ['a wrong type', 'fail-fast: false', 'fail-fast: [false]', /A sequence was not expected/],
    [
      'an unknown name in an expression',
      '${{ matrix.node }}',
      '${{ matix.node }}',
      /Unrecognized named-value: 'matix'/,
    ],
  ])('are rejected with %s', (_title, valid, invalid, message) => {
    const text = readProjectFile(`${FOLDER}/ci.yml`);
    expect(text).toContain(valid);
    expect(errorsOf(text.replace(valid, invalid))).toContainEqual(expect.stringMatching(message));
  });

  it.skipIf(!hasTool('actionlint', ['-version']))('pass actionlint', () => {
    expect(runTool('actionlint', ['-no-color', ...files.map(projectPath)])).toEqual({ status: 0, output: '' });
    const invalid = readProjectFile(`${FOLDER}/ci.yml`).replace('${{ matrix.node }}', '${{ matrix.nodes }}');
    expect(runTool('actionlint', ['-no-color', '-'], invalid).output).toMatch(/property "nodes" is not defined/);
  });

  it('run existing executable scripts', () => {
    const scripts = steps.flatMap(({ run = '' }) =>
      Array.from(run.matchAll(/\.ci\/[\w-]+(?= |$)/gm), ([script]) => script),
    );
    expect([...new Set(scripts)].toSorted()).toEqual([
      '.ci/build-image',
      '.ci/build-release',
      '.ci/image',
      '.ci/install-tools',
      '.ci/release',
      '.ci/release-dry-run',
      '.ci/release-notes',
      '.ci/run',
    ]);
    for (const script of scripts) accessSync(projectPath(script), constants.X_OK);
  });

  it('pin actions by commit, with the version in a comment', () => {
    const lines = files.flatMap((file) => readProjectFile(file).match(/uses: .*/g) ?? []);
    const remote = lines.filter((line) => !line.startsWith('uses: ./'));
    expect(remote.length).toBeGreaterThan(10);
    expect(remote.filter((line) => !/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
    // One commit for each action.
    const actions = new Set(remote.map((line) => line.replace(/@.*/, '')));
    expect(new Set(remote).size).toBe(actions.size);
  });

  it('have write permissions only in the jobs of a release that need them', () => {
    expect(files.map((file) => (readProjectYaml(file) as Workflow).permissions)).toEqual(
      files.map(() => ({ contents: 'read' })),
    );
    const { jobs: release } = workflow('release.yml');
    const written = Object.entries(release).map(([name, { permissions = {} }]) => [
      name,
      Object.keys(permissions).filter((scope) => permissions[scope] === 'write'),
    ]);
    expect(Object.fromEntries(written)).toEqual({
      version: [],
      check: [],
      build: [],
      publish: ['contents', 'packages', 'id-token'],
      'dry-run': [],
    });
    expect(Object.values(workflow('ci.yml').jobs).filter(({ permissions }) => permissions)).toEqual([]);
  });

  it('test with the oldest supported Node.js, with that of the image, and with all in the documentation', () => {
    const tested = workflow('ci.yml').jobs['check']?.strategy?.matrix.node ?? [];
    const [, oldest] = /"node": ">=([\d.]+)/.exec(readProjectFile('package.json')) ?? [];
    const [, shipped] = /^FROM node:(\d+)\./m.exec(readProjectFile('Dockerfile')) ?? [];
    expect(tested[0]).toBe(oldest);
    expect(tested).toContain(shipped);
    const [, table = ''] = /## Node.js versions\n([^]*?)\n## /.exec(readProjectFile('docs/deployment.md')) ?? [];
    const documented = Array.from(table.matchAll(/^\| (\d+)/gm), ([, version]) => version);
    expect(documented).toEqual(tested.map((version) => version.replace(/\..*/, '')));
  });

  it('release a tag of this repository after all checks, one release at a time, with an approval', () => {
    const { jobs: release, concurrency } = workflow('release.yml');
    const { version, check, build, publish } = release;
    expect(concurrency).toEqual({ group: 'release' });
    expect(version?.if).toBe(`github.repository == '${projectNames.repository}' && github.ref_type == 'tag'`);
    expect(check).toMatchObject({ needs: 'version', uses: `./${FOLDER}/ci.yml` });
    expect([build?.needs, publish?.needs]).toEqual(['check', 'build']);
    expect(publish?.environment).toBe('release');
    expect(Object.values(release).filter(({ environment }) => environment)).toHaveLength(1);
    expect(release['dry-run']?.if).toBe("github.event_name == 'workflow_dispatch'");
  });

  it('keep no credentials in the checkout', () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts.length).toBeGreaterThan(4);
    expect(checkouts.filter((step) => step.with?.['persist-credentials'] !== false)).toEqual([]);
  });

  it('use no cache in jobs whose results are published', () => {
    const { build, publish } = workflow('release.yml').jobs;
    const all = [build, publish].flatMap((job) => job?.steps ?? []);
    expect(all.filter(({ uses }) => uses?.startsWith('actions/cache@'))).toEqual([]);
    const setups = all.flatMap(({ uses = '', with: options }) => (/setup-(?:node|go)@/.test(uses) ? [options] : []));
    expect(setups).toHaveLength(4);
    for (const options of setups) expect([options?.['cache'], options?.['package-manager-cache']]).toContain(false);
  });

  it('end with the first failing command of a pipe', () => {
    expect(workflow('release.yml').defaults?.run.shell).toBe('bash -euo pipefail {0}');
  });
});

describe('the image of a release', () => {
  const script = readProjectFile('.ci/build-image');

  it('is built for two architectures with provenance, SBOM and revision', () => {
    expect(script).toContain('--platform=linux/amd64,linux/arm64 --provenance=mode=max --sbom=true');
    expect(script).toContain('--build-arg="REVISION=$(node packaging/revision.mjs)"');
  });

  it('is signed as the chart and the checksums, and signatures are verified as the documentation says', () => {
    expect(readProjectFile('.ci/release')).toContain('sign --recursive "$image@$digest"');
    expect(readProjectFile('.ci/release')).toContain('sign-blob --yes --bundle="$out/SHA256SUMS.sigstore.json"');
    const identities = readProjectFile('docs/deployment.md').match(/(?<=--certificate-identity=).*/g) ?? [];
    expect(identities).toHaveLength(3);
    for (const identity of identities) {
      expect(identity).toMatch(
        /^https:\/\/github\.com\/[^/]+\/[^/]+\/\.github\/workflows\/release\.yml@refs\/tags\/v\d+\.\d+\.\d+$/,
      );
    }
  });
});
