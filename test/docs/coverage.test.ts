import { describe, expect, it } from 'vitest';
import { moduleStateDocument, rateLimiterInputDocument } from '../../src/documents.js';
import { families } from '../../src/exposition/exposition.js';
import { notExported } from './not-exported.js';
import { specFields } from '../support/spec-fields.js';

/*
 * What becomes of each field of the spec: the families that read it, or why there is none. docs/coverage.md is written from here.
 */

/** Fields of real nodes that the spec does not name; see the contract on event nonces. */
const BESIDE_THE_SPEC = new Set(['Attestation.claim.event_nonce']);

/** `Valset.nonce` → the families that read it. */
const readers = new Map<string, Set<string>>();

for (const [root, document] of [
  ['module_state', moduleStateDocument],
  ['rateLimiterInput', rateLimiterInputDocument],
] as const) {
  for (const { name, reads } of document.families) {
    for (const path of reads.filter((source) => !source.includes(' '))) {
      for (const field of fieldsRead(root, path)) readers.set(field, (readers.get(field) ?? new Set()).add(name));
    }
  }
}

/** The fields a path of the document reads: every one on its way, and all of an object that is read as a whole. */
function fieldsRead(root: string, path: string): string[] {
  const fields: string[] = [];
  let object = root;
  let isList = false;
  for (const step of path.split('.')) {
    const name = step.replace('[]', '');
    const type = specFields[object]?.[name];
    fields.push(`${object}.${name}`);
    if (type === undefined) {
      if (!BESIDE_THE_SPEC.has(`${object}.${name}`)) throw new Error(`${path}: the spec has no ${name} in ${object}`);
      return fields;
    }
    object = type.replace('[]', '');
    isList = type !== object;
  }
  const inside = isList ? {} : (specFields[object] ?? {});
  return [...fields, ...Object.keys(inside).map((name) => `${object}.${name}`)];
}

const specPaths = Object.entries(specFields).flatMap(([object, fields]) =>
  Object.entries(fields).map(([field, type]) => ({ key: `${object}.${field}`, object, field, type })),
);

describe('every field of the spec', () => {
  it('is read by a family, or has a reason why not, and not both', () => {
    const keys = specPaths.map(({ key }) => key);
    expect(keys.filter((key) => !readers.has(key) && notExported[key] === undefined)).toEqual([]);
    expect(Object.keys(notExported).filter((key) => !keys.includes(key))).toEqual([]);
    const onlyByHash = (key: string): boolean => [...(readers.get(key) ?? [])].join() === 'bridge_params_hash';
    expect(Object.keys(notExported).filter((key) => readers.has(key) && !onlyByHash(key))).toEqual([]);
  });

  it('is named by families that exist', () => {
    const names = new Set(families.map(({ name }) => name));
    for (const told of readers.values()) for (const name of told) expect(names).toContain(name);
  });

  it('is a row of the table in the docs', async () => {
    await expect(coverageReference()).toMatchFileSnapshot('../../docs/coverage.md');
  });
});

function coverageReference(): string {
  const sections = Object.keys(specFields).map((object) => {
    const rows = specPaths
      .filter((path) => path.object === object)
      .map(({ key, field, type }) => {
        const told = [...(readers.get(key) ?? [])].map((name) => `\`${name}\``);
        const reason = notExported[key];
        const what = [...(reason === undefined ? [] : [`not exported: ${reason}`]), ...shortened(told)];
        return `| \`${field}\` | ${type} | ${what.join('; ')} |`;
      });
    return `## ${object}\n\n| field | type | families |\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `# Coverage of the spec

Written from the code by \`npm test -- -u\`: every field of the two documents, and the families that read it or why none does.

${sections.join('\n')}`;
}

/** A field that many families need, such as the nonce of a validator set, is not worth a list of them all. */
function shortened(told: readonly string[]): string[] {
  const MOST = 8;
  if (told.length === 0) return [];
  const more = told.length > MOST ? ` and ${told.length - MOST} more` : '';
  return [told.slice(0, MOST).join(', ') + more];
}
