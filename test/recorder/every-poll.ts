import { afterEach, beforeEach, expect, vi } from 'vitest';
import type { Config } from '../../src/config/config.js';
import { demoConfig } from '../../src/commands/demo.js';
import { respondTo, simulatedContractBody } from '../../src/sources/simulated-node.js';
import { createModel, type Model } from '../../src/simulator/model.js';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { readRecording } from '../../src/recorder/read-recording.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import { replay } from '../../src/sources/recording.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startRecordedLoop, type RecordedLoop, type Respond } from './recorded-loop.js';

/* Recordings of every poll of a simulated chain, by a daemon on simulated clocks. */

export const POLL_MS = 30_000;

/** In all tests of the file, or of the `describe` in which it is called. */
export function useSimulatedTime(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    // Without jitter.
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
}

export interface RecordedChain {
  readonly model: Model;
  readonly config: Config;
  readonly directory: string;
  readonly daemon: RecordedLoop;
}

export async function startRecordedChain(
  scenario: ScenarioName = 'healthy',
  recorderIntervalMs = 0,
): Promise<RecordedChain> {
  const { path: directory } = createTempFolder();
  const model = createModel({ seed: 5, scenario, startTime: 1_790_000_000, blockTimeMs: 6_000 });
  const config = configOf(model, recorderIntervalMs);
  return {
    model,
    config,
    directory,
    daemon: await startRecordedLoop(config, directory, (path, request) => respondTo(model, path, request)),
  };
}

function configOf(model: Model, recorderIntervalMs: number): Config {
  const config = demoConfig('http://127.0.0.1:1317', model);
  return {
    ...config,
    targets: config.targets.map(({ bridge, ...target }) => ({
      ...target,
      ...(bridge && {
        bridge: { ...bridge, ...(bridge.external && { external: { ...bridge.external, interval: POLL_MS } }) },
      }),
    })),
    poll: { ...config.poll, interval: POLL_MS, timeout: 20_000, stale_after: 300_000 },
    recorder: { ...config.recorder, interval: recorderIntervalMs },
  };
}

export const answerOf =
  (model: Model): Respond =>
  (document, { hubSide }, at) => {
    if (document === 'external_contract') {
      const received = simulatedContractBody({ hubSide }, model, at.at);
      return received && { body: received.bytes, call: received.additionalInput?.call, height: undefined };
    }
    const body = document === 'module_state' ? model.moduleState() : model.rateLimiterInput({ window: 500n });
    return { body: Buffer.from(JSON.stringify(body)), height: model.height };
  };

/** The expositions of the replayed polls, by document. */
async function replayed(directory: string, config: Config): Promise<Map<string, string[]>> {
  vi.useRealTimers();
  const texts = new Map<string, string[]>();
  const problems: string[] = [];
  const polls = new Map<string, number | undefined>();
  const exchanges = readRecording(directory, {
    fromMs: -Infinity,
    toMs: Infinity,
    maxBodyBytes: 2 ** 26,
    onProblem: (message) => void problems.push(message),
  });
  // Without a step at the time of a poll.
  const range = { fromMs: -Infinity, toMs: Infinity, stepMs: 7 * 86_400_000 };
  for await (const { endpoints, isStep, now } of replay(exchanges, config, range)) {
    const states = endpoints.map(({ state }) => state);
    const [document] = states.map((state) => state.document);
    if (isStep || document === undefined) continue;
    // The first document of a process steps twice.
    const before = (texts.get(document) ?? []).slice(0, polls.get(document) === states[0]?.polls ? -1 : undefined);
    polls.set(document, states[0]?.polls);
    texts.set(document, [...before, renderEndpoints(states, 'openmetrics', now)]);
  }
  expect(problems).toEqual([]);
  return texts;
}

export const withText = (texts: Map<string, string[]>, polled: Map<string, string>): void => {
  for (const [document, text] of polled) texts.set(document, [...(texts.get(document) ?? []), text]);
};

/** Expects that each replayed poll has the series that were exported. */
export async function expectReplay(
  directory: string,
  config: Config,
  exported: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const texts = await replayed(directory, config);
  const counts = (all: ReadonlyMap<string, readonly string[]>): Record<string, number> =>
    Object.fromEntries(Array.from(all, ([document, { length }]) => [document, length]));
  expect(counts(texts)).toEqual(counts(exported));
  for (const [document, expected] of exported) {
    for (const [index, text] of expected.entries())
      expect(texts.get(document)?.[index], `${document} ${index}`).toBe(text);
  }
}

/** Polls a scenario, and expects that the replay is what was exported. Returns the expositions of the bridge and of its contract. */
export async function expectExactReplay(
  scenario: ScenarioName,
  polls: number,
): Promise<{ readonly bridge: readonly string[]; readonly contract: readonly string[] }> {
  // Only a chain that starts in the scenario mainnet can be in it.
  const initial = scenario === 'mainnet' ? scenario : 'healthy';
  const { model, config, directory, daemon } = await startRecordedChain(initial);
  const exported = new Map<string, string[]>();
  for (let poll = 0; poll < polls; poll += 1) {
    if (poll === 3) model.setScenario(scenario);
    // oxlint-disable-next-line no-await-in-loop -- polls follow each other
    withText(exported, await daemon.poll(answerOf(model)));
    daemon.advance(POLL_MS);
    model.advanceTime(POLL_MS);
  }
  await daemon.close();
  expect(exported.get('module_state')).toHaveLength(polls);
  await expectReplay(directory, config, exported);
  const textsOf = (document: string): readonly string[] => exported.get(document) ?? [];
  return { bridge: textsOf('module_state'), contract: textsOf('external_contract') };
}
