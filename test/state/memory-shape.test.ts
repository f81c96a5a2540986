import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Moment } from '../../src/clock.js';
import { demoConfig } from '../../src/commands/demo.js';
import { createEngine } from '../../src/engine/engine.js';
import { initialState } from '../../src/engine/endpoint-state.js';
import { createJobs, type PollJob } from '../../src/engine/jobs.js';
import { createMemory, MEMORY_VERSION, type EndpointMemory } from '../../src/engine/state-file.js';
import { enabledQueries } from '../../src/queries/node-queries.js';
import { createModel } from '../../src/simulator/model.js';
import { scenarios, type ScenarioName } from '../../src/simulator/scenarios.js';
import { createSimulatedNode } from '../../src/sources/simulated-node.js';

/* The shape of what a state file has: its keys and their kinds, in a golden file with its version. */

const GOLDEN = fileURLToPath(new URL('golden/memory-shape.json', import.meta.url));
const START_SECONDS = 1_790_000_000;

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

/** What each part of the memory has. The mark of each problem has another shape. */
function shapeOf(memories: readonly EndpointMemory[]): Record<string, Record<string, string>> {
  const parts = new Map<string, Map<string, Set<string>>>();
  const add = (name: string, value: unknown): void => {
    const part = parts.get(name) ?? new Map<string, Set<string>>();
    parts.set(name, part);
    addShape(part, '', value);
  };
  for (const { document, last, problems: ofProblems, ...endpoint } of memories) {
    add('endpoint', endpoint);
    add(`last ${document}`, last);
    const { remembered, ...rest } = ofProblems;
    add('problems', rest);
    for (const [key, { mark, candidate: _sameShape, ...histories }] of remembered) {
      add('problems', { histories });
      add(`mark of ${key}`, mark);
    }
  }
  return Object.fromEntries(
    Array.from(parts, ([name, shape]) => {
      const kinds = Array.from(shape, ([path, each]): [string, string] => [
        path,
        Array.from(each).toSorted().join('|'),
      ]);
      return [name, Object.fromEntries(kinds.toSorted(([a], [b]) => (a < b ? -1 : 1)))];
    }),
  );
}

it('a state file that has another shape has another version', async () => {
  const shape = shapeOf(await simulatedMemories());
  const golden = JSON.parse(readFileSync(GOLDEN, 'utf8')) as { version: number; shape: typeof shape };
  if (golden.version === MEMORY_VERSION) {
    expect(
      shape,
      'A state file of the previous build would be read with the wrong shape: raise MEMORY_VERSION in src/engine/state-file.ts, then update the golden file with -u.',
    ).toEqual(golden.shape);
  }
  expect(golden.version, 'MEMORY_VERSION rises only when the shape changes').toBeLessThanOrEqual(MEMORY_VERSION);
  await expect(`${JSON.stringify({ version: MEMORY_VERSION, shape }, undefined, 2)}\n`).toMatchFileSnapshot(GOLDEN);
});
