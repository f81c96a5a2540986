import type { Numeral } from '../chain/numeral.js';
import type { Field } from '../chain/fields.js';
import { LAST_SECONDS } from '../clock.js';
import { orNull, required } from './required-fields.js';
import { cleanText } from '../text/format.js';

/* Values of a document as label values, and as plain data: exact decimals, times and texts of limited length; `null` when unknown. */

/** Maximum number of characters of a free text, such as the error of a transaction. */
const MAX_TEXT_CHARACTERS = 300;

/** A required number as exact digits in canonical form. */
export function formatDecimal(value: Field<Numeral>): string {
  return String(required(value));
}

/** A number as exact digits in canonical form; `null` when it, or a required field, is missing or invalid. */
export function decimalOrNull(derive: () => Field<Numeral>): string | null {
  return orNull(() => formatDecimal(derive()));
}

/** Unix seconds as ISO 8601; `null` when unknown or out of range. */
export function isoTimeOrNull(derive: () => Numeral | undefined): string | null {
  return orNull(() => {
    const ms = Number(required(derive())) * 1000;
    return ms <= LAST_SECONDS * 1000 ? new Date(ms).toISOString() : undefined;
  });
}

/** A free text of the document on one line; `null` when missing or empty. */
export function freeTextOrNull(derive: () => string | undefined): string | null {
  return orNull(() => cleanText(derive() ?? '', MAX_TEXT_CHARACTERS) || undefined);
}

/** A string of the document, truncated like a label value; `null` when missing or empty. */
export function truncatedOrNull(derive: () => string | undefined): string | null {
  return orNull(() => toLabelValue(derive() ?? '') || undefined);
}

/** An amount in whole tokens or coins. */
export function inWholeUnits(amount: string | null, decimals: number): string | null {
  if (amount === null) return null;
  if (!/^-?\d+$/.test(amount)) return String(Number(amount) / 10 ** decimals);
  const [sign, digits] = amount.startsWith('-') ? ['-', amount.slice(1)] : ['', amount];
  const padded = digits.padStart(decimals + 1, '0');
  const fraction = padded.slice(padded.length - decimals).replace(/0+$/, '');
  return `${sign}${padded.slice(0, padded.length - decimals)}${fraction && '.'}${fraction}`;
}

/** Maximum length of a label value. Longer ids occur only in hostile documents, and are not remembered. */
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
