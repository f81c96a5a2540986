import { describe, expect, it } from 'vitest';
import { dropField, type JsonValue, parsePath, setField } from '../../src/simulator/field-path.js';

const document = (): JsonValue => ({
  state: { sets: [{ members: [{ power: '1' }, { power: '2' }] }, { members: [] }], nonce: '7' },
});

describe('dropping', () => {
  it.each([
    ['state.nonce', { state: { sets: [{ members: [{ power: '1' }, { power: '2' }] }, { members: [] }] } }],
    ['state.sets[0].members[1]', { state: { sets: [{ members: [{ power: '1' }] }, { members: [] }], nonce: '7' } }],
    ['state.sets[*].members[*].power', { state: { sets: [{ members: [{}, {}] }, { members: [] }], nonce: '7' } }],
    ['state.sets[*]', { state: { sets: [], nonce: '7' } }],
  ])('%s leaves the rest', (path, expected) => {
    const dropped = document();
    dropField(dropped, path);
    expect(dropped).toEqual(expected);
  });

  it.each(['state.nonsense', 'state.sets[2]', 'state.nonce.deeper', 'state.sets[0].members[0].none', 'toString'])(
    '%s is told to be nowhere',
    (path) => {
      expect(() => dropField(document(), path)).toThrow(`the document has nothing at ${path}`);
    },
  );
});

describe('setting', () => {
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
  ])('%s takes the value', (path, value, expected) => {
    const changed = document();
    setField(changed, path, value);
    expect(changed).toEqual({ state: expected });
  });

  it('needs the object that holds the field', () => {
    expect(() => setField(document(), 'nothing.nonce', 1)).toThrow('the document has nothing at nothing.nonce');
  });
});

describe('a path', () => {
  it('is names, indices and [*]', () => {
    expect(parsePath('state.sets[0].members[*].external_address')).toEqual([
      'state',
      'sets',
      '[0]',
      'members',
      '[*]',
      'external_address',
    ]);
  });

  it.each(['', '.', 'a..b', 'a[]', 'a[-1]', 'a[1', 'a b', '[x]', 'a.', '.a'])('is not %j', (path) => {
    expect(() => parsePath(path)).toThrow(`${path} is no field path`);
  });
});
