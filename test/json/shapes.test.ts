import { describe, expect, it } from 'vitest';
import { INVALID } from '../../src/json/field.js';
import { JsonScanner } from '../../src/json/scanner.js';
import {
  boolean,
  emptyProblems,
  enumeration,
  interned,
  lazyString,
  list,
  number,
  object,
  objectWithKnownKey,
  string,
  type FieldProblems,
  type Shape,
  type WireNames,
} from '../../src/json/shapes.js';

const neutral: WireNames = { fields: {}, values: {} };
const renamed: WireNames = { fields: { name: 'real_name' }, values: { Real: 'Neutral' } };
const shape = object({ name: string, size: number, seen: boolean, rows: list(object({ size: number })) });

/** Reads a value, which is a JSON string or is serialized. */
function read<T>(target: Shape<T>, names: WireNames, json: unknown, problems: FieldProblems = emptyProblems()) {
  const body = Buffer.from(typeof json === 'string' ? json : JSON.stringify(json));
  return target.compile('doc', names)(new JsonScanner(body, Infinity), problems);
}

describe('object', () => {
  it('returns undefined for missing fields', () => {
    const value = read(shape, neutral, { name: '', size: '', seen: null, rows: [{ size: '1' }, null] });
    expect(value).toEqual({ name: '', size: undefined, seen: undefined, rows: [{ size: 1 }, undefined] });
  });

  it('marks values of the wrong type as invalid and counts them by field', () => {
    const problems = emptyProblems();
    const json = { name: 1, size: {}, seen: 'yes', rows: [{ size: [] }, 5, { size: 'x' }, { size: '3' }] };
    expect(read(shape, neutral, json, problems)).toEqual({
      name: INVALID,
      size: INVALID,
      seen: INVALID,
      rows: [{ size: INVALID }, INVALID, { size: INVALID }, { size: 3 }],
    });
    expect([...problems.invalid]).toEqual([
      ['doc.name', 1],
      ['doc.size', 1],
      ['doc.seen', 1],
      ['doc.rows[].size', 2],
      ['doc.rows[]', 1],
    ]);
  });

  it('rejects an array, and its list fields reject an object', () => {
    const problems = emptyProblems();
    expect(read(shape, neutral, [], problems)).toBe(INVALID);
    expect(read(shape, neutral, { rows: {} }, problems)).toMatchObject({ rows: INVALID });
  });

  it('reads wire names and counts problems by the names of the spec', () => {
    const problems = emptyProblems();
    expect(read(shape, renamed, { real_name: 'a', name: 'b' }, problems)).toMatchObject({ name: 'a' });
    read(shape, renamed, { real_name: 1 }, problems);
    expect([...problems.invalid.keys()]).toEqual(['doc.name']);
  });

  it('skips unknown keys with nested values of any depth, and keys of the prototype', () => {
    const deep = `{"extra":${'['.repeat(50_000)}${']'.repeat(50_000)},"__proto__":{"name":"x"}}`;
    expect(read(shape, neutral, deep)).toEqual({});
  });

  it('reads rows whose keys differ from the previous row in order, escaping or number', () => {
    const json =
      '[{"name":"a","size":"1"},{"size":"2","name":"b"},{ "name" : "c" },{"n\\u0061me":"d","x":1,"size":"4"}]';
    expect(read(list(shape), neutral, json)).toMatchObject([
      { name: 'a', size: 1 },
      { name: 'b', size: 2 },
      { name: 'c', size: undefined },
      { name: 'd', size: 4 },
    ]);
  });

  it('lists the paths of the fields it reads', () => {
    expect(shape.paths('')).toEqual(['name', 'size', 'seen', 'rows', 'rows[].size']);
    expect(list(string).paths('admins')).toEqual(['admins']);
  });
});

describe('recognizedObject', () => {
  it('is undefined if none of its keys is present', () => {
    const recognized = objectWithKnownKey(shape.fields);
    expect(read(recognized, neutral, { size: null })).toEqual({});
    expect(read(recognized, neutral, { code: 5, message: '' })).toBeUndefined();
    expect(read(recognized, renamed, { name: 'x' })).toBeUndefined();
    expect(read(objectWithKnownKey({ constructor: string }), neutral, {})).toBeUndefined();
  });
});

describe('a scalar shape', () => {
  it.each<[unknown, unknown]>([
    ['0', 0],
    ['999999999999999', 999_999_999_999_999],
    ['1000000000000000', '1000000000000000'],
    ['9'.repeat(30), '9'.repeat(30)],
    ['9'.repeat(31), '9'.repeat(31)],
    ['007', '007'],
    ['-1', '-1'],
    ['1.50', '1.50'],
    [5, '5'],
    [1e21, '1000000000000000000000'],
    ['', undefined],
    [null, undefined],
    ['x', INVALID],
    [true, INVALID],
    [{}, INVALID],
    [['1'], INVALID],
  ])('reads a number or marks it as invalid: %j', (json, value) => {
    expect(read(number, neutral, JSON.stringify(json))).toBe(value);
  });

  it('accepts only values of the type string or boolean', () => {
    expect(['""', '"é"', '1', 'true', 'null'].map((json) => read(string, neutral, json))).toEqual([
      '',
      'é',
      INVALID,
      INVALID,
      undefined,
    ]);
    expect(['false', '"true"', '1'].map((json) => read(boolean, neutral, json))).toEqual([false, INVALID, INVALID]);
  });

  it('decodes a lazyString on demand', () => {
    const values = read(list(lazyString), neutral, '["", "a", "\\u0041é", null, 1]');
    const decoded = Array.isArray(values)
      ? values.map((value) => (typeof value === 'object' ? value.decode() : value))
      : [];
    expect(decoded).toEqual(['', 'a', 'Aé', undefined, INVALID]);
    const isEmpty = Array.isArray(values) ? values.map((value) => typeof value === 'object' && value.isEmpty) : [];
    expect(isEmpty).toEqual([true, false, false, false, false]);
  });

  it('converts interned strings and marks other types as invalid', () => {
    const upper = interned((decoded) => decoded.toUpperCase());
    expect(['"ab"', '"ab"', '1', 'null'].map((json) => read(upper, neutral, json))).toEqual([
      'AB',
      'AB',
      INVALID,
      undefined,
    ]);
  });

  it('maps wire values and numbers of an enumeration, and counts unknown ones as other', () => {
    const problems = emptyProblems();
    const shapeOfEnum = enumeration(
      new Map([
        [0, 'Neutral'],
        [3, 'Done'],
      ]),
    );
    const values = ['"Neutral"', '"Real"', '3', '"Done"', '"New"', '7', 'null', 'true', '[]'].map((json) =>
      read(shapeOfEnum, renamed, json, problems),
    );
    expect(values).toEqual(['Neutral', 'Neutral', 'Done', 'Done', 'other', 'other', undefined, INVALID, INVALID]);
    expect([...problems.unknown]).toEqual([['doc', 2]]);
    expect([...problems.invalid]).toEqual([['doc', 2]]);
  });
});
