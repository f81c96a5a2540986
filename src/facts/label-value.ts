/** Of a label value. Longer ids, only of hostile documents, are not remembered. */
export const MAX_ID_CHARACTERS = 128;

/** The label value of the series that aggregates the series above a limit. */
export const OTHER = 'other';

/**
 * Truncates a string to 128 characters and replaces lone surrogates. Rows are grouped by the result, because two series
 * with equal labels fail the scrape.
 */
export function toLabelValue(text: string): string {
  if (text.length <= MAX_ID_CHARACTERS && text.isWellFormed()) return text;
  // A character has at most two UTF-16 code units. Strings can have megabytes, and are truncated before they are
  // searched.
  const wellFormed = text.slice(0, 2 * MAX_ID_CHARACTERS).toWellFormed();
  return wellFormed.length <= MAX_ID_CHARACTERS
    ? wellFormed
    : Array.from(wellFormed).slice(0, MAX_ID_CHARACTERS).join('');
}
