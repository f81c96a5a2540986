import { NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { accessSync, constants, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { projectPath, readProjectFile, readProjectYaml } from '../support/project-files.js';
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
  readonly strategy?: { readonly matrix: { readonly node: readonly number[] } };
  readonly steps?: readonly Step[];
}

interface Workflow {
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
    expect([...new Set(scripts)]).toEqual(['.ci/run', '.ci/image', '.ci/release-notes', '.ci/tools-kubernetes']);
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
      image: ['packages', 'id-token'],
      npm: ['id-token'],
      chart: ['packages', 'id-token'],
      release: ['contents'],
    });
    expect(Object.values(workflow('ci.yml').jobs).filter(({ permissions }) => permissions)).toEqual([]);
  });

  it('test with the oldest supported Node.js and with that of the image', () => {
    const [, oldest] = /"node": ">=(\d+)/.exec(readProjectFile('package.json')) ?? [];
    const [, shipped] = /^FROM node:(\d+)\./m.exec(readProjectFile('Dockerfile')) ?? [];
    expect(workflow('ci.yml').jobs['check']?.strategy?.matrix.node).toEqual([Number(oldest), Number(shipped)]);
  });

  it('release only after all checks, and the chart after its image', () => {
    const { check, image, npm, chart, release } = workflow('release.yml').jobs;
    expect(check).toMatchObject({ needs: 'version', uses: `./${FOLDER}/ci.yml` });
    expect([image, npm, chart, release].map((job) => job?.needs)).toEqual([
      'check',
      'check',
      'image',
      ['image', 'npm', 'chart'],
    ]);
  });

  it('build the image for two architectures with provenance and SBOM, and sign it', () => {
    const { steps: imageSteps = [] } = workflow('release.yml').jobs['image'] ?? {};
    const build = imageSteps.find(({ uses }) => uses?.startsWith('docker/build-push-action@'));
    expect(build?.with).toMatchObject({
      platforms: 'linux/amd64,linux/arm64',
      push: true,
      provenance: 'mode=max',
      sbom: true,
      'build-args': expect.stringContaining('REVISION=${{ github.sha }}'),
    });
    expect(imageSteps.at(-1)?.run).toMatch(/^cosign sign --yes --recursive "\$IMAGE"$/);
  });

  it('publish the chart to the address in the documentation', () => {
    const { steps: chartSteps = [] } = workflow('release.yml').jobs['chart'] ?? {};
    expect(chartSteps.at(-1)?.env).toEqual({ CHARTS: 'ghcr.io/${{ github.repository_owner }}/charts' });
    expect(readProjectFile('docs/deployment.md')).toContain('oci://ghcr.io/bridge-exporter/charts/bridge-exporter');
  });
});
