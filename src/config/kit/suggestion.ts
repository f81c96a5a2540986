/** What to write instead of an unknown word. */
export function suggestName(word: string, known: readonly string[]): string {
  const meant = closestMatch(word, known);
  return meant === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${meant}?`;
}

/** The candidate a mistyped word most likely meant; undefined when none is close. */
export function closestMatch(word: string, candidates: readonly string[]): string | undefined {
  const allowed = Math.max(1, Math.floor((word.length - 1) / 3));
  const ranked = candidates
    // A word of another length is no slip, and comparing a very long one would take long.
    .filter((candidate) => Math.abs(candidate.length - word.length) <= allowed)
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ distance }) => distance <= allowed)
    .toSorted((left, right) => left.distance - right.distance);
  return ranked[0]?.candidate;
}

/** Insertions, deletions and replacements of one letter, and swaps of two neighbours. */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= from.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const replaced = at(row - 1, column - 1) + (same ? 0 : 1);
      const inserted = Math.min(at(row - 1, column), at(row, column - 1)) + 1;
      rows[row]?.push(Math.min(replaced, inserted, swapped ? at(row - 2, column - 2) + 1 : Infinity));
    }
  }
  return at(from.length, to.length);
}
