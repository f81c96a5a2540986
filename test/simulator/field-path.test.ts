import { describe, expect, it } from 'vitest';
import { dropField, type JsonValue, parsePath, setField } from '../../src/simulator/field-path.js';

const createDocument = (): JsonValue => ({
  state: { sets: [{ members: [{ power: '1' }, { power: '2' }] }, { members: [] }], nonce: '7' },
});

describe('dropField', () => {
  it.each([
    ['state.nonce', { state: { sets: [{ members: [{ power: '1' }, { power: '2' }] }, { members: [] }] } }],
    ['state.sets[*].members[*].power', { state: { sets: [{ members: [{}, {}] }, { members: [] }], nonce: '7' } }],
    ['state.sets[*]', { state: { sets: [], nonce: '7' } }],
  ])('removes %s and nothing else', (path, expected) => {
    const document = createDocument();
    dropField(document, path);
    expect(document).toEqual(expected);
  });

  it.each(['state.nonsense', 'state.sets[2]', 'state.nonce.deeper', 'state.sets[0].members[0].none', 'toString'])(
    'throws for %s, which does not exist',
    (path) => {
      expect(() => dropField(createDocument(), path)).toThrow(`the document has no field ${path}`);
    },
  );
});

describe('setField', () => {
  it.each([
    ['state.nonce', null, { sets: [{ members: [{ power: '1' }, { power: '2' }] }, { members: [] }], nonce: null }],
    [
      'state.sets[0].members[*].power',
      3,
      { sets: [{ members: [{ power: 3 }, { power: 3 }] }, { members: [] }], nonce: '7' },
    ],
    ['state.sets[1]', {}, { sets: [{ members: [{ power: '1' }, { power: '2' }] }, {}], nonce: '7' }],
    [
      'state.new',
      [1],
      { sets: [{ members: [{ power: '1' }, { power: '2' }] }, { members: [] }], nonce: '7', new: [1] },
    ],
  ])('sets %s to %j', (path, value, expected) => {
    const document = createDocument();
    setField(document, path, value);
    expect(document).toEqual({ state: expected });
  });

  it('throws when the parent of the field does not exist', () => {
    expect(() => setField(createDocument(), 'nothing.nonce', 1)).toThrow('the document has no field nothing.nonce');
  });
});

describe('parsePath', () => {
  it.each(['', '.', 'a..b', 'a[]', 'a[-1]', 'a[1', 'a b', '[x]', 'a.', '.a'])('rejects %j', (path) => {
    expect(() => parsePath(path)).toThrow(`${path} is not a field path`);
  });
});
