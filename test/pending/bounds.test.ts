import { describe, expect, it } from 'vitest';
import { bridgeItemsOf, crosschainItemsOf } from './read-items.js';

/*
 * A node that means harm: as many rows as it likes, and texts of the characters that take most room in JSON.
 */
const ROWS = 100;
const MEMBERS = 60;
const MIB = 2 ** 20;

const hostile = (seed: number | string): string => `${seed}${'\u0001'.repeat(200)}`;
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const number = (index: number): string => `1${'0'.repeat(90)}${index}`;

const members = times(MEMBERS, (index) => ({ power: number(index), external_address: hostile(index) }));
const coin = (index: number) => ({ contract: hostile(index), amount: number(index) });
const transfers = times(ROWS, (index) => ({
  id: number(index),
  sender: hostile(index),
  dest_address: hostile(index),
  erc20_token: coin(index),
  erc20_fee: coin(index),
}));

describe('the items of a hostile document', () => {
  it('of a bridge are under 6 MiB', () => {
    const items = bridgeItemsOf({
      params: { average_block_time: '1', average_external_block_time: '1', signed_valsets_window: '1' },
      last_observed_nonce: '1',
      last_observed_external_height: '1',
      last_observed_valset: { nonce: '0', members, height: '0' },
      valsets: times(ROWS, (index) => ({ nonce: number(index), height: number(index), members })),
      valset_confirms: [],
      batches: times(ROWS, (index) => ({
        batch_nonce: number(index),
        batch_timeout: number(index),
        block: number(index),
        token_contract: hostile(index),
        transactions: [],
      })),
      batch_confirms: [],
      orchestrator_addresses: times(MEMBERS, (index) => ({
        eth_address: hostile(index),
        orchestrator: hostile(index),
        sender: hostile(index),
      })),
      attestations: times(ROWS, (index) => ({
        observed: false,
        height: number(index),
        votes: [],
        claim: { event_nonce: number(index) },
      })),
      erc20_to_denoms: times(ROWS, (index) => ({ erc20: hostile(index), denom: hostile(index) })),
      unbatched_transfers: transfers,
    });
    expect(items.batches).toMatchObject({ readable: true, total: ROWS });
    expect(JSON.stringify(items).length).toBeLessThan(6 * MIB);
  });

  it('of the cross-chain module are under 1 MiB', () => {
    const cctxs = times(ROWS, (index) => ({
      index: hostile(index),
      cctx_status: { status: 'Aborted', created_timestamp: '1', lastUpdate_timestamp: '1' },
      outbound_params: [
        {
          receiver_chainId: hostile(index),
          coin_type: 'Gas',
          amount: number(index),
          tss_nonce: '1',
          hash: hostile(index),
        },
      ],
    }));
    const items = crosschainItemsOf({ cctxs_missed: cctxs, cctxs_pending: cctxs });
    expect(items.pending).toMatchObject({ readable: true, total: ROWS });
    expect(JSON.stringify(items).length).toBeLessThan(MIB);
  });
});
