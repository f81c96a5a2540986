import { describe, expect, it } from 'vitest';
import { INVALID } from '../../src/chain/field.js';
import {
  address,
  addressDataPart,
  boolean,
  chainId,
  enumeration,
  hasKnownField,
  list,
  numeral,
  object,
  string,
  type FieldSchema,
} from '../../src/chain/fields.js';

const aliases = { real_name: 'name', old_size: 'size', real_note: 'note' };
const shape = { name: string, size: numeral, seen: boolean, rows: list(object({ size: numeral }, { aliases })) };
const schema = object(shape, { aliases });

const valuesOf = (field: FieldSchema<unknown>, ...values: readonly unknown[]): unknown[] =>
  values.map((value) => field.parse(value));

describe('a scalar', () => {
  it('has a value of one type, is missing as null, and is INVALID otherwise', () => {
    expect(valuesOf(string, '', 'é', 1, true, [], {}, null, undefined)).toEqual([
      '',
      'é',
      INVALID,
      INVALID,
      INVALID,
      INVALID,
      undefined,
      undefined,
    ]);
    expect(valuesOf(boolean, false, true, 'true', 0, null)).toEqual([false, true, INVALID, INVALID, undefined]);
    expect(valuesOf(numeral, '7', 7, '', 'x', false, {}, null)).toEqual([
      7,
      '7',
      undefined,
      INVALID,
      INVALID,
      INVALID,
      undefined,
    ]);
  });

  it('is an address in lower case, of which only the data part is the same for all addresses of a validator', () => {
    expect(valuesOf(address, '0xAB', 'inj1QQQQ', 7, null)).toEqual(['0xab', 'inj1qqqq', INVALID, undefined]);
    const account = 'inj1qqqqcccccc';
    const operator = 'INJVALOPER1QQQQDDDDDD';
    expect(valuesOf(addressDataPart, account, operator, '0xAB', '', 7, null)).toEqual([
      'qqqq',
      'qqqq',
      '0xab',
      '',
      INVALID,
      undefined,
    ]);
  });

  it('is a chain id, of which an integer is its digits', () => {
    expect(valuesOf(chainId, '7000', '', 'injective-1', 7000, 0, -1, 1.5, true, null)).toEqual([
      '7000',
      '',
      'injective-1',
      '7000',
      '0',
      '-1',
      INVALID,
      INVALID,
      undefined,
    ]);
    expect(valuesOf(chainId, 1e21)).toEqual(['1000000000000000000000']);
  });
});

describe('an enumeration', () => {
  const status = enumeration(
    new Map([
      [0, 'Neutral'],
      [3, 'Done'],
    ]),
    { Real: 'Neutral' },
  );

  it('has its values by name, by alias and by number', () => {
    expect(valuesOf(status, 'Neutral', 'Real', 0, 3, 'Done')).toEqual([
      'Neutral',
      'Neutral',
      'Neutral',
      'Done',
      'Done',
    ]);
  });

  it('is `other` for a value that is unknown, and INVALID for another type', () => {
    expect(valuesOf(status, 'New', 7, '3', 'neutral', '', 'constructor', '__proto__')).toEqual(
      Array.from({ length: 7 }, () => 'other'),
    );
    expect(valuesOf(status, true, [], {}, null)).toEqual([INVALID, INVALID, INVALID, undefined]);
  });
});

describe('a list', () => {
  it('has missing and INVALID rows beside the others', () => {
    expect(list(numeral).parse(['1', null, 'x', 2])).toEqual([1, undefined, INVALID, '2']);
    expect(list(object({ a: string })).parse([{ a: 'x' }, null, 5, [], 'x'])).toEqual([
      { a: 'x' },
      undefined,
      INVALID,
      INVALID,
      INVALID,
    ]);
  });

  it('is INVALID as another type, and missing as null', () => {
    expect(valuesOf(list(string), {}, 'x', 0, false, null, undefined, [])).toEqual([
      INVALID,
      INVALID,
      INVALID,
      INVALID,
      undefined,
      undefined,
      [],
    ]);
  });
});

describe('an object', () => {
  it('has undefined for missing fields', () => {
    expect(schema.parse({ name: '', size: '', seen: null, rows: [{ size: '1' }, null] })).toEqual({
      name: '',
      size: undefined,
      seen: undefined,
      rows: [{ size: 1 }, undefined],
    });
    expect(schema.parse({})).toEqual({});
  });

  it('has INVALID for fields of another type', () => {
    expect(
      schema.parse({ name: 1, size: {}, seen: 'yes', rows: [{ size: [] }, 5, { size: 'x' }, { size: '3' }] }),
    ).toEqual({
      name: INVALID,
      size: INVALID,
      seen: INVALID,
      rows: [{ size: INVALID }, INVALID, { size: INVALID }, { size: 3 }],
    });
  });

  it('is INVALID as another type, and missing as null', () => {
    expect(valuesOf(schema, [], [{ name: 'a' }], 'x', 0, null, undefined)).toEqual([
      INVALID,
      INVALID,
      INVALID,
      INVALID,
      undefined,
      undefined,
    ]);
  });

  it('has no keys of the document that are no fields, and none of the prototype', () => {
    expect(schema.parse(JSON.parse('{"extra":[{}],"__proto__":{"name":"x"},"size":"1"}'))).toEqual({ size: 1 });
    const value = object({ constructor: string, size: numeral }).parse({ size: '1' });
    expect(value).not.toBe(INVALID);
    expect(Reflect.get(Object(value), 'size')).toBe(1);
  });

  it('has fields by their name or by an alias', () => {
    expect(schema.parse({ name: 'a', size: '1' })).toMatchObject({ name: 'a', size: 1 });
    expect(schema.parse({ real_name: 'a', size: '1' })).toEqual({ name: 'a', size: 1 });
    expect(schema.parse({ old_size: '1', rows: [{ old_size: '2' }, { size: '3' }] })).toEqual({
      size: 1,
      rows: [{ size: 2 }, { size: 3 }],
    });
  });

  it.each([
    ['{"name":"spec","real_name":"alias","old_size":"2","size":"1"}', { name: 'spec', size: 1 }],
    ['{"real_name":"alias","name":"spec","size":"1","old_size":"2"}', { name: 'spec', size: 1 }],
    ['{"name":null,"real_name":"alias","size":"","old_size":"2"}', { name: undefined, size: undefined }],
    ['{"real_name":"alias","name":null,"old_size":"2","size":{}}', { name: undefined, size: INVALID }],
    ['{"name":"spec","real_name":1,"old_size":[],"size":"1"}', { name: 'spec', size: 1 }],
    ['{"real_name":"first","old_size":"2","real_name":"last"}', { name: 'last', size: 2 }],
    ['{"real_name":null,"old_size":"x"}', { name: undefined, size: INVALID }],
  ])('uses the name of the spec when an alias occurs, too: %s', (json, values) => {
    const rows = list(schema).parse(JSON.parse(`[${json},${json},{"real_name":"alias","old_size":"3"}]`));
    expect(rows).toEqual([values, values, { name: 'alias', size: 3 }]);
  });

  it('leaves the document as it is', () => {
    const json = { real_name: 'a', rows: [{ old_size: '2' }] };
    const before = structuredClone(json);
    schema.parse(json);
    expect(json).toEqual(before);
  });

  it('is what it should be only with one of its fields, at least as null', () => {
    const known = (json: object): boolean => {
      const value = schema.parse(json);
      return typeof value === 'object' && hasKnownField(schema, value);
    };
    expect(known({ size: null })).toBe(true);
    expect(known({ real_name: 'x' })).toBe(true);
    expect(known({ code: 5, message: '' })).toBe(false);
    expect(known({ real_note: 'x' })).toBe(false);
    expect(known({})).toBe(false);
  });
});
