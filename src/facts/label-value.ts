const MAX_LABEL_CHARACTERS = 128;

/**
 * Truncates a string to 128 characters and replaces lone surrogates. Rows are grouped by the result: two series with equal
 * labels would fail the scrape.
 */
export function toLabelValue(text: string): string {
  if (text.length <= MAX_LABEL_CHARACTERS && text.isWellFormed()) return text;
  // A character has at most two UTF-16 code units; truncating to these first keeps strings of megabytes cheap.
  const wellFormed = text.slice(0, 2 * MAX_LABEL_CHARACTERS).toWellFormed();
  return wellFormed.length <= MAX_LABEL_CHARACTERS
    ? wellFormed
    : Array.from(wellFormed).slice(0, MAX_LABEL_CHARACTERS).join('');
}
