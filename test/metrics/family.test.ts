import { describe, expect, it } from 'vitest';
import { labeledGauge } from '../../src/metrics/family.js';

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
