import { describe, expect, it } from 'vitest';
import { notExported } from '../../packaging/generate/not-exported.js';
import { recordReads } from '../facts/recorded-reads.js';
import { specFields } from '../../packaging/generate/spec-fields.js';

/*
 * Every field of the spec is read by a metric, or listed with a reason in not-exported.ts, from which the tables of contributing/coverage.md are
 * generated.
 */

/** Fields of real nodes that are not in the spec. */
const FIELDS_OUTSIDE_SPEC = new Set(
  ['@type', 'event_nonce', 'batch_nonce', 'token_contract', 'valset_nonce', 'members'].map(
    (name) => `Attestation.claim.${name}`,
  ),
);

/** The metrics that read a field such as `Valset.nonce`. */
const metricsByField = new Map<string, Set<string>>();

const specRoots = { module_state: 'module_state', rate_limiter_input: 'rateLimiterInput' } as const;

for (const { family, document, fields } of recordReads()) {
  // The contract has no fields of the spec.
  if (document === 'external_contract') continue;
  for (const field of fields.flatMap((path) => fieldsRead(specRoots[document], path))) {
    metricsByField.set(field, (metricsByField.get(field) ?? new Set()).add(family));
  }
}

/** The fields that a path of the document reads: all fields along the path, and all fields of an object at its end. */
function fieldsRead(root: string, path: string): string[] {
  const fields: string[] = [];
  let object = root;
  let isList = false;
  for (const step of path.split('.')) {
    const name = step.replace('[]', '');
    const type = specFields[object]?.[name];
    fields.push(`${object}.${name}`);
    if (type === undefined) {
      if (!FIELDS_OUTSIDE_SPEC.has(`${object}.${name}`))
        throw new Error(`${path}: the spec has no ${name} in ${object}`);
      return fields;
    }
    object = type.replace('[]', '');
    isList = type !== object;
  }
  const innerFields = isList ? {} : (specFields[object] ?? {});
  return [...fields, ...Object.keys(innerFields).map((name) => `${object}.${name}`)];
}

const keys = Object.entries(specFields).flatMap(([object, fields]) =>
  Object.keys(fields).map((field) => `${object}.${field}`),
);

describe('every field of the spec', () => {
  it('is either read by a metric, or listed with a reason in not-exported.ts', () => {
    expect(keys.filter((key) => !metricsByField.has(key) && notExported[key] === undefined)).toEqual([]);
    expect(Object.keys(notExported).filter((key) => !keys.includes(key))).toEqual([]);
    expect(Object.keys(notExported).filter((key) => metricsByField.has(key))).toEqual([]);
  });
});
