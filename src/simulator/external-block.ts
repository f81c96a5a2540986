import { EXTERNAL_BLOCK_MS } from './block.js';

/* What a reader of both chains asks for at a height. */

export interface ExternalBlock {
  readonly height: number;
  /** Unix seconds. */
  readonly seconds: number;
}

/** The supplies at the heights of the last module states that were served: a real node has those of all heights. */
export class ServedSupplies {
  #entries: readonly (readonly [height: number, supplies: ReadonlyMap<string, bigint>])[] = [];

  keep(height: number, bridge: { supplies(): ReadonlyMap<string, bigint> }): void {
    if (this.#entries.at(-1)?.[0] === height) return;
    this.#entries = [...this.#entries.slice(-KEPT_SUPPLIES), [height, bridge.supplies()]];
  }

  at(height: number): ReadonlyMap<string, bigint> | undefined {
    return this.#entries.find(([served]) => served === height)?.[1];
  }
}

const KEPT_SUPPLIES = 32;

/** The newest block of the external chain at a time; its blocks are 12 s apart. */
export function externalBlock(height: number, timeMs: number): ExternalBlock {
  return { height, seconds: Math.floor(timeMs / EXTERNAL_BLOCK_MS) * (EXTERNAL_BLOCK_MS / 1000) };
}
