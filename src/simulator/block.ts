/** A block of the hub, and where the external chain is when the hub makes it. */
export interface Block {
  readonly height: number;
  readonly timeMs: number;
  /** Height of the external chain that the bridge leads to. */
  readonly externalHeight: number;
}

// The simulator imports nothing of the exporter that is tested with it.
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const EXTERNAL_BLOCK_MS = 12_000;

export interface TimeSpan {
  readonly fromMs: number;
  readonly untilMs: number;
}

interface BlockClockOptions {
  readonly firstHeight: number;
  readonly firstExternalHeight: number;
  readonly startMs: number;
  readonly blockTimeMs: number;
  /** The hub makes no blocks in this time. */
  readonly halt?: TimeSpan;
}

const NO_HALT: TimeSpan = { fromMs: 0, untilMs: 0 };

/** The blocks of a hub by time, so that a model can skip blocks without events. */
export class BlockClock {
  readonly #options: BlockClockOptions;
  #skippedExternalBlocks = 0;

  constructor(options: BlockClockOptions) {
    this.#options = options;
  }

  get blockTimeMs(): number {
    return this.#options.blockTimeMs;
  }

  /** The latest block at this time. */
  at(timeMs: number): Block {
    const { startMs, blockTimeMs } = this.#options;
    return this.#block(Math.floor((timeMs - startMs - this.#haltedMsBefore(timeMs)) / blockTimeMs));
  }

  /** The first block at or after this time. */
  from(timeMs: number): Block {
    const latest = this.at(timeMs);
    return latest.timeMs >= timeMs ? latest : this.after(latest, 1);
  }

  after({ height }: Block, blocks: number): Block {
    return this.#block(height - this.#options.firstHeight + blocks);
  }

  externalHeightAt(timeMs: number): number {
    const { firstExternalHeight, startMs } = this.#options;
    return firstExternalHeight + this.#skippedExternalBlocks + Math.floor((timeMs - startMs) / EXTERNAL_BLOCK_MS);
  }

  /** The external chain is ahead by this many blocks from now on. */
  skipExternalBlocks(blocks: number): void {
    this.#skippedExternalBlocks += blocks;
  }

  #block(index: number): Block {
    const { firstHeight, startMs, blockTimeMs, halt = NO_HALT } = this.#options;
    const timeWithoutHalt = startMs + index * blockTimeMs;
    const timeMs = timeWithoutHalt + (timeWithoutHalt > halt.fromMs ? halt.untilMs - halt.fromMs : 0);
    return {
      height: firstHeight + index,
      timeMs,
      externalHeight: this.externalHeightAt(timeMs),
    };
  }

  #haltedMsBefore(timeMs: number): number {
    const { fromMs, untilMs } = this.#options.halt ?? NO_HALT;
    return Math.min(Math.max(timeMs - fromMs, 0), untilMs - fromMs);
  }
}
