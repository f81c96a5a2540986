import { describe, expect, it, vi } from 'vitest';
import { memoize, memoizePerRow } from '../../src/facts/memoize.js';
import { WITHDRAWN } from '../../src/facts/required-fields.js';

describe('a memoized value', () => {
  it('is derived once per object, and anew for a copy of the object', () => {
    const derive = vi.fn<(key: { readonly height: number }) => number>(({ height }) => height + 1);
    const next = memoize(derive);
    const key = { height: 1 };
    expect([next(key), next(key), next({ ...key, height: 5 })]).toEqual([2, 2, 6]);
    expect(derive).toHaveBeenCalledTimes(2);
    expect(Reflect.ownKeys(key)).toEqual(['height']);
  });

  it('is derived once per row of each input', () => {
    const derive = vi.fn<(input: { readonly factor: number }, row: { readonly amount: number }) => number>(
      ({ factor }, { amount }) => factor * amount,
    );
    const product = memoizePerRow(derive);
    const row = { amount: 3 };
    const [double, triple] = [{ factor: 2 }, { factor: 3 }];
    expect([product(double, row), product(double, row), product(triple, row)]).toEqual([6, 6, 9]);
    expect(derive).toHaveBeenCalledTimes(2);
  });

  it('is withdrawn again without another derivation; another error is not kept', () => {
    const withdraw = vi.fn<(key: object) => never>(() => {
      throw WITHDRAWN;
    });
    const fail = vi.fn<(key: object) => never>(() => {
      throw new Error('a bug');
    });
    const [withdrawn, failed] = [memoize(withdraw), memoize(fail)];
    const key = {};
    for (let count = 0; count < 2; count += 1) {
      expect(() => withdrawn(key)).toThrow(WITHDRAWN);
      expect(() => failed(key)).toThrow('a bug');
    }
    expect(withdraw).toHaveBeenCalledOnce();
    expect(fail).toHaveBeenCalledTimes(2);
  });
});
