import { createHash } from 'node:crypto';
import type { Field } from '../chain/field.js';
import { optional } from './required-fields.js';

/** 48 bits are exact in a double. One of 10^14 changes goes undetected. */
const HEX_DIGITS = 12;

/** The first 48 bits of the SHA-256 of a value in canonical form, to detect changes. An invalid field withdraws the family. */
export function fingerprint(value: unknown): number {
  const digest = createHash('sha256')
    .update(JSON.stringify(canonical(value)))
    .digest('hex');
  return Number.parseInt(digest.slice(0, HEX_DIGITS), 16);
}

/** Keys and lists are sorted, missing fields are null. */
function canonical(field: Field<unknown>): unknown {
  const value = optional(field);
  if (value === undefined) return null;
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return sortedByJson(value.map(canonical));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, entry]) => [key, canonical(entry)]));
}

function sortedByJson(values: readonly unknown[]): readonly unknown[] {
  return values
    .map((value) => ({ value, json: JSON.stringify(value) }))
    .toSorted((a, b) => (a.json < b.json ? -1 : a.json > b.json ? 1 : 0))
    .map(({ value }) => value);
}
