import type { Validator } from './validators.js';

/** Share of the blocks in the window that a validator has to sign. */
export const MIN_SIGNED_RATIO = 0.5;
const WINDOW_MS = 2 * 3_600_000;

interface Span {
  readonly from: number;
  /** The first height after it; `Infinity` while it lasts. */
  to: number;
}

/** Which blocks validators have signed (slashing module): a validator that misses too many of a window is jailed. */
export class SignedBlocks {
  readonly window: number;
  readonly #missed = new Map<Validator, Span[]>();
  readonly #startHeights = new Map<Validator, number>();
  #height = 0;

  constructor(blockTimeMs: number) {
    this.window = Math.round(WINDOW_MS / blockTimeMs);
  }

  /**
   * Whether the validator signs the blocks from this height on. Returns whether it has missed too many, which begins
   * its window anew.
   */
  sign(validator: Validator, signs: boolean, height: number): boolean {
    this.#height = height;
    const spans = this.#missed.get(validator) ?? [];
    const last = spans.at(-1);
    if (validator.isJailed) {
      this.#missed.delete(validator);
      this.#startHeights.set(validator, height);
    } else if (signs && last?.to === Infinity) last.to = height;
    else if (!signs && last?.to !== Infinity) this.#missed.set(validator, [...spans, { from: height, to: Infinity }]);
    return this.missed(validator) > this.window * (1 - MIN_SIGNED_RATIO);
  }

  missed(validator: Validator): number {
    const first = this.#height - this.window;
    const spans = this.#missed.get(validator) ?? [];
    return spans.reduce(
      (sum, { from, to }) => sum + Math.max(0, Math.min(to, this.#height) - Math.max(from, first)),
      0,
    );
  }

  startHeight(validator: Validator): number {
    return this.#startHeights.get(validator) ?? 0;
  }
}
