import { describe, expect, it } from 'vitest';
import { WRONG } from '../../src/chain/reading.js';
import { flag, isDocument, list, noProblems, number, object, text } from '../../src/chain/schema.js';

const neutral = { path: '/', fields: {}, values: {} };
const renamed = { path: '/', fields: { name: 'real_name' }, values: {} };
const shape = object({ name: text, size: number, seen: flag, rows: list(object({ size: number })) });

describe('reading a document by its shape', () => {
  it('takes values, and leaves missing ones undefined', () => {
    const read = shape.compile('doc', neutral)(
      { name: '', size: '', seen: null, rows: [{ size: '1' }, null] },
      noProblems(),
    );
    expect(read).toEqual({ name: '', size: undefined, seen: undefined, rows: [{ size: '1' }, undefined] });
  });

  it('marks what is of another kind, counts it by field and goes on', () => {
    const problems = noProblems();
    const json = { name: 1, size: {}, seen: 'yes', rows: [{ size: [] }, 5, { size: 'x' }, { size: '3' }] };
    expect(shape.compile('doc', neutral)(json, problems)).toEqual({
      name: WRONG,
      size: WRONG,
      seen: WRONG,
      rows: [{ size: WRONG }, WRONG, { size: WRONG }, { size: '3' }],
    });
    expect([...problems.invalid]).toEqual([
      ['doc.name', 1],
      ['doc.size', 1],
      ['doc.seen', 1],
      ['doc.rows[].size', 2],
      ['doc.rows[]', 1],
    ]);
  });

  it('an array is not an object and an object not a list', () => {
    const problems = noProblems();
    expect(shape.compile('doc', neutral)([], problems)).toBe(WRONG);
    expect(shape.compile('doc', neutral)({ rows: {} }, problems)).toMatchObject({ rows: WRONG });
  });

  it('reads by the names of the dialect and counts by those of the spec', () => {
    const problems = noProblems();
    const read = shape.compile('doc', renamed)({ real_name: 'a', name: 'b' }, problems);
    expect(read).toMatchObject({ name: 'a' });
    shape.compile('doc', renamed)({ real_name: 1 }, problems);
    expect([...problems.invalid.keys()]).toEqual(['doc.name']);
  });

  it('ignores unknown keys, however deep, and keys of the prototype', () => {
    const deep: unknown = JSON.parse(`{"extra":${'['.repeat(50_000)}${']'.repeat(50_000)},"__proto__":{"name":"x"}}`);
    expect(shape.compile('doc', neutral)(deep, noProblems())).toEqual({});
  });

  it('lists the fields it reads', () => {
    expect(shape.paths('')).toEqual(['name', 'size', 'seen', 'rows', 'rows[].size']);
    expect(list(text).paths('admins')).toEqual(['admins']);
  });

  it('knows the document by one of its keys', () => {
    expect(isDocument(shape, { size: null }, neutral)).toBe(true);
    expect(isDocument(shape, { code: 5, message: '' }, neutral)).toBe(false);
    expect(isDocument(shape, { name: 'x' }, renamed)).toBe(false);
    expect(isDocument(object({ constructor: text }), {}, neutral)).toBe(false);
  });
});
