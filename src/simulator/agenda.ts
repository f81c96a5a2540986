import type { Block } from './block.js';
import type { Random } from './random.js';
import type { Rules } from './scenarios.js';

/** Does what is due, in the first block since then, and returns when it is due again; Infinity: never. */
export type Task = (dueMs: number, block: Block, rules: Rules) => number;

/** What happens next and when. Blocks in which nothing is due can be skipped. */
export class Agenda {
  readonly #entries: { dueMs: number; readonly task: Task }[] = [];

  add(dueMs: number, task: Task): void {
    this.#entries.push({ dueMs, task });
  }

  get nextMs(): number {
    let next = Infinity;
    for (const { dueMs } of this.#entries) if (dueMs < next) next = dueMs;
    return next;
  }

  /** Does everything that is due by the time of the block, in the order of the due times. */
  run(block: Block, rules: Rules): void {
    for (let dueMs = this.nextMs; dueMs <= block.timeMs; dueMs = this.nextMs) {
      const entry = this.#entries.find((candidate) => candidate.dueMs === dueMs);
      if (entry !== undefined) entry.dueMs = entry.task(dueMs, block, rules);
    }
  }
}

/** Happens once. */
export function once(act: (block: Block, rules: Rules) => void): Task {
  return (_dueMs, block, rules) => {
    act(block, rules);
    return Infinity;
  };
}

/** Happens in a fixed rhythm, which it keeps when the hub makes no blocks for a while. */
export function every(periodMs: number, act: (block: Block, rules: Rules) => void): Task {
  return (dueMs, block, rules) => {
    act(block, rules);
    return dueMs + periodMs * (1 + Math.floor((block.timeMs - dueMs) / periodMs));
  };
}

/** Rates apply from 6 to 22 o'clock UTC, at night this share of them. */
const NIGHT_SHARE = 0.3;
/** After this time without an arrival, the rate is read again. */
const MAX_GAP_MS = 600_000;
const MINUTE_MS = 60_000;

/** A Poisson process with a rate per minute by day. */
export function atRandom(
  random: Random,
  ratePerMinute: (rules: Rules) => number,
  act: (dueMs: number, block: Block, rules: Rules) => void,
): Task {
  let arrives = false;
  return (dueMs, block, rules) => {
    if (arrives && random.chance(activityAt(dueMs))) act(dueMs, block, rules);
    const gapMs = random.exponential(MINUTE_MS / ratePerMinute(rules));
    arrives = gapMs <= MAX_GAP_MS;
    return dueMs + Math.min(gapMs, MAX_GAP_MS);
  };
}

function activityAt(timeMs: number): number {
  const hour = new Date(timeMs).getUTCHours();
  return hour >= 6 && hour < 22 ? 1 : NIGHT_SHARE;
}
