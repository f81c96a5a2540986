import { accessSync, constants, readdirSync } from 'node:fs';
import { NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { describe, expect, it } from 'vitest';
import { pathOf, read, readYaml } from './files.js';

const FOLDER = '.github/workflows';
const files = readdirSync(pathOf(FOLDER)).map((name) => `${FOLDER}/${name}`);

/** What GitHub would say of a workflow. */
function problems(content: string): string[] {
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

const workflow = (name: string): Workflow => readYaml(`${FOLDER}/${name}`) as Workflow;
const jobs = files.flatMap((file) => Object.values((readYaml(file) as Workflow).jobs));
const steps = jobs.flatMap((job) => job.steps ?? []);

describe('the workflows', () => {
  it.each(files)('%s is one to GitHub', (file) => {
    expect(problems(read(file))).toEqual([]);
  });

  it.each([
    ['an unknown key', 'timeout-minutes: 60', 'timeout-minute: 60', /Unexpected value 'timeout-minute'/],
    ['a wrong type', 'fail-fast: false', 'fail-fast: [false]', /A sequence was not expected/],
    [
      'an expression of what is not there',
      '${{ matrix.node }}',
      '${{ matix.node }}',
      /Unrecognized named-value: 'matix'/,
    ],
  ])('would not pass with %s', (_what, right, wrong, message) => {
    const text = read(`${FOLDER}/ci.yml`);
    expect(text).toContain(right);
    expect(problems(text.replace(right, wrong))).toContainEqual(expect.stringMatching(message));
  });

  it('run what there is', () => {
    const scripts = steps.flatMap(({ run }) => run ?? []).filter((command) => command.startsWith('.ci/'));
    expect(scripts).toEqual(['.ci/run', '.ci/image']);
    for (const script of scripts) accessSync(pathOf(script), constants.X_OK);
  });

  it('use actions by their version', () => {
    const used = steps.flatMap(({ uses }) => uses ?? []);
    expect(used.length).toBeGreaterThan(4);
    expect(used.filter((action) => !/^(?:actions|docker)\/[\w-]+@v\d+$/.test(action))).toEqual([]);
  });

  it('may write nothing but the image of a release', () => {
    expect(files.map((file) => (readYaml(file) as Workflow).permissions)).toEqual(
      files.map(() => ({ contents: 'read' })),
    );
    expect(jobs.flatMap(({ permissions }) => (permissions === undefined ? [] : [permissions]))).toEqual([
      { contents: 'read', packages: 'write' },
    ]);
  });

  it('test on the oldest Node.js there may be, and on that of the image', () => {
    const [, oldest] = /"node": ">=(\d+)/.exec(read('package.json')) ?? [];
    const [, shipped] = /^FROM node:(\d+)\./m.exec(read('Dockerfile')) ?? [];
    expect(workflow('ci.yml').jobs['check']?.strategy?.matrix.node).toEqual([Number(oldest), Number(shipped)]);
  });

  it('release only what passes', () => {
    const { check, image } = workflow('release.yml').jobs;
    expect(check?.uses).toBe(`./${FOLDER}/ci.yml`);
    expect(image?.needs).toBe('check');
  });
});
