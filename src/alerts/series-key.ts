import type { LabelValues } from '../metrics/family.js';

/** Labels that only name what another label identifies, such as `chain` beside `chain_id`: a name can change, and is not remembered. */
const NAMES = new Set(['name', 'chain', 'symbol']);

/** Identifies a series or a finding by its labels. */
export function seriesKey(of: string, labels: LabelValues): string {
  const identifying = Object.entries(labels).filter(([label]) => !NAMES.has(label));
  return JSON.stringify([of, Object.fromEntries(identifying)]);
}

/** Whether a key is of a series of this family. */
export function isSeriesOf(family: string, key: string): boolean {
  return key.startsWith(`[${JSON.stringify(family)},`);
}
