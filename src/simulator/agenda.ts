import { MINUTE_MS, type Block } from './block.js';
import type { Random } from './random.js';
import type { Rules } from './scenarios.js';

/** Runs in the first block after its due time. */
export type Action = (block: Block, rules: Rules, dueMs: number) => void;

/** Acts, and returns the next due time; Infinity: never. */
type Task = (dueMs: number, block: Block, rules: Rules) => number;

/** Rates apply from 6 to 22 o'clock UTC, at night this share of them. */
const NIGHT_SHARE = 0.3;
/** After this time without an arrival, the rate is read again. */
const MAX_GAP_MS = 10 * MINUTE_MS;

/** Tasks by due time. A model skips blocks without a due task. */
export class Agenda {
  readonly #entries: { dueMs: number; readonly task: Task }[] = [];

  once(dueMs: number, act: Action): void {
    this.#add(dueMs, (_dueMs, block, rules) => {
      act(block, rules, dueMs);
      return Infinity;
    });
  }

  /** Repeats `act` every minute until it returns true. */
  until(dueMs: number, act: (block: Block) => boolean): void {
    this.#add(dueMs, (_dueMs, block) => (act(block) ? Infinity : block.timeMs + MINUTE_MS));
  }

  /** In a fixed rhythm, which it keeps when the hub makes no blocks for a while. */
  every(firstMs: number, periodMs: number, act: Action): void {
    this.#add(firstMs, (dueMs, block, rules) => {
      act(block, rules, dueMs);
      return dueMs + periodMs * (1 + Math.floor((block.timeMs - dueMs) / periodMs));
    });
  }

  /** A Poisson process with a rate per minute by day. */
  atRandom(startMs: number, random: Random, ratePerMinute: (rules: Rules) => number, act: Action): void {
    let arrives = false;
    this.#add(startMs, (dueMs, block, rules) => {
      if (arrives && random.chance(activityAt(dueMs))) act(block, rules, dueMs);
      const gapMs = random.exponential(MINUTE_MS / ratePerMinute(rules));
      arrives = gapMs <= MAX_GAP_MS;
      return dueMs + Math.min(gapMs, MAX_GAP_MS);
    });
  }

  #add(dueMs: number, task: Task): void {
    this.#entries.push({ dueMs, task });
  }

  get nextMs(): number {
    let next = Infinity;
    for (const { dueMs } of this.#entries) if (dueMs < next) next = dueMs;
    return next;
  }

  /** Runs the tasks that are due by the time of the block, in the order of their due times. */
  run(block: Block, rules: Rules): void {
    for (let dueMs = this.nextMs; dueMs <= block.timeMs; dueMs = this.nextMs) {
      const entry = this.#entries.find((candidate) => candidate.dueMs === dueMs);
      if (entry !== undefined) entry.dueMs = entry.task(dueMs, block, rules);
    }
  }
}

function activityAt(timeMs: number): number {
  const hour = new Date(timeMs).getUTCHours();
  return hour >= 6 && hour < 22 ? 1 : NIGHT_SHARE;
}
