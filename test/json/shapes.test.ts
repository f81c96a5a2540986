import { describe, expect, it } from 'vitest';
import { INVALID } from '../../src/json/field.js';
import { JsonScanner, MemoryBudgetExceeded } from '../../src/json/scanner.js';
import {
  boolean,
  emptyProblems,
  enumeration,
  interned,
  list,
  number,
  object,
  string,
  MAX_UNRECOGNIZED_FIELDS,
  NO_ALIASES,
  type Aliases,
  type FieldProblems,
  type Shape,
} from '../../src/json/shapes.js';

const neutral = NO_ALIASES;
const aliases: Aliases = {
  fields: { real_name: 'name', old_size: 'size', real_note: 'note' },
  values: { Real: 'Neutral' },
};
const fields = { name: string, size: number, seen: boolean, rows: list(object({ size: number })) };
const shape = object(fields);

/** Reads a value, which is a JSON string or is serialized. */
function read<T>(target: Shape<T>, names: Aliases, json: unknown, problems: FieldProblems = emptyProblems()) {
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

  it('reads fields by their name or an alias, and counts problems by the name', () => {
    const problems = emptyProblems();
    expect(read(shape, aliases, { name: 'a', size: '1' })).toMatchObject({ name: 'a', size: 1 });
    expect(read(shape, aliases, { real_name: 'a', size: '1' })).toMatchObject({ name: 'a', size: 1 });
    expect(read(shape, aliases, { old_size: '1', rows: [{ old_size: '2' }, { size: '3' }] })).toMatchObject({
      size: 1,
      rows: [{ size: 2 }, { size: 3 }],
    });
    read(shape, aliases, { real_name: 1 }, problems);
    expect([...problems.invalid.keys()]).toEqual(['doc.name']);
  });

  it.each([
    ['{"name":"spec","real_name":"alias","old_size":"2","size":"1"}', { name: 'spec', size: 1 }],
    ['{"real_name":"alias","name":"spec","size":"1","old_size":"2"}', { name: 'spec', size: 1 }],
    ['{"name":null,"real_name":"alias","size":"","old_size":"2"}', { name: undefined, size: undefined }],
    ['{"real_name":"alias","name":null,"old_size":"2","size":{}}', { name: undefined, size: INVALID }],
    ['{"name":"spec","real_name":1,"old_size":[],"size":"1"}', { name: 'spec', size: 1 }],
    ['{"real_name":"first","old_size":"2","real_name":"last"}', { name: 'last', size: 2 }],
  ])('uses the name of the spec when an alias occurs too: %s', (json, values) => {
    expect(read(list(shape), aliases, `[${json},${json},{"real_name":"alias","old_size":"3"}]`)).toMatchObject([
      values,
      values,
      { name: 'alias', size: 3 },
    ]);
  });

  it('records the paths of keys that are neither read nor skipped by name', () => {
    const problems = emptyProblems();
    const note = object({ name: string, rows: list(object({ size: number }, ['note'])) }, ['note']);
    const row = { size: '1', note: {}, real_note: {}, sise: 1 };
    read(note, aliases, { name: 'a', note: { any: 1 }, real_note: 1, nmae: 'b', rows: [row, row] }, problems);
    expect([...problems.unrecognized]).toEqual(['doc.nmae', 'doc.rows[].sise']);
  });

  it('records no unrecognized keys of an object that can have any', () => {
    const problems = emptyProblems();
    expect(read(object({ name: string }, 'any'), neutral, { name: 'a', other: 1 }, problems)).toEqual({ name: 'a' });
    expect([...problems.unrecognized]).toEqual([]);
  });

  it('limits the number and the length of the unrecognized keys that it records', () => {
    const problems = emptyProblems();
    const keys = Array.from({ length: 100 }, (_, index) => [`${index}${'x'.repeat(1000)}`, 1]);
    read(shape, neutral, Object.fromEntries(keys), problems);
    expect(problems.unrecognized.size).toBe(MAX_UNRECOGNIZED_FIELDS);
    expect(Math.max(...Array.from(problems.unrecognized, (path) => path.length))).toBe('doc.'.length + 64);
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
    const recognized = object(fields, [], { needsKnownKey: true });
    expect(read(recognized, neutral, { size: null })).toEqual({});
    expect(read(recognized, neutral, { code: 5, message: '' })).toBeUndefined();
    expect(read(recognized, aliases, { real_name: 'x' })).toMatchObject({ name: 'x' });
    expect(read(object({ name: string }, ['note'], { needsKnownKey: true }), aliases, { note: 'x' })).toBeUndefined();
    expect(read(object({ constructor: string }, [], { needsKnownKey: true }), neutral, {})).toBeUndefined();
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

  it('converts interned strings and marks other types as invalid', () => {
    const upper = interned((decoded) => decoded.toUpperCase());
    expect(['"ab"', '"ab"', '1', 'null'].map((json) => read(upper, neutral, json))).toEqual([
      'AB',
      'AB',
      INVALID,
      undefined,
    ]);
  });

  it('converts an interned string once, unless it is long', () => {
    const converted: string[] = [];
    const lengths = interned((decoded) => {
      converted.push(decoded.slice(0, 3));
      return String(decoded.length);
    });
    const long = 'x'.repeat(1000);
    const json = ['abc', 'abd', 'abc', '', long, 'a\u0062c', long, ''];
    expect(read(list(lengths), neutral, json)).toEqual(['3', '3', '3', '0', '1000', '3', '1000', '0']);
    expect(converted).toEqual(['abc', 'abd', '', 'xxx', 'xxx']);
  });

  it('interns any number of strings', () => {
    const upper = interned((decoded) => decoded.toUpperCase());
    const many = Array.from({ length: 20_000 }, (_, index) => `validator-${index % 15_000}`);
    expect(read(list(upper), neutral, many)).toEqual(many.map((text) => text.toUpperCase()));
  });

  it('counts only the distinct interned strings against the memory budget', () => {
    const readStrings = (strings: readonly string[]) => () => {
      const scanner = new JsonScanner(Buffer.from(JSON.stringify(strings)), 20_000);
      return list(interned((decoded) => decoded)).compile('', neutral)(scanner, emptyProblems());
    };
    expect(readStrings(Array.from({ length: 1000 }, () => '0xabc'))()).toHaveLength(1000);
    expect(readStrings(Array.from({ length: 1000 }, (_, index) => `0x${index}`))).toThrow(MemoryBudgetExceeded);
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
      read(shapeOfEnum, aliases, json, problems),
    );
    expect(values).toEqual(['Neutral', 'Neutral', 'Done', 'Done', 'other', 'other', undefined, INVALID, INVALID]);
    expect([...problems.unknown]).toEqual([['doc', 2]]);
    expect([...problems.invalid]).toEqual([['doc', 2]]);
  });
});
