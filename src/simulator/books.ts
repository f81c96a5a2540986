/** What has happened on the bridge since the chain began, counted where it happens. For checking what is concluded from documents. */
export class Books extends Map<string, bigint> {
  /** A counter with labels has a name such as `batches_canceled 0xa timeout`. */
  count(name: string, labels: readonly string[], by = 1n): void {
    const key = [name, ...labels].join(' ');
    this.set(key, (this.get(key) ?? 0n) + by);
  }
}
