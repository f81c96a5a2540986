import { describe, expect, it } from 'vitest';
import { families } from '../../src/exposition/metrics-page.js';
import { recordReads } from '../metrics/recorded-reads.js';
import { specFields } from '../support/spec-fields.js';
import { notExported } from './not-exported.js';

/*
 * Every field of the spec is read by a metric, or listed with a reason in not-exported.ts. docs/coverage.md is
 * generated from here.
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

const specPaths = Object.entries(specFields).flatMap(([object, fields]) =>
  Object.entries(fields).map(([field, type]) => ({ key: `${object}.${field}`, object, field, type })),
);

describe('every field of the spec', () => {
  it('is either read by a metric, or listed with a reason in not-exported.ts', () => {
    const keys = specPaths.map(({ key }) => key);
    expect(keys.filter((key) => !metricsByField.has(key) && notExported[key] === undefined)).toEqual([]);
    expect(Object.keys(notExported).filter((key) => !keys.includes(key))).toEqual([]);
    const onlyByHash = (key: string): boolean => [...(metricsByField.get(key) ?? [])].join() === 'bridge_params_hash';
    expect(Object.keys(notExported).filter((key) => metricsByField.has(key) && !onlyByHash(key))).toEqual([]);
  });

  it('is read only by existing metrics', () => {
    const names = new Set(families.map(({ name }) => name));
    for (const metrics of metricsByField.values()) for (const name of metrics) expect(names).toContain(name);
  });
});

describe('docs/coverage.md', () => {
  it('lists every field of the spec', async () => {
    await expect(coverageReference()).toMatchFileSnapshot('../../docs/coverage.md');
  });
});

function coverageReference(): string {
  const sections = Object.keys(specFields).map((object) => {
    const rows = specPaths
      .filter((path) => path.object === object)
      .map(({ key, field, type }) => {
        const metrics = [...(metricsByField.get(key) ?? [])].map((name) => `\`${name}\``);
        const reason = notExported[key];
        const cell = [...(reason === undefined ? [] : [`not exported: ${reason}`]), ...shortList(metrics)].join('; ');
        return `| \`${field}\` | ${type} | ${cell} |`;
      });
    return `## ${object}\n\n| field | type | metrics |\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `# Coverage of the spec

Generated from the code by \`npm test -- -u\`. The tables list every field of the two documents, with the metrics that read it or the
reason why it is not exported.

${sections.join('\n')}`;
}

/** Limits the list for fields that many metrics read, such as the nonce of a validator set. */
function shortList(metrics: readonly string[]): string[] {
  const MAX_LISTED = 8;
  if (metrics.length === 0) return [];
  const more = metrics.length > MAX_LISTED ? ` and ${metrics.length - MAX_LISTED} more` : '';
  return [metrics.slice(0, MAX_LISTED).join(', ') + more];
}
