import { toDouble } from '../chain/decimal.js';
import type { Numeral } from '../json/numeral.js';

/** The latest time with a year of four digits. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

/** Unix seconds as ISO 8601. */
export function isoTime(seconds: Numeral | undefined): string | undefined {
  if (seconds === undefined) return undefined;
  const ms = toDouble(seconds) * 1000;
  return ms <= LAST_MS ? new Date(ms).toISOString() : undefined;
}
