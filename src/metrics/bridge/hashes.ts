import type { Field } from '../../json/field.js';
import { gauge } from '../family.js';
import { fingerprint } from '../fingerprint.js';
import { optional, required } from '../required-fields.js';
import type { BridgeFamily } from './input.js';

/** A canonical form: keys and lists are sorted, missing fields are null. */
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

/** Fingerprints of parameters and lists that rarely change, to alert on every change. */
export const hashFamilies: readonly BridgeFamily[] = [
  gauge({
    name: 'bridge_params_hash',
    help: 'First 48 bits of the SHA-256 of all parameters, to detect changes.',
    unit: 'first 48 bits of a SHA-256',
    value: ({ state }) => fingerprint(canonical(required(state.params))),
  }),
  gauge({
    name: 'bridge_external_blacklist_hash',
    help: 'First 48 bits of the SHA-256 of the blacklist, to detect changes.',
    unit: 'first 48 bits of a SHA-256',
    value: ({ state }) => fingerprint(canonical(required(state.external_blacklist))),
  }),
];
