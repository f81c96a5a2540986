import { describe, expect, it } from 'vitest';
import { labeledGauge, toLabelValue } from '../../src/metrics/family.js';

describe('labeledGauge', () => {
  const description = {
    help: 'A test.',
  } as const;
  const labels = ['list', 'chain_id'] as const;

  it('does not compile if a sample lacks a label or has an unknown one', () => {
    const complete = labeledGauge({
      ...description,
      labels,
      derive: () => [{ labels: { list: 'pending', chain_id: '1' }, value: 1 }],
    });
    labeledGauge({
      ...description,
      labels,
      // @ts-expect-error -- chain_id is missing
      derive: () => [{ labels: { list: 'pending' }, value: 1 }],
    });
    labeledGauge({
      ...description,
      labels,
      // @ts-expect-error -- the family has no label chain
      derive: () => [{ labels: { list: 'pending', chain: '1' }, value: 1 }],
    });
    expect(complete.derive({})).toEqual([{ labels: { list: 'pending', chain_id: '1' }, value: 1 }]);
  });
});

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
