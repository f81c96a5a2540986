import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Moment } from '../../src/clock.js';
import { demoConfig } from '../../src/commands/demo.js';
import { documents } from '../../src/documents.js';
import { createEngine } from '../../src/engine/engine.js';
import { initialState } from '../../src/engine/endpoint-state.js';
import { createJobs, type PollJob } from '../../src/engine/jobs.js';
import { createMemory, type EndpointMemory } from '../../src/engine/endpoint-memory.js';
import { PROBLEM_MEMORY_VERSION } from '../../src/problems/problem-memory.js';
import { problemKey } from '../../src/problems/problem.js';
import { problems } from '../../src/problems/problems.js';
import { enabledQueries } from '../../src/queries/node-queries.js';
import { createModel } from '../../src/simulator/model.js';
import { scenarios, type ScenarioName } from '../../src/simulator/scenarios.js';
import { createSimulatedNode } from '../../src/sources/simulated-node.js';

/* The shape of what a state file has: its keys and their kinds, in a golden file with the version of each part. */

const GOLDEN = fileURLToPath(new URL('golden/memory-shape.json', import.meta.url));
const START_SECONDS = 1_790_000_000;

/** A part of the memory that is forgotten alone, with the place of its version. */
interface Part {
  readonly version: number;
  readonly shape: Readonly<Record<string, string>>;
}

/** Ids of tokens, chains, validators and batches. */
const DYNAMIC_KEY = /^(?:\d|0x|hub1|zeta1)|[^\w.$-]|.{30}/;

/** Adds the path of each value below a value, with its kind. */
function addShape(shape: Map<string, Set<string>>, path: string, value: unknown): void {
  const isObject = typeof value === 'object' && value !== null;
  const kind = isObject ? (value instanceof Map ? 'map' : Array.isArray(value) ? 'list' : 'object') : typeof value;
  if (value === undefined) return;
  shape.set(path, (shape.get(path) ?? new Set()).add(value === null ? 'null' : kind));
  if (!isObject) return;
  const entries = value instanceof Map ? Array.from(value.values(), (each) => ['*', each]) : Object.entries(value);
  for (const [key, each] of entries) {
    addShape(shape, `${path}.${Array.isArray(value) || DYNAMIC_KEY.test(key) ? '*' : key}`, each);
  }
}

/** The memories of all documents in each scenario, which follow each other on one chain. */
async function simulatedMemories(): Promise<readonly EndpointMemory[]> {
  const model = createModel({ seed: 1, scenario: 'healthy', blockTimeMs: 30_000, startTime: START_SECONDS });
  let seconds = START_SECONDS;
  const now = (): Moment => ({ at: seconds, clockOffset: 0 });
  const engine = createEngine<PollJob>({ source: createSimulatedNode(model, now), now });
  engine.replace(
    createJobs(demoConfig('http://127.0.0.1:1', model)).map((job) => {
      const state = { ...initialState(job.context, seconds), queries: enabledQueries(job.context) };
      return { job, state };
    }),
  );
  const memories: EndpointMemory[] = [];
  // The main network is another chain.
  const names = (Object.keys(scenarios) as ScenarioName[]).filter((name) => name !== 'mainnet');
  for (const name of names) {
    model.setScenario(name);
    for (const passed of [600, 60]) {
      model.advanceTime(passed * 1000);
      seconds += passed;
      for (const { job } of engine.endpoints()) {
        // oxlint-disable-next-line no-await-in-loop -- polls follow each other
        const { settled } = await engine.poll(job);
        // oxlint-disable-next-line no-await-in-loop -- as above
        await settled;
      }
      memories.push(...engine.states().flatMap((state) => createMemory(state) ?? []));
    }
  }
  return memories;
}

function partsOf(memories: readonly EndpointMemory[]): Record<string, Part> {
  const parts = new Map<string, { readonly version: number; readonly shape: Map<string, Set<string>> }>();
  const add = (name: string, version: number, value: unknown): void => {
    const part = parts.get(name) ?? { version, shape: new Map() };
    parts.set(name, part);
    addShape(part.shape, '', value);
  };
  for (const { document, last, problems: ofProblems } of memories) {
    add(`last ${document}: memoryVersion in src/documents.ts`, documents[document].memoryVersion, last);
    const { remembered, ...rest } = ofProblems;
    add('problems: PROBLEM_MEMORY_VERSION in src/problems/problem-memory.ts', PROBLEM_MEMORY_VERSION, rest);
    for (const problem of problems) {
      const known = remembered.get(problemKey(problem));
      if (known === undefined) continue;
      const { mark, markWithoutLastDocument: _sameShape, version: _version, ...histories } = known;
      add('problems: PROBLEM_MEMORY_VERSION in src/problems/problem-memory.ts', PROBLEM_MEMORY_VERSION, { histories });
      if (problem.mark) add(`mark of ${problemKey(problem)}: version of its mark`, problem.mark.version, mark);
    }
  }
  return Object.fromEntries(
    Array.from(parts, ([name, { version, shape }]) => {
      const kinds = Array.from(shape, ([path, each]): [string, string] => [
        path,
        Array.from(each).toSorted().join('|'),
      ]);
      return [name, { version, shape: Object.fromEntries(kinds.toSorted(([a], [b]) => (a < b ? -1 : 1))) }];
    }),
  );
}

it('a part of a state file that has another shape has another version', async () => {
  const parts = partsOf(await simulatedMemories());
  const golden: Record<string, Part> = existsSync(GOLDEN) ? JSON.parse(readFileSync(GOLDEN, 'utf8')) : {};
  for (const [name, { version, shape }] of Object.entries(parts)) {
    const known = golden[name];
    if (known?.version !== version) continue;
    expect(
      shape,
      `A state file of the previous build would be read with the wrong shape. Raise the version of this part, then update the golden file with -u. Part: ${name}`,
    ).toEqual(known.shape);
  }
  await expect(`${JSON.stringify(parts, undefined, 2)}\n`).toMatchFileSnapshot(GOLDEN);
});
