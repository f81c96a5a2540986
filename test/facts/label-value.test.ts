import { describe, expect, it } from 'vitest';
import { toLabelValue } from '../../src/facts/plain-values.js';

describe('toLabelValue', () => {
  it('truncates to 128 characters without splitting surrogate pairs', () => {
    expect(toLabelValue('x'.repeat(500))).toBe('x'.repeat(128));
    expect(toLabelValue('😀'.repeat(200))).toBe('😀'.repeat(128));
    expect(toLabelValue(`${'x'.repeat(127)}😀😀`)).toBe(`${'x'.repeat(127)}😀`);
  });

  it('replaces lone surrogates', () => {
    expect(toLabelValue('a\ud800b')).toBe('a\ufffdb');
  });
});
