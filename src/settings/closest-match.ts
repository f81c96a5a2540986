/** `did you mean X?` if a candidate is similar to the unknown name, otherwise all candidates. */
export function suggestName(name: string, candidates: readonly string[]): string {
  const match = closestMatch(name, candidates);
  return match === undefined ? `expected one of ${candidates.join(', ')}` : `did you mean ${match}?`;
}

/** The candidate with the smallest edit distance to a misspelled name; `undefined` if none is similar. */
export function closestMatch(name: string, candidates: readonly string[]): string | undefined {
  const maxDistance = Math.max(1, Math.floor((name.length - 1) / 3));
  const ranked = candidates
    // The length is checked first, because the edit distance of a very long name takes long.
    .filter((candidate) => Math.abs(candidate.length - name.length) <= maxDistance)
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ distance }) => distance <= maxDistance)
    .toSorted((left, right) => left.distance - right.distance);
  return ranked[0]?.candidate;
}

/** Damerau–Levenshtein distance (optimal string alignment): insertions, deletions, replacements and swaps of neighbors. */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= from.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const replaced = at(row - 1, column - 1) + (isSame ? 0 : 1);
      const inserted = Math.min(at(row - 1, column), at(row, column - 1)) + 1;
      rows[row]?.push(Math.min(replaced, inserted, isSwapped ? at(row - 2, column - 2) + 1 : Infinity));
    }
  }
  return at(from.length, to.length);
}
