/** The number of runs of a property test: this many in `npm test`, four times as many in `.ci/run`, 500 times as many in `npm run fuzz`. */
export function fuzzRuns(count: number): number {
  return count * Number(process.env['FUZZ_FACTOR'] ?? 1);
}

/** Enough for these runs on a busy machine, in milliseconds. */
export function fuzzTimeoutMs(count: number): number {
  return 60_000 + 20 * fuzzRuns(count);
}
