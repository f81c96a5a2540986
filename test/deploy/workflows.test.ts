import { NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { accessSync, constants, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { projectPath, readProjectFile, readProjectYaml } from '../support/project-files.js';

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
}

interface Job {
  readonly needs?: string;
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

  it('run existing executable scripts', () => {
    const scripts = steps.flatMap(({ run }) => run ?? []).filter((command) => command.startsWith('.ci/'));
    expect(scripts).toEqual(['.ci/run', '.ci/image']);
    for (const script of scripts) accessSync(projectPath(script), constants.X_OK);
  });

  it('use actions with a fixed major version', () => {
    const used = steps.flatMap(({ uses }) => uses ?? []);
    expect(used.length).toBeGreaterThan(4);
    expect(used.filter((action) => !/^(?:actions|docker)\/[\w-]+@v\d+$/.test(action))).toEqual([]);
  });

  it('have write permission only for the image of a release', () => {
    expect(files.map((file) => (readProjectYaml(file) as Workflow).permissions)).toEqual(
      files.map(() => ({ contents: 'read' })),
    );
    expect(jobs.flatMap(({ permissions }) => (permissions === undefined ? [] : [permissions]))).toEqual([
      { contents: 'read', packages: 'write' },
    ]);
  });

  it('test with the oldest supported Node.js and with that of the image', () => {
    const [, oldest] = /"node": ">=(\d+)/.exec(readProjectFile('package.json')) ?? [];
    const [, shipped] = /^FROM node:(\d+)\./m.exec(readProjectFile('Dockerfile')) ?? [];
    expect(workflow('ci.yml').jobs['check']?.strategy?.matrix.node).toEqual([Number(oldest), Number(shipped)]);
  });

  it('release an image only after all checks', () => {
    const { check, image } = workflow('release.yml').jobs;
    expect(check?.uses).toBe(`./${FOLDER}/ci.yml`);
    expect(image?.needs).toBe('check');
  });
});
