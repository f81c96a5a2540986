import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INVALID } from '../../src/json/field.js';
import { boolean, list, NO_ALIASES, number, object, readDocument, string } from '../../src/json/shapes.js';
import { fuzzRuns } from '../support/fuzz.js';

const coin = object({ id: number, name: string });
const row = object({ id: number, name: string, seen: boolean, tags: list(string), coin });
const shape = object({ a: number, b: string, rows: list(row), coin, inner: row });
const reader = shape.compile('', NO_ALIASES);

function read(json: string | Buffer, budgetBytes = Infinity) {
  return readDocument(reader, Buffer.from(json as string), budgetBytes);
}

/** Reference implementation: applies the shape to a parsed document. */
function referenceRead(json: unknown): unknown {
  const document = asObject(documentFields)(json);
  return document === INVALID ? undefined : document;
}

const coinFields = { id: asNumber, name: asString };
const rowFields = {
  ...coinFields,
  seen: asBoolean,
  tags: asList(asString),
  coin: asObject(coinFields),
};
const documentFields = {
  a: asNumber,
  b: asString,
  rows: asList(asObject(rowFields)),
  coin: asObject(coinFields),
  inner: asObject(rowFields),
};

function asObject(fields: Readonly<Record<string, (value: unknown) => unknown>>) {
  return (value: unknown): unknown => {
    if (!isObject(value)) return INVALID;
    return Object.fromEntries(
      Object.entries(fields).map(([name, convert]) => {
        const field = Object.hasOwn(value, name) ? value[name] : undefined;
        return [name, field === null || field === undefined ? undefined : convert(field)];
      }),
    );
  };
}

function asNumber(value: unknown): unknown {
  if (value === '') return undefined;
  const isDecimal = typeof value === 'string' && /^[+-]?\d+(\.\d+)?$/.test(value) && value.length <= 100;
  if (isDecimal) return Number(value);
  return typeof value === 'number' && Number.isFinite(value) ? value + 0 : INVALID;
}

function asString(value: unknown): unknown {
  return typeof value === 'string' ? value : INVALID;
}

function asBoolean(value: unknown): unknown {
  return typeof value === 'boolean' ? value : INVALID;
}

function asList(convert: (value: unknown) => unknown) {
  return (value: unknown) =>
    Array.isArray(value) ? value.map((entry: unknown) => (entry === null ? undefined : convert(entry))) : INVALID;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Converts all numbers to doubles, as JSON.parse does. */
function withDoubles(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withDoubles);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      ['id', 'a'].includes(name) && typeof field === 'string' ? Number(field) + 0 : withDoubles(field),
    ]),
  );
}

const key = fc.constantFrom(
  'a',
  'b',
  'rows',
  'inner',
  'id',
  'name',
  'seen',
  'tags',
  'coin',
  'other',
  '__proto__',
  'a"b',
  'ä',
);
const leaf = fc.oneof(
  fc.constantFrom('', '1', '-2.5', 'x', '1e5', 'a"\\\n\u2028', '😀', '\ud800'),
  fc.string({ unit: 'binary', maxLength: 5 }),
  fc.string({ unit: fc.constantFrom('a', '0', ' ', '"', '\\', '\n', '\u007f', 'é', '😀'), maxLength: 40 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('tree')), { maxLength: 6 }).map((entries) => new Entries(entries)),
  ),
}));

/** An object whose keys can repeat. */
class Entries {
  readonly entries: readonly (readonly [string, unknown])[];
  constructor(entries: readonly (readonly [string, unknown])[]) {
    this.entries = entries;
  }
}

const whitespace = fc.constantFrom('', '', '', ' ', '\n', '\t\r ');

/** Serializes a tree with unusual white space and optionally with all characters escaped. */
function serialize(value: unknown, pad: string, escape: boolean): string {
  if (value instanceof Entries) {
    const entries = value.entries.map(
      ([name, field]) => `${pad}${quote(name, escape)}${pad}:${serialize(field, pad, escape)}`,
    );
    return `{${entries.join(',')}${pad}}`;
  }
  if (Array.isArray(value)) return `[${value.map((entry) => pad + serialize(entry, pad, escape)).join(',')}${pad}]`;
  return pad + (typeof value === 'string' ? quote(value, escape) : JSON.stringify(value)) + pad;
}

function quote(value: string, escape: boolean): string {
  if (!escape) return JSON.stringify(value);
  const codes = Array.from({ length: value.length }, (_, index) => value.charCodeAt(index).toString(16));
  return `"${codes.map((code) => `\\u${code.padStart(4, '0')}`).join('')}"`;
}

describe('readDocument', () => {
  it('agrees with JSON.parse on random documents, including repeated keys', () => {
    const property = fc.property(tree, whitespace, fc.boolean(), (value, pad, escape) => {
      const json = serialize(value, pad, escape);
      const result = read(json);
      expect(result.ok).toBe(true);
      if (result.ok) expect(withDoubles(result.value)).toEqual(referenceRead(JSON.parse(json)));
    });
    fc.assert(property, { numRuns: fuzzRuns(1000) });
  });

  it('agrees with JSON.parse on the validity of damaged documents', () => {
    const change = fc.record({
      offset: fc.nat(),
      operation: fc.constantFrom('replace', 'remove', 'insert', 'truncate'),
      byte: fc.oneof(fc.constantFrom(...Buffer.from('{}[]",:\\0-+.eEtfn \n\u0001')), fc.nat({ max: 255 })),
    });
    const changes = fc.array(change, { minLength: 1, maxLength: 3 });
    const property = fc.property(tree, whitespace, changes, (value, pad, damage) => {
      let bytes = Buffer.from(serialize(value, pad, false));
      for (const { offset, operation, byte } of damage) {
        const index = bytes.length === 0 ? 0 : offset % bytes.length;
        const after =
          operation === 'truncate' ? Buffer.alloc(0) : bytes.subarray(operation === 'insert' ? index : index + 1);
        const added = operation === 'replace' || operation === 'insert' ? Buffer.from([byte]) : Buffer.alloc(0);
        bytes = Buffer.concat([bytes.subarray(0, index), added, after]);
      }
      const result = read(bytes);
      const parsed = parseStrictly(bytes);
      expect(result.ok).toBe(parsed.ok);
      if (result.ok && parsed.ok) expect(withDoubles(result.value)).toEqual(referenceRead(parsed.json));
    });
    fc.assert(property, { numRuns: fuzzRuns(2000) });
  });

  it('uses the last value of a repeated key and counts all invalid values', () => {
    const result = read('{"a":"x","a":"7","rows":[{"id":true}],"rows":[{"id":[],"id":"8"}]}');
    expect(result).toMatchObject({ ok: true, value: { a: 7, rows: [{ id: 8 }] } });
    expect(result.ok && [...result.problems.invalid]).toEqual([
      ['a', 1],
      ['rows[].id', 2],
    ]);
  });

  it('does not carry over fields of a document that fails', () => {
    expect(read('{"rows":[{"id":"1","name":"a"').ok).toBe(false);
    expect(read('{"rows":[{"id":"2"}]}')).toMatchObject({ value: { rows: [{ id: 2, name: undefined }] } });
  });

  it('keeps digits beyond the precision of doubles', () => {
    expect(read('{"a":12345678901234567890}')).toMatchObject({ value: { a: '12345678901234567890' } });
  });

  it.each<[string, RegExp]>([
    ['', /^empty body$/],
    ['<html>', /^not JSON: unexpected '<' at byte 0$/],
    ['{"a":"1"', /^not JSON: unexpected end at byte 8$/],
    ['{"a":"1"}x', /^not JSON: unexpected 'x' at byte 9$/],
    ['{"a":01}', /^not JSON: unexpected '1' at byte 6$/],
    ['["\u0000"]', /^not JSON: unexpected byte 0 at byte 2$/],
    ['{"a":tru}', /^not JSON: unexpected '}' at byte 8$/],
    ['[1,]', /^not JSON: unexpected ']' at byte 3$/],
  ])('reports the error and its offset: %j', (json, message) => {
    const result = read(json);
    expect(result.ok ? '' : result.message).toMatch(message);
  });

  it('skips nested values of any depth', () => {
    const deep = `${'[{"x":'.repeat(500_000)}1${'}]'.repeat(500_000)}`;
    expect(read(`{"other":${deep},"a":"1"}`)).toMatchObject({ value: { a: 1 } });
    expect(read(`{"a":${deep}}`)).toMatchObject({ value: { a: INVALID } });
    expect(read(`{"other":${deep.slice(0, -1)},"a":"1"}`)).toMatchObject({ ok: false });
  });

  it('fails if the values it reads, without skipped ones, exceed the memory budget', () => {
    const rows = `{"rows":[${'{},'.repeat(100_000)}{}]}`;
    expect(read(rows, 1024 * 1024)).toEqual({
      ok: false,
      reason: 'too_large',
      message: 'reading the document needs more than 1 MiB of memory',
    });
    expect(read(`{"b":"${'x'.repeat(2 * 1024 * 1024)}"}`, 1024 * 1024).ok).toBe(false);
    // 1e308 has 309 digits.
    const literals = (count: number) => `{"rows":[${'{"id":1e308},'.repeat(count)}{}]}`;
    expect(read(literals(1000), 1024 * 1024)).toMatchObject({ ok: true });
    expect(read(literals(3000), 1024 * 1024)).toMatchObject({ ok: false, reason: 'too_large' });
    expect(read(`{"other":${rows},"a":"1"}`, 1024)).toMatchObject({ value: { a: 1 } });
  });
});

function parseStrictly(bytes: Buffer): { readonly ok: true; readonly json: unknown } | { readonly ok: false } {
  try {
    return { ok: true, json: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) };
  } catch {
    return { ok: false };
  }
}
