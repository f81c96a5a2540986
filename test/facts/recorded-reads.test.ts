import { describe, expect, it } from 'vitest';
import { families } from '../../src/exposition/metrics-page.js';
import { recordReads } from './recorded-reads.js';

describe('the recorded reads of the families', () => {
  const reads = recordReads();

  it('do not depend on the random documents', () => {
    expect(recordReads(2)).toEqual(reads);
  });

  it('contain at least one read per family', () => {
    const empty = reads.filter(({ fields, others }) => fields.length + others.length === 0);
    expect(empty).toEqual([]);
    expect(families.map(({ name }) => name)).toEqual(expect.arrayContaining(reads.map(({ family }) => family)));
  });

  it.each([
    ['bridge_params_admins', ['state.params.admins'], []],
    ['bridge_batch_transactions', ['state.batches[].transactions'], []],
    ['bridge_height', [], ['height']],
    ['bridge_token_info', [], ['tokens[].contract', 'tokens[].symbol']],
    [
      'crosschain_lowest_pending_nonce',
      [
        'cctxs_pending[].index',
        'cctxs_pending[].outbound_params[].receiver_chainId',
        'cctxs_pending[].outbound_params[].tss_nonce',
      ],
      ['chains'],
    ],
  ])('contain, for %s, the fields %j and the other inputs %j', (name, fields, others) => {
    expect(reads.find(({ family }) => family === name)).toMatchObject({ fields, others });
  });
});
