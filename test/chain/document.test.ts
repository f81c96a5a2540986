import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { countValues, readDocument } from '../../src/chain/document.js';
import { INVALID, boolean, chainId, enumeration, list, numeral, object, string } from '../../src/chain/fields.js';
import { runToEnd } from '../../src/tasks.js';
import { fuzzRuns } from '../support/fuzz.js';

afterEach(() => {
  vi.restoreAllMocks();
});

const status = enumeration(new Map([[0, 'Done']]));
const aliases = { title: 'name' };
const coin = object({ id: numeral, name: string }, aliases);
const row = object({ id: numeral, name: string, seen: boolean, tags: list(string), coin, status }, aliases);
const document = object({ a: numeral, b: string, chain: chainId, rows: list(row), coin, inner: row });

/** Reads a body, which is JSON, or is serialized. */
function read(json: unknown, maxValues?: number) {
  const isBody = typeof json === 'string' || Buffer.isBuffer(json);
  const body = Buffer.from(isBody ? (json as string) : JSON.stringify(json));
  return runToEnd(readDocument(document, body, maxValues));
}

/** What was read; throws for a failure. */
function readable(json: unknown) {
  const result = read(json);
  if (!result.ok) throw new Error(result.message);
  return { value: result.value, ...result.errors };
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

describe('a body', () => {
  it.each<[string, string | Buffer, string]>([
    ['is empty', '', 'empty body'],
    ['has only a byte order mark', BYTE_ORDER_MARK, 'not valid JSON'],
    ['is a web page', '<html>', 'not valid JSON'],
    ['ends too early', '{"a":"1"', 'not valid JSON: it ends after 8 characters'],
    ['ends in a string', '{"a":"1', 'not valid JSON: it ends after 7 characters'],
    ['ends in a list', '{"a":[1,\n', 'not valid JSON: it ends after 8 characters'],
    ['has more than a document', '{"a":"1"}x', 'not valid JSON at character 9'],
    ['has a number with a zero before it', '{"a":01}', 'not valid JSON at character 6'],
    ['has a control character in a string', '{"b":"\u0000"}', 'not valid JSON at character 6'],
    ['has a comma after the last entry', '[1,]', 'not valid JSON'],
    ['is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'not valid UTF-8'],
    ['has a part of a character in a string', Buffer.from('{"b":"\xe2\x82"}', 'latin1'), 'not valid UTF-8'],
    ['is UTF-16', Buffer.from('\ufeff{"a":"1"}', 'utf16le'), 'not valid UTF-8'],
  ])('is not JSON when it %s', (_what, body, message) => {
    const result = read(body);
    expect(result).toMatchObject({ ok: false, reason: 'not_json' });
    // Whether the message of V8 has a position depends on its version.
    const [expected = ''] = message.split(' at ');
    expect(result.ok ? '' : result.message).toMatch(new RegExp(`^${expected}( at character \\d+)?$`));
  });

  it('never appears in a message', () => {
    for (const body of ['password', '{"a":"password"', '{"password":password}', 'p at position 77777']) {
      const result = read(body);
      expect(result.ok ? '' : result.message).toMatch(
        /^not valid JSON( at character \d{1,5}|: it ends after \d+ characters)?$/,
      );
    }
  });

  it('can begin with a byte order mark, and can have white space around the document', () => {
    const json = Buffer.from(' \r\n\t{"a":"1"}\n');
    expect(readable(Buffer.concat([BYTE_ORDER_MARK, json])).value).toEqual({ a: 1n });
  });

  it('is another document without an object at its root', () => {
    for (const body of ['[]', '"x"', '7', 'true', 'null', '[{"a":"1"}]']) {
      expect(read(body)).toMatchObject({ ok: true, value: undefined });
    }
  });
});

describe('the problems of a document', () => {
  it('are missing fields by path, but not those of rows', () => {
    expect(readable({ a: null, coin: {}, rows: [{}, null] })).toEqual({
      value: { a: undefined, coin: {}, rows: [{}, undefined] },
      missing: new Set(['a', 'b', 'chain', 'coin.id', 'coin.name', 'inner']),
      invalid: new Map(),
      unknown: new Map(),
    });
    // An empty string is a missing number.
    expect(readable({ a: '', b: '' }).missing).toEqual(new Set(['a', 'chain', 'rows', 'coin', 'inner']));
  });

  it('are invalid values, counted by path', () => {
    const rows = [
      { id: [], tags: [1, 'x', null, 2] },
      5,
      { id: 'x', coin: { id: true } },
      { id: '3', coin: [] },
      { tags: 1 },
    ];
    const { value, invalid } = readable({ a: 'x', b: 1, coin: 7, inner: { seen: 'yes', tags: [{}] }, rows });
    expect(invalid).toEqual(
      new Map([
        ['a', 1],
        ['b', 1],
        ['coin', 1],
        ['inner.seen', 1],
        ['inner.tags[]', 1],
        ['rows[]', 1],
        ['rows[].id', 2],
        ['rows[].tags', 1],
        ['rows[].tags[]', 2],
        ['rows[].coin', 1],
        ['rows[].coin.id', 1],
      ]),
    );
    expect(value).toMatchObject({
      a: INVALID,
      coin: INVALID,
      inner: { tags: [INVALID] },
      rows: [{ tags: [INVALID, 'x', undefined, INVALID] }, INVALID, {}, { id: 3n }, {}],
    });
  });

  it('are unknown values of enumerations, counted by path', () => {
    const rows = [
      { status: 'Done' },
      { status: 'New' },
      { status: 7 },
      { status: 0 },
      { status: null },
      { status: {} },
    ];
    const { value, unknown, invalid } = readable({ b: 'other', inner: { status: 'New', name: 'other' }, rows });
    expect(unknown).toEqual(
      new Map([
        ['inner.status', 1],
        ['rows[].status', 2],
      ]),
    );
    expect(invalid).toEqual(new Map([['rows[].status', 1]]));
    expect(value).toMatchObject({
      rows: [{ status: 'Done' }, { status: 'other' }, { status: 'other' }, { status: 'Done' }, {}, { status: INVALID }],
    });
  });

  it('have the name of the spec for a field with an alias', () => {
    expect(readable({ coin: { title: 1 }, rows: [{ title: 2 }] }).invalid).toEqual(
      new Map([
        ['coin.name', 1],
        ['rows[].name', 1],
      ]),
    );
  });

  const ROWS = 60_000;
  it.each<[string, object, string]>([
    ['a scalar', { id: 'x' }, 'rows[].id'],
    ['a field of an object', { coin: { id: {} } }, 'rows[].coin.id'],
    ['an entry of a list', { tags: [1] }, 'rows[].tags[]'],
  ])('are all counted when %s is invalid in each of 60,000 rows', (_what, bad, path) => {
    const json = { a: '1', rows: Array.from({ length: ROWS }, () => bad) };
    expect(readable(json).invalid).toEqual(new Map([[path, ROWS]]));
  });
});

describe('the number of values of a body', () => {
  const MIB = 2 ** 20;

  it('is that of its JSON values, with one more in each empty object or array', () => {
    const valuesOf = (value: unknown): number => {
      if (typeof value !== 'object' || value === null) return 1;
      const entries: unknown[] = Object.values(value);
      return 1 + (entries.length === 0 ? 1 : entries.reduce((sum: number, entry) => sum + valuesOf(entry), 0));
    };
    const json = fc.jsonValue({ maxDepth: 5 });
    const property = fc.property(json, (value) => countValues(Buffer.from(JSON.stringify(value))) === valuesOf(value));
    fc.assert(property, { numRuns: fuzzRuns(500) });
  });

  it.each<[string, string]>([
    ['of objects', `{"rows":[${'{},'.repeat(MIB)}{}]}`],
    ['of numbers', `{"rows":[${'0,'.repeat(MIB)}0]}`],
    ['nested in each other', `${'['.repeat(MIB + 1)}${']'.repeat(MIB + 1)}`],
    ['after a string with escaped quotes', `{"a":"\\"\\\\","rows":[${'0,'.repeat(MIB)}0]}`],
    ['of something that is not JSON', ','.repeat(2 * MIB + 1)],
    ['of invalid UTF-8', `\xff${'['.repeat(2 * MIB)}`],
  ])('fails a document of more than 2 MiB before it is parsed when there are too many: %s', (_what, body) => {
    const parse = vi.spyOn(JSON, 'parse');
    const bytes = Buffer.from(body, 'latin1');
    const message = `more than ${Math.floor(bytes.length / 24)} JSON values in ${bytes.length} bytes`;
    expect(read(bytes)).toEqual({ ok: false, reason: 'too_large', message });
    expect(parse).not.toHaveBeenCalled();
  });

  it('is one per 24 bytes at most, and is not limited up to 2 MiB', () => {
    const ofSize = (bytes: number, values: number): Buffer => {
      const begin = `{"a":"1","other":[${'0,'.repeat(values - 4)}"`;
      return Buffer.from(`${begin}${'[,{'.repeat(bytes).slice(0, bytes - begin.length - 3)}"]}`);
    };
    expect(countValues(ofSize(1000, 10))).toBe(10);
    expect(read(ofSize(3 * MIB, MIB / 8))).toMatchObject({ ok: true, value: { a: 1n } });
    expect(read(ofSize(3 * MIB, MIB / 8 + 1))).toMatchObject({ ok: false, reason: 'too_large' });
    expect(read(ofSize(2 * MIB, MIB / 2))).toMatchObject({ ok: true, value: { a: 1n } });
  });

  it('is not more than fits into the heap', () => {
    const body = Buffer.from(`{"a":"1"}${' '.repeat(2 * MIB)}`);
    expect(read(body, 2)).toMatchObject({ ok: true });
    expect(read(body, 1)).toMatchObject({ ok: false, reason: 'too_large' });
    expect(read('{"a":"1"}', 1)).toMatchObject({ ok: true });
  });
});

describe('the keys of a document', () => {
  it('are no properties of a prototype', () => {
    const { value, missing } = readable(
      '{"__proto__":{"a":"1","coin":{"id":"1"}},"b":"x","rows":[{"__proto__":{"id":"1"}}]}',
    );
    expect(value).toEqual({ b: 'x', rows: [{}] });
    expect(missing).toEqual(new Set(['a', 'chain', 'coin', 'inner']));
    expect(readable('{"coin":{"__proto__":{"name":"x"},"title":"y"}}').value).toEqual({ coin: { name: 'y' } });
    expect(Object.prototype).not.toHaveProperty('a');
  });

  it('can have nested values of any depth that are not read', () => {
    const deep = `${'[{"x":'.repeat(100_000)}1${'}]'.repeat(100_000)}`;
    expect(readable(`{"other":${deep},"a":"1"}`).value).toEqual({ a: 1n });
    expect(readable(`{"a":${deep},"rows":${deep}}`).value).toEqual({ a: INVALID, rows: [{}] });
    expect(read(`{"other":${deep.slice(0, -1)},"a":"1"}`)).toMatchObject({ ok: false, reason: 'not_json' });
  });
});
