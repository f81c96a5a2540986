/** Events since the chain began, counted where they happen. Tests compare the flow of the exporter with them. */
export class EventCounts extends Map<string, bigint> {
  /** The key has the labels: `batches_canceled 0xa timeout`. */
  add(name: string, labels: readonly string[], by = 1n): void {
    const key = [name, ...labels].join(' ');
    this.set(key, (this.get(key) ?? 0n) + by);
  }
}
