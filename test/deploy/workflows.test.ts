import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { projectPath, readProjectFile, readProjectYaml } from '../support/project-files.js';
import { hasTool, runTool } from '../support/tools.js';

const FOLDER = '.github/workflows';
const files = readdirSync(projectPath(FOLDER)).map((name) => `${FOLDER}/${name}`);

interface Step {
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: { readonly node: readonly string[] } };
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
  it.skipIf(!hasTool('actionlint', ['-version']))('pass actionlint', () => {
    expect(runTool('actionlint', ['-no-color', ...files.map(projectPath)])).toEqual({ status: 0, output: '' });
    const invalid = readProjectFile(`${FOLDER}/ci.yml`).replace('${{ matrix.node }}', '${{ matrix.nodes }}');
    expect(runTool('actionlint', ['-no-color', '-'], invalid).output).toMatch(/property "nodes" is not defined/);
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
    const [, list = ''] = /Every change is tested with (.*?)\. /.exec(readProjectFile('docs/deployment.md')) ?? [];
    expect(list.match(/(?<![\d.])\d+(?![\d.])/g)).toEqual(tested.map((version) => version.replace(/\..*/, '')));
  });

  it('keep no credentials in the checkout', () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts.length).toBeGreaterThan(4);
    expect(checkouts.filter((step) => step.with?.['persist-credentials'] !== false)).toEqual([]);
  });
});
