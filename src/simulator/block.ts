/** A block of the hub, and where the external chain is when the hub makes it. */
export interface Block {
  readonly height: number;
  readonly timeMs: number;
  /** Minutes since the previous block. */
  readonly elapsedMinutes: number;
  /** Height of the external chain that the bridge leads to. */
  readonly externalHeight: number;
}

export const EXTERNAL_BLOCK_MS = 12_000;

const MINUTE_MS = 60_000;
const FIRST_HEIGHT = 8_214_000;
const FIRST_EXTERNAL_HEIGHT = 21_380_000;

/** Produces the blocks of the hub at a fixed block time. */
export class BlockProducer {
  readonly #blockTimeMs: number;
  /** Time passed on the external chain. */
  #externalMs = 0;
  #latest: Block;

  constructor(seed: number, blockTimeMs: number, startMs: number) {
    this.#blockTimeMs = blockTimeMs;
    this.#latest = {
      height: FIRST_HEIGHT + (seed % 1000),
      timeMs: startMs,
      elapsedMinutes: blockTimeMs / MINUTE_MS,
      externalHeight: FIRST_EXTERNAL_HEIGHT,
    };
  }

  get latest(): Block {
    return this.#latest;
  }

  /** Makes the next block. The external chain jumps ahead by `extraExternalBlocks` besides the time that passes. */
  advance(extraExternalBlocks: number): Block {
    this.#externalMs += this.#blockTimeMs + extraExternalBlocks * EXTERNAL_BLOCK_MS;
    this.#latest = {
      ...this.#latest,
      height: this.#latest.height + 1,
      timeMs: this.#latest.timeMs + this.#blockTimeMs,
      externalHeight: FIRST_EXTERNAL_HEIGHT + Math.floor(this.#externalMs / EXTERNAL_BLOCK_MS),
    };
    return this.#latest;
  }
}
