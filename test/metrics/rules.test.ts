import { describe, expect, it } from 'vitest';
import { documents } from '../../src/documents.js';
import { allFamilies } from '../../src/exposition/metrics-page.js';
import type { Family } from '../../src/metrics/family.js';
import { orEmpty, WITHDRAWN } from '../../src/facts/required-fields.js';
import { deriveBridge } from '../facts/derive.js';
import { bridgeInputs, crosschainInputs } from '../facts/property/inputs.js';

describe('a gauge', () => {
  it('is absent if its value is infinite', () => {
    const { values } = deriveBridge({ last_observed_nonce: 1e308, last_outgoing_pool_id: '9'.repeat(100) });
    expect(values['bridge_last_observed_nonce']).toBe(1e308);
    expect(values['bridge_last_outgoing_pool_id']).toBe(1e100);
    const members = [1, 2, 3].map((index) => ({ power: 1.7e308, external_address: `0x${index}` }));
    expect(deriveBridge({ last_observed_valset: { members } }).values).not.toHaveProperty(
      'bridge_last_observed_valset_power',
    );
  });
});

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
