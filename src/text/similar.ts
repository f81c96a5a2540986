/* The name that was meant, for messages about an unknown one. */

/** A longer name is no typing error. */
const MAX_CHARACTERS = 100;
const MAX_CHANGES = 3;

/** The most similar one of some names: it has few changes, or contains the name. */
export function similarName(name: string, names: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  if (lower.length < 3 || lower.length > MAX_CHARACTERS) return undefined;
  const most = Math.min(MAX_CHANGES, Math.floor(lower.length / 3));
  const [best] = names
    .map((each) => ({ each, changes: changesBetween(lower, each.toLowerCase()) }))
    .filter(({ changes }) => changes <= most)
    .toSorted((a, b) => a.changes - b.changes);
  return best?.each ?? names.find((each) => lower.length > 3 && each.toLowerCase().includes(lower));
}

/** Number of characters to add, remove, replace, or exchange with the next one (optimal string alignment). */
function changesBetween(first: string, second: string): number {
  let [beforeLast, last]: [number[], number[]] = [[], Array.from({ length: second.length + 1 }, (_, index) => index)];
  for (let row = 1; row <= first.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= second.length; column += 1) {
      const isSame = first[row - 1] === second[column - 1];
      const isExchanged = first[row - 1] === second[column - 2] && first[row - 2] === second[column - 1];
      current[column] = Math.min(
        (current[column - 1] ?? 0) + 1,
        (last[column] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isExchanged && row > 1 ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[second.length] ?? 0;
}
