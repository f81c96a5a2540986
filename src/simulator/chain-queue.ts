import type { LiveCctx } from './cctx.js';

/** What the signers have still to do on one external chain, in the order of its nonces. */
export class ChainQueue {
  #nextNonce: number;
  #pending: LiveCctx[] = [];
  #missed: LiveCctx[] = [];

  constructor(firstNonce: number) {
    this.#nextNonce = firstNonce;
  }

  get pending(): readonly LiveCctx[] {
    return this.#pending;
  }

  /** Below the lowest pending nonce and still not done. */
  get missed(): readonly LiveCctx[] {
    return this.#missed;
  }

  get lost(): number {
    return [...this.#pending, ...this.#missed].filter(({ isLost }) => isLost).length;
  }

  takeNonce(): number {
    this.#nextNonce += 1;
    return this.#nextNonce - 1;
  }

  add(cctx: LiveCctx): void {
    this.#pending.push(cctx);
  }

  findLost(): void {
    for (const cctx of [...this.#pending, ...this.#missed]) cctx.isLost = false;
  }

  /** Broadcasts what is signed and takes out what is finished. */
  step(nowSeconds: number): LiveCctx[] {
    for (const cctx of this.#missed) broadcastWhenDue(cctx, nowSeconds);
    for (const cctx of this.#pending) broadcastWhenDue(cctx, nowSeconds);
    return [...this.#finishMissed(nowSeconds), ...this.#finishInOrder(nowSeconds)];
  }

  /** Nonces finish in order, except that lost ones are passed over. */
  #finishInOrder(nowSeconds: number): LiveCctx[] {
    let passed = 0;
    for (const [position, cctx] of this.#pending.entries()) {
      if (cctx.isLost) continue;
      if (!isFinished(cctx, nowSeconds)) break;
      passed = position + 1;
    }
    if (passed === 0) return [];
    const done = this.#pending.splice(0, passed);
    this.#missed.push(...done.filter(({ isLost }) => isLost));
    return done.filter(({ isLost }) => !isLost);
  }

  #finishMissed(nowSeconds: number): LiveCctx[] {
    const finished = this.#missed.filter((cctx) => isFinished(cctx, nowSeconds));
    if (finished.length > 0) this.#missed = this.#missed.filter((cctx) => !finished.includes(cctx));
    return finished;
  }
}

function broadcastWhenDue(cctx: LiveCctx, nowSeconds: number): void {
  if (cctx.isBroadcast || cctx.isLost || nowSeconds < cctx.broadcastAtSeconds) return;
  cctx.isBroadcast = true;
  cctx.broadcastAtSeconds = nowSeconds;
}

function isFinished({ isBroadcast, broadcastAtSeconds, confirmationSeconds }: LiveCctx, nowSeconds: number): boolean {
  return isBroadcast && nowSeconds >= broadcastAtSeconds + confirmationSeconds;
}
