import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
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

  it('is gone with its object when new objects are collected', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as NodeJS.GCFunction;
    const derive = memoize((key: object) => ({ key, text: Buffer.alloc(100_000).toString('latin1') }));
    const documents = 50;
    const promoteSurvivors = (): void => {
      collect({ type: 'minor' });
      collect({ type: 'minor' });
    };
    // A function of its own, so that no register of the loop holds the document.
    const readDocument = (): void => void derive({});
    promoteSurvivors();
    const before = oldBytes();
    for (let document = 0; document < documents; document += 1) {
      readDocument();
      promoteSurvivors();
    }
    expect((oldBytes() - before) / documents).toBeLessThan(50_000);
  });
});

/** The size of the objects that have survived two collections of new objects. */
function oldBytes(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => /^old_space|^large_object/.test(space_name));
  return spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}
