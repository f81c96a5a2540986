import { describe, expect, it } from 'vitest';
import { documents } from '../../src/documents.js';
import { allFamilies } from '../../src/exposition/metrics-page.js';
import type { Family } from '../../src/metrics/family.js';
import { orEmpty, WITHDRAWN } from '../../src/facts/required-fields.js';
import { bridgeInputs, crosschainInputs } from '../facts/property/inputs.js';

describe('every family', () => {
  it('has a HELP text of one sentence', () => {
    for (const { name, help } of allFamilies) {
      expect(help, name).toMatch(/^[A-Z][^.]*(?:\.[a-z][^.]*)*\.$/);
    }
  });

  it('exports samples with exactly its labels', () => {
    const check = <Input>(family: Family<Input>, inputs: readonly Input[]): void => {
      const samples = inputs.flatMap((input) => orEmpty(() => family.derive(input, 200)));
      for (const { labels } of samples.filter((sample) => sample !== WITHDRAWN)) {
        expect(Object.keys(labels).toSorted(), family.name).toEqual(family.labels.toSorted());
      }
    };
    const [bridge, crosschain] = [bridgeInputs(1), crosschainInputs(1)];
    for (const family of documents.module_state.families) check(family, bridge);
    for (const family of documents.rate_limiter_input.families) check(family, crosschain);
  });

  it('has a unique name, which ends in _total only for a counter', () => {
    const names = allFamilies.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, type } of allFamilies) {
      expect(name).toMatch(/^(bridge|crosschain)_[a-z0-9_]+$/);
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
    }
  });
});
