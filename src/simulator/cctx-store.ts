import { Books } from './books.js';
import { currentRow, type SimulatedCctx } from './cctx.js';
import type { Cctx } from './responses.js';

/** How a cctx ends. */
type FinalStatus = 'OutboundMined' | 'Reverted' | 'Aborted';

/** Of those whose outbound can fail, in percent. */
const FAILED_PERCENT = 4;
/** Days of normal traffic. */
const MAX_STORED = 20_000;

interface StoredCctx {
  readonly cctx: SimulatedCctx;
  /** Absent for one that has not ended. */
  readonly end?: { readonly status: FinalStatus; readonly seconds: number };
}

/** The cctxs that the hub still has but does not list: finished ones, and those of an earlier key. */
export class CctxStore {
  readonly books = new Books();
  readonly #cctxs = new Map<string, StoredCctx>();

  finish(cctxs: readonly SimulatedCctx[], seconds: number, endOf = finalStatus): void {
    for (const cctx of cctxs) {
      const status = endOf(cctx);
      this.#add({ cctx, end: { status, seconds } });
      this.books.add('cctxs_finished', [cctx.chain.id, status]);
    }
  }

  /** Cctxs that stay pending without being listed. */
  abandon(cctxs: readonly SimulatedCctx[]): void {
    for (const cctx of cctxs) this.#add({ cctx });
  }

  row(index: string, nowSeconds: number): Cctx | undefined {
    const stored = this.#cctxs.get(index);
    if (stored === undefined) return undefined;
    const { cctx, end } = stored;
    if (end === undefined) return currentRow(cctx, nowSeconds);
    const row = currentRow(cctx, end.seconds);
    const { status, seconds } = end;
    return { ...row, cctx_status: { ...row.cctx_status, status, lastUpdate_timestamp: String(seconds) } };
  }

  #add(stored: StoredCctx): void {
    this.#cctxs.set(stored.cctx.created.index, stored);
    const [oldest] = this.#cctxs.keys();
    if (this.#cctxs.size > MAX_STORED && oldest !== undefined) this.#cctxs.delete(oldest);
  }
}

/** The hub takes back an outgoing one that has failed, and aborts a revert that has failed. A share fails, which its index decides. */
function finalStatus({ direction, chain, created }: SimulatedCctx): FinalStatus {
  const hasFailed = chain.hasContracts && Number.parseInt(created.index.slice(-4), 16) % 100 < FAILED_PERCENT;
  if (direction === 'revert') return hasFailed ? 'Aborted' : 'Reverted';
  return hasFailed && direction === 'outgoing' ? 'Reverted' : 'OutboundMined';
}
