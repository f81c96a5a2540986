import { describe, expect, it } from 'vitest';
import { INVALID } from '../../src/json/field.js';
import type { Dialect } from '../../src/chain/dialects.js';
import { JsonCursor } from '../../src/json/json-cursor.js';
import { flag, number, text } from '../../src/chain/field-shapes.js';
import { inlined, lastOf, list, object, recognized } from '../../src/json/object-shape.js';
import { emptyProblems, type FieldProblems, type Shape } from '../../src/json/shape.js';

const neutral = { path: '/', fields: {}, values: {} };
const renamed = { path: '/', fields: { name: 'real_name' }, values: {} };
const shape = object({ name: text, size: number, seen: flag, rows: list(object({ size: number })) });

function read<T>(form: Shape<T>, dialect: Dialect, json: unknown, problems: FieldProblems = emptyProblems()) {
  const body = Buffer.from(typeof json === 'string' ? json : JSON.stringify(json));
  return form.compile('doc', dialect)(new JsonCursor(body, Infinity, false), problems);
}

describe('reading a document by its shape', () => {
  it('takes values, and leaves missing ones undefined', () => {
    const found = read(shape, neutral, { name: '', size: '', seen: null, rows: [{ size: '1' }, null] });
    expect(found).toEqual({ name: '', size: undefined, seen: undefined, rows: [{ size: 1 }, undefined] });
  });

  it('marks what is of another kind, counts it by field and goes on', () => {
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

  it('takes the fields of an object into the one around it', () => {
    const form = object({ name: text, part: inlined({ size: number, name: text }) });
    const part = (json: unknown, problems = emptyProblems()) => {
      const found = read(form, renamed, { real_name: 'outer', part: json }, problems);
      return [found, [...problems.invalid]];
    };
    const outer = { name: 'outer' };
    expect(part({ size: '1', real_name: 'a' })).toEqual([{ ...outer, 'part.size': 1, 'part.name': 'a' }, []]);
    for (const missing of [{}, null, undefined]) expect(part(missing)).toEqual([outer, []]);
    expect(part(['1'])).toEqual([{ ...outer, 'part.size': INVALID, 'part.name': INVALID }, [['doc.part', 1]]]);
    expect(part({ size: 'x' })).toEqual([{ ...outer, 'part.size': INVALID }, [['doc.part.size', 1]]]);
    expect(form.paths('doc')).toEqual(['doc.name', 'doc.part.size', 'doc.part.name']);
  });

  it.each([
    [[{ size: '1' }, { size: '2' }], { size: 2 }, 0],
    [[{ size: 'x' }, { size: '2' }], { size: 2 }, 1],
    [[{ size: '1' }, null], undefined, 0],
    [[{ size: '1' }, 5], INVALID, 1],
    [[], null, 0],
    [null, undefined, 0],
    [{}, INVALID, 1],
  ])('of %j takes the last row and checks the others', (json, last, invalid) => {
    const problems = emptyProblems();
    expect(read(lastOf(object({ size: number })), neutral, json, problems)).toEqual(last);
    expect([...problems.invalid.values()]).toEqual(invalid === 0 ? [] : [invalid]);
  });

  it('an array is not an object and an object not a list', () => {
    const problems = emptyProblems();
    expect(read(shape, neutral, [], problems)).toBe(INVALID);
    expect(read(shape, neutral, { rows: {} }, problems)).toMatchObject({ rows: INVALID });
  });

  it('reads by the names of the dialect and counts by those of the spec', () => {
    const problems = emptyProblems();
    const found = read(shape, renamed, { real_name: 'a', name: 'b' }, problems);
    expect(found).toMatchObject({ name: 'a' });
    read(shape, renamed, { real_name: 1 }, problems);
    expect([...problems.invalid.keys()]).toEqual(['doc.name']);
  });

  it('ignores unknown keys, however deep, and keys of the prototype', () => {
    const deep = `{"extra":${'['.repeat(50_000)}${']'.repeat(50_000)},"__proto__":{"name":"x"}}`;
    expect(read(shape, neutral, deep)).toEqual({});
  });

  it('lists the fields it reads', () => {
    expect(shape.paths('')).toEqual(['name', 'size', 'seen', 'rows', 'rows[].size']);
    expect(list(text).paths('admins')).toEqual(['admins']);
  });

  it('knows the document by one of its keys', () => {
    expect(read(recognized(shape), neutral, { size: null })).toEqual({});
    expect(read(recognized(shape), neutral, { code: 5, message: '' })).toBeUndefined();
    expect(read(recognized(shape), renamed, { name: 'x' })).toBeUndefined();
    expect(read(recognized(object({ constructor: text })), neutral, {})).toBeUndefined();
  });
});
