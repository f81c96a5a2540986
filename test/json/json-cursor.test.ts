import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EMPTY_TEXT } from '../../src/json/json-cursor.js';
import { readDocument } from '../../src/json/read-document.js';
import { required, INVALID } from '../../src/json/field.js';
import { flag, number, text, textPlace } from '../../src/chain/field-shapes.js';
import { inlined, list, object } from '../../src/json/object-shape.js';

const NEUTRAL = { path: '/', fields: {}, values: {} };
const coin = inlined({ id: number, name: text });
const row = object({ id: number, name: text, seen: flag, tags: list(text), coin });
const shape = object({ a: number, b: text, rows: list(row), coin, inner: row });

function readText(json: string | Buffer, memory = Infinity) {
  return readDocument(shape.compile('', NEUTRAL), Buffer.from(json as string), memory);
}

/** The same by JSON.parse: what the exporter's own reading has to agree with, for numbers in strings. */
function expected(json: unknown): unknown {
  return isObject(json) ? { ...pick(json, shapes.document), ...coinOf(json) } : undefined;
}

const shapes = {
  row: { id: asNumber, name: asText, seen: asFlag, tags: asList(asText) },
  document: { a: asNumber, b: asText, rows: asList((value) => asRow(value)), inner: (value: unknown) => asRow(value) },
};

function asRow(value: unknown): unknown {
  return isObject(value) ? { ...pick(value, shapes.row), ...coinOf(value) } : INVALID;
}

/** The fields of an object that stand in the one around it. */
function coinOf({ coin: own }: Readonly<Record<string, unknown>>) {
  const fields = isObject(own) ? pick(own, { id: asNumber, name: asText }) : undefined;
  const missing = own === null || own === undefined ? undefined : INVALID;
  return { 'coin.id': fields ? fields['id'] : missing, 'coin.name': fields ? fields['name'] : missing };
}

function pick(value: Readonly<Record<string, unknown>>, fields: Readonly<Record<string, (value: unknown) => unknown>>) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, read]) => {
      const inner = Object.hasOwn(value, name) ? value[name] : undefined;
      return [name, inner === null || inner === undefined ? undefined : read(inner)];
    }),
  );
}

function asNumber(value: unknown): unknown {
  if (value === '') return undefined;
  const isDecimal = typeof value === 'string' && /^[+-]?\d+(\.\d+)?$/.test(value) && value.length <= 100;
  if (isDecimal) return Number(value);
  return typeof value === 'number' && Number.isFinite(value) ? value + 0 : INVALID;
}

function asText(value: unknown): unknown {
  return typeof value === 'string' ? value : INVALID;
}

function asFlag(value: unknown): unknown {
  return typeof value === 'boolean' ? value : INVALID;
}

function asList(read: (value: unknown) => unknown) {
  return (value: unknown) =>
    Array.isArray(value) ? value.map((entry: unknown) => (entry === null ? undefined : read(entry))) : INVALID;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Numbers as doubles, to compare with what JSON.parse keeps. */
function doubles(read: unknown): unknown {
  if (typeof read !== 'object' || read === null) return read;
  if (Array.isArray(read)) return read.map(doubles);
  return Object.fromEntries(
    Object.entries(read).map(([name, value]) => [
      name,
      ['id', 'a', 'coin.id'].includes(name) && typeof value === 'string' ? Number(value) + 0 : doubles(value),
    ]),
  );
}

const known = ['a', 'b', 'rows', 'inner', 'id', 'name', 'seen', 'tags', 'coin'];
const key = fc.constantFrom(...known, 'coin.id', 'other', '__proto__', 'a"b', 'ä');
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

/** An object as a list of entries, so that a key can stand twice. */
class Entries {
  readonly entries: readonly (readonly [string, unknown])[];
  constructor(entries: readonly (readonly [string, unknown])[]) {
    this.entries = entries;
  }
}

const space = fc.constantFrom('', '', '', ' ', '\n', '\t\r ');

/** Writes a tree as JSON with odd white space and escapes. */
function written(value: unknown, pad: string, escape: boolean): string {
  if (value instanceof Entries) {
    const entries = value.entries.map(
      ([name, inner]) => `${pad}${quoted(name, escape)}${pad}:${written(inner, pad, escape)}`,
    );
    return `{${entries.join(',')}${pad}}`;
  }
  if (Array.isArray(value)) return `[${value.map((inner) => pad + written(inner, pad, escape)).join(',')}${pad}]`;
  return pad + (typeof value === 'string' ? quoted(value, escape) : JSON.stringify(value)) + pad;
}

function quoted(value: string, escape: boolean): string {
  if (!escape) return JSON.stringify(value);
  return `"${Array.from({ length: value.length }, (_, index) => `\\u${value.charCodeAt(index).toString(16).padStart(4, '0')}`).join('')}"`;
}

describe('reading JSON from its bytes', () => {
  it('agrees with JSON.parse on documents of all kinds, also where keys repeat', () => {
    const property = fc.property(tree, space, fc.boolean(), (value, pad, escape) => {
      const json = written(value, pad, escape);
      const read = readText(json);
      expect(read.ok).toBe(true);
      if (read.ok) expect(doubles(read.document)).toEqual(expected(JSON.parse(json)));
    });
    fc.assert(property, { numRuns: 3000 });
  });

  it('agrees with JSON.parse on what is not JSON, one byte changed, left out or added', () => {
    const change = fc.record({
      at: fc.nat(),
      kind: fc.constantFrom('set', 'cut', 'add', 'end'),
      byte: fc.oneof(fc.constantFrom(...Buffer.from('{}[]",:\\0-+.eEtfn \n\u0001')), fc.nat({ max: 255 })),
    });
    const property = fc.property(
      tree,
      space,
      fc.array(change, { minLength: 1, maxLength: 3 }),
      (value, pad, changes) => {
        let bytes = Buffer.from(written(value, pad, false));
        for (const { at, kind, byte } of changes) {
          const index = bytes.length === 0 ? 0 : at % bytes.length;
          const rest = kind === 'end' ? Buffer.alloc(0) : bytes.subarray(kind === 'add' ? index : index + 1);
          const added = kind === 'set' || kind === 'add' ? Buffer.from([byte]) : Buffer.alloc(0);
          bytes = Buffer.concat([bytes.subarray(0, index), added, rest]);
        }
        const read = readText(bytes);
        const parsed = parsedStrictly(bytes);
        expect(read.ok).toBe(parsed.ok);
        if (read.ok && parsed.ok) expect(doubles(read.document)).toEqual(expected(parsed.json));
      },
    );
    fc.assert(property, { numRuns: 5000 });
  });

  it('counts the problems of the last of a repeated key only', () => {
    const read = readText('{"a":"x","a":"7","rows":[{"id":true},{"id":{},"id":false,"id":"x"}],"rows":[{"id":[]}]}');
    expect(read.ok && [...read.problems.invalid]).toEqual([['rows[].id', 1]]);
    expect(read).toMatchObject({ document: { a: 7, rows: [{ id: INVALID }] } });
  });

  it('knows where texts stand, empty ones all at one place', () => {
    const read = readDocument(list(textPlace).compile('', NEUTRAL), Buffer.from('["", "a", "\\u0041é", "", null, 1]'));
    if (!read.ok) throw new Error(read.error.message);
    const places = required(read.document);
    const texts = places.map((place) => (typeof place === 'number' ? read.places.textAt(place) : place));
    expect(texts).toEqual(['', 'a', 'Aé', '', undefined, INVALID]);
    expect([places[0], places[3]]).toEqual([EMPTY_TEXT, EMPTY_TEXT]);
  });

  it('keeps digits a double would lose', () => {
    expect(readText('{"a":12345678901234567890}')).toMatchObject({ document: { a: '12345678901234567890' } });
  });

  it.each<[string, RegExp]>([
    ['', /^has an empty body$/],
    ['<html>', /^is not JSON: unexpected '<' at byte 0$/],
    ['{"a":"1"', /^is not JSON: it ends at byte 8, in the middle$/],
    ['{"a":"1"}x', /^is not JSON: unexpected 'x' at byte 9$/],
    ['{"a":01}', /^is not JSON: unexpected '1' at byte 6$/],
    ['["\u0000"]', /^is not JSON: unexpected byte 0 at byte 2$/],
    ['{"a":tru}', /^is not JSON: unexpected '}' at byte 8$/],
    ['[1,]', /^is not JSON: unexpected ']' at byte 3$/],
  ])('says of %j what is wrong and where', (json, message) => {
    const read = readText(json);
    expect(read.ok ? '' : read.error.message).toMatch(message);
  });

  it('passes nesting however deep, under known and unknown keys', () => {
    const deep = `${'[{"x":'.repeat(500_000)}1${'}]'.repeat(500_000)}`;
    expect(readText(`{"other":${deep},"a":"1"}`)).toMatchObject({ document: { a: 1 } });
    expect(readText(`{"a":${deep}}`)).toMatchObject({ document: { a: INVALID } });
    expect(readText(`{"other":${deep.slice(0, -1)},"a":"1"}`)).toMatchObject({ ok: false });
  });

  it('makes no more than its memory allows, and nothing of what it passes', () => {
    const rows = `{"rows":[${'{},'.repeat(100_000)}{}]}`;
    expect(readText(rows, 1024 * 1024)).toEqual({
      ok: false,
      error: { reason: 'too_large', message: 'takes more than 1MiB of memory to read' },
    });
    expect(readText(`{"b":"${'x'.repeat(2 * 1024 * 1024)}"}`, 1024 * 1024).ok).toBe(false);
    expect(readText(`{"other":${rows},"a":"1"}`, 1024)).toMatchObject({ document: { a: 1 } });
  });
});

function parsedStrictly(bytes: Buffer): { readonly ok: true; readonly json: unknown } | { readonly ok: false } {
  try {
    return { ok: true, json: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) };
  } catch {
    return { ok: false };
  }
}
