/** What has happened on the bridge since the chain began, counted where it happens. For checking what is concluded from documents. */
export class Books {
  readonly #counts = new Map<string, bigint>();

  /** Names of counters with labels, such as `batches_canceled 0xa timeout`. */
  get counts(): ReadonlyMap<string, bigint> {
    return this.#counts;
  }

  add(name: string, labels: readonly string[], by = 1n): void {
    const key = [name, ...labels].join(' ');
    this.#counts.set(key, (this.#counts.get(key) ?? 0n) + by);
  }
}
