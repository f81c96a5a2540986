import { type TargetProblem } from '../../src/engine/target-problems.js';
import type { Moment } from '../../src/clock.js';
import { demoConfig } from '../../src/commands/demo.js';
import { respondTo } from '../../src/sources/simulated-node.js';
import { answerQueries } from '../support/polls.js';
import type { Config } from '../../src/config/config.js';
import type { DocumentName } from '../../src/document-types.js';
import { exportedFamilies, initialState, type EndpointState } from '../../src/engine/endpoint-state.js';
import { createJobs } from '../../src/engine/jobs.js';
import { pollInput } from '../support/polls.js';
import { withMemory, type EndpointMemory } from '../../src/engine/state-file.js';
import { createModel, type Model, type ModelOptions } from '../../src/simulator/model.js';
import { formatPlainData } from '../../src/engine/state-file.js';
import { formatLines, parseFile } from '../../src/engine/state-file.js';
import { labelsOf, seriesOf } from '../support/exposition-text.js';
import { withLatestValsets } from '../problems/recording.js';
import { recordedStates } from '../support/endpoint-states.js';
import { readPoll } from '../support/steps.js';

/* The polls of a simulated chain by processes that follow each other, each with what the one before has written. */

export const START_SECONDS = 1_790_000_000;

const STALE_AFTER_MS = 300_000;
/** A shorter history makes polls several times faster. */
const VALSETS = 3;

/** A minute of the test. */
export const instantAt = (minute: number): Moment => ({
  at: START_SECONDS + minute * 60,
  clockOffset: 0,
});

/** As JSON and back, by two processes. */
export function written(memory: EndpointMemory, at: Moment): string {
  return formatLines([formatPlainData(memory)], at);
}
export function read(text: string): EndpointMemory {
  const file = parseFile(text);
  const [memory] = file.ok ? file.endpoints : [];
  if (memory === undefined) throw new Error('the file is invalid');
  return memory;
}

/** The state of an endpoint with what is read. */
export function restoredFrom(text: string, at: Moment): EndpointState {
  const remembered = read(text);
  return withMemory(
    initialState({ ...remembered, problemSettings: undefined, maxBodyBytes: 1, staleAfterMs: 1 }, at.at),
    remembered,
  );
}

export interface Chain {
  readonly model: Model;
  readonly advanceTo: (minute: number) => void;
}

export function createChain(options: Partial<ModelOptions> = {}): Chain {
  const model = createModel({ seed: 3, scenario: 'healthy', blockTimeMs: 6_000, startTime: START_SECONDS, ...options });
  let now = 0;
  return {
    model,
    advanceTo: (minute) => {
      model.advanceTime((minute - now) * 60_000);
      now = minute;
    },
  };
}

/** Without the contract and names of validators. */
function configOf(model: Model): Config {
  const config = demoConfig('http://127.0.0.1:1', model);
  const targets = config.targets.map(({ bridge, ...target }) => {
    if (bridge === undefined) return target;
    const { external: _, ...others } = bridge;
    return { ...target, bridge: others };
  });
  return { ...config, targets, poll: { ...config.poll, stale_after: STALE_AFTER_MS } };
}

export interface SimulatedProcess {
  /** Advances the chain to a minute and polls both documents. */
  readonly poll: (minute: number) => void;
  readonly all: () => readonly EndpointState[];
  readonly problems: (minute: number) => readonly TargetProblem[];
  /** The values of a family, by labels, of the documents of the last polls. */
  readonly values: (family: string, minute: number) => Readonly<Record<string, number>>;
  /** What is written when it ends, by document. */
  readonly end: (minute: number) => ReadonlyMap<DocumentName, string>;
}

export function startSimulatedProcess(
  { model, advanceTo }: Chain,
  startedMinute: number,
  texts: ReadonlyMap<DocumentName, string> = new Map(),
  change: (body: string) => string = (body) => body,
): SimulatedProcess {
  const jobs = createJobs(configOf(model));
  const sources = jobs.map(({ context }) => context);
  const limits = { maxBodyBytes: Infinity, staleAfterMs: STALE_AFTER_MS };
  const endpoints = recordedStates(sources, limits, instantAt(startedMinute), Array.from(texts.values(), read));
  const siblingOf = (document: DocumentName) => endpoints.states().find((own) => own.document === document);

  return {
    poll: (minute) => {
      const at = instantAt(minute);
      advanceTo(minute);
      for (const { context, paths } of jobs) {
        const { additionalInput } = pollInput(context, endpoints.stateOf(context), siblingOf, at);
        const body =
          context.document === 'module_state'
            ? withLatestValsets(model.moduleState(), VALSETS)
            : model.rateLimiterInput({ window: 500n });
        const received = {
          ok: true as const,
          bytes: Buffer.from(change(JSON.stringify(body))),
          source: context.document,
          height: String(model.height),
          receivedAt: at.at,
          additionalInput,
          servedPath: paths.find(({ dialect }) => dialect === 'neutral'),
        };
        endpoints.record(context, readPoll(received, context), at);
        endpoints.answer(context, (state) => answerQueries(context, state, (path) => respondTo(model, path), at));
      }
    },
    all: endpoints.states,
    problems: (minute) => endpoints.problems(instantAt(minute)).flatMap(({ problems }) => problems),
    values: (family, minute) =>
      Object.fromEntries(
        endpoints
          .states()
          .flatMap((state) => exportedFamilies(state, instantAt(minute).at))
          .filter(({ name }) => name === family)
          .flatMap(({ text }) => seriesOf(text))
          .map((series) => [Object.values(labelsOf(series)).join(' '), series.value]),
      ),
    end: (minute) =>
      new Map(endpoints.remembered().map((memory) => [memory.document, written(memory, instantAt(minute))])),
  };
}
