import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import {
  INVALID,
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
const shape = { name: string, size: numeral, seen: boolean, rows: list(object({ size: numeral }, aliases)) };
const schema = object(shape, aliases);

const valuesOf = (field: FieldSchema, ...values: readonly unknown[]): unknown[] =>
  values.map((value) => field.parse(value));

describe('a scalar', () => {
  it('is an address in lower case, of which only the data part is the same for all addresses of a validator', () => {
    expect(valuesOf(address, '0xAB', 'inj1QQQQ', 7, null)).toEqual(['0xab', 'inj1qqqq', INVALID, undefined]);
    const account = 'inj1qqqqcccccc';
    const operator = 'INJVALOPER1QQQQDDDDDD';
    expect(valuesOf(addressDataPart, account, operator, '0xAB', 7)).toEqual(['qqqq', 'qqqq', '0xab', INVALID]);
  });

  it('is an address that is not kept in memory when it is long', () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = runInNewContext('gc');
    const heapBytes = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = heapBytes();
    for (let row = 0; row < 20; row += 1) {
      const text = `0x${row}A${'b'.repeat(2 ** 21)}`;
      expect([address, addressDataPart].map((field) => field.parse(text) === text.toLowerCase())).toEqual([true, true]);
    }
    expect(heapBytes() - before).toBeLessThan(2 ** 24);
  });

  it('is a chain id, of which an integer is its digits as long as they are exact', () => {
    expect(valuesOf(chainId, '7000', 'injective-1', 7000, -1, 1.5, true, null)).toEqual([
      '7000',
      'injective-1',
      '7000',
      '-1',
      INVALID,
      INVALID,
      undefined,
    ]);
    expect(valuesOf(chainId, 2 ** 53 - 1, 2 ** 53, 1e21)).toEqual(['9007199254740991', INVALID, INVALID]);
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
    expect(valuesOf(status, 'Neutral', 'Real', 0, 3)).toEqual(['Neutral', 'Neutral', 'Neutral', 'Done']);
  });

  it('is `other` for a value that is unknown, and INVALID for another type', () => {
    expect(valuesOf(status, 'New', 7, '3', 'neutral', '', 'constructor', '__proto__')).toEqual(
      Array.from({ length: 7 }, () => 'other'),
    );
    expect(valuesOf(status, true, [], {}, null)).toEqual([INVALID, INVALID, INVALID, undefined]);
  });
});

describe('an object', () => {
  it('has fields by their name or by an alias', () => {
    expect(schema.parse({ name: 'a', size: '1' })).toMatchObject({ name: 'a', size: 1n });
    expect(schema.parse({ real_name: 'a', size: '1' })).toEqual({ name: 'a', size: 1n });
    expect(schema.parse({ old_size: '1', rows: [{ old_size: '2' }, { size: '3' }] })).toEqual({
      size: 1n,
      rows: [{ size: 2n }, { size: 3n }],
    });
  });

  it.each([
    ['{"name":"spec","real_name":"alias","old_size":"2","size":"1"}', { name: 'spec', size: 1n }],
    ['{"real_name":"alias","name":"spec","size":"1","old_size":"2"}', { name: 'spec', size: 1n }],
    ['{"name":null,"real_name":"alias","size":"","old_size":"2"}', { name: undefined, size: undefined }],
    ['{"real_name":"alias","name":null,"old_size":"2","size":{}}', { name: undefined, size: INVALID }],
    ['{"name":"spec","real_name":1,"old_size":[],"size":"1"}', { name: 'spec', size: 1n }],
    ['{"real_name":"first","old_size":"2","real_name":"last"}', { name: 'last', size: 2n }],
    ['{"real_name":null,"old_size":"x"}', { name: undefined, size: INVALID }],
  ])('uses the name of the spec when an alias occurs, too: %s', (json, values) => {
    const rows = list(schema).parse(JSON.parse(`[${json},${json},{"real_name":"alias","old_size":"3"}]`));
    expect(rows).toEqual([values, values, { name: 'alias', size: 3n }]);
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
