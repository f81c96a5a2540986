import { readFirings, joinFirings, type Firing } from './firings.js';
import { runPromtool } from './promtool.js';
import { readsMetric, type RuleFile } from './rule-files.js';
import { createSampleBuffer } from './samples.js';
import { testFile } from './test-file.js';

/** A set of rules files that is evaluated together. */
export interface RuleSet {
  readonly name: string;
  readonly files: readonly RuleFile[];
}

export interface BacktestResult {
  /** The first and the last evaluation; `undefined` for a recording without polls. */
  readonly range: { readonly fromMs: number; readonly toMs: number } | undefined;
  /** By rule set, in the order of their beginning. */
  readonly firings: readonly (readonly Firing[])[];
}

export interface Backtest {
  /** Adds a scrape. Times ascend by the step, and may leave out some. */
  readonly add: (exposition: string, timeMs: number) => Promise<void>;
  /** Evaluates what is left. */
  readonly finish: () => Promise<BacktestResult>;
}

export interface BacktestOptions {
  readonly stepMs: number;
  /** A longer window repeats less of the past before it, and takes more memory. */
  readonly windowMs: number;
}

/**
 * Evaluates rules over scrapes with promtool, window by window. Each window is evaluated with the past that its rules read, so that a
 * recording of any length takes the same memory.
 */
export function createBacktest(ruleSets: readonly RuleSet[], { stepMs, windowMs }: BacktestOptions): Backtest {
  const files = ruleSets.flatMap((set) => set.files);
  const lookbackMs = Math.max(0, ...files.map((file) => file.lookbackMs)) + 2 * stepMs;
  const isRead = memoize((name: string) =>
    files.some((file) => readsMetric(file, name.replace(/_(?:bucket|sum|count)$/, '')) || readsMetric(file, name)),
  );
  const buffer = createSampleBuffer(isRead, stepMs);
  const firings: Firing[][] = ruleSets.map(() => []);
  let firstMs: number | undefined;
  let lastMs = 0;
  let windowFromMs = 0;

  async function evaluate(toMs: number): Promise<void> {
    const window = buffer.since(windowFromMs - lookbackMs, toMs);
    const times = {
      originMs: window.fromMs,
      stepSeconds: stepMs / 1000,
      reportFrom: Math.round((windowFromMs - window.fromMs) / stepMs),
      lastSample: window.count - 1,
    };
    for (const [index, set] of ruleSets.entries()) {
      const content = testFile(window, {
        ...times,
        ruleFiles: set.files.map(({ path }) => path),
        groups: set.files.flatMap(({ groups }) => groups),
      });
      // oxlint-disable-next-line no-await-in-loop -- promtool takes as much memory as the window
      firings[index]?.push(...readFirings(await runPromtool(content), times));
    }
  }

  return {
    add: async (exposition, timeMs) => {
      if (firstMs === undefined) {
        firstMs = timeMs;
        windowFromMs = timeMs;
      }
      while (timeMs >= windowFromMs + windowMs) {
        // oxlint-disable-next-line no-await-in-loop -- one window after the other
        await evaluate(windowFromMs + windowMs - stepMs);
        windowFromMs += windowMs;
        buffer.dropBefore(windowFromMs - lookbackMs);
      }
      buffer.add(exposition, timeMs);
      lastMs = timeMs;
    },
    finish: async () => {
      if (firstMs === undefined) return { range: undefined, firings };
      await evaluate(lastMs);
      return {
        range: { fromMs: firstMs, toMs: lastMs },
        firings: firings.map((ofSet) => joinFirings(ofSet, stepMs)),
      };
    },
  };
}

function memoize(decide: (name: string) => boolean): (name: string) => boolean {
  const known = new Map<string, boolean>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const decided = decide(name);
    known.set(name, decided);
    return decided;
  };
}
