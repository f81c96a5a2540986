import { describe, expect, it } from 'vitest';
import { transfer } from './bridge-state.js';
import { asReadable, bridgeItemsOf, crosschainItemsOf } from './read-items.js';
import { MAX_ROWS } from '../../src/items/item-list.js';

/*
 * A hostile document has many rows, and strings of control characters, which take six bytes each in JSON.
 */
const ROWS = 100;
const MEMBERS = 60;
const MIB = 2 ** 20;

const hostileString = (seed: number | string): string => `${seed}${'\u0001'.repeat(200)}`;
const repeat = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const longNumber = (index: number): string => `1${'0'.repeat(90)}${index}`;

const members = repeat(MEMBERS, (index) => ({ power: longNumber(index), external_address: hostileString(index) }));
const coin = (index: number) => ({ contract: hostileString(index), amount: longNumber(index) });
const transfers = repeat(ROWS, (index) => ({
  id: longNumber(index),
  sender: hostileString(index),
  dest_address: hostileString(index),
  erc20_token: coin(index),
  erc20_fee: coin(index),
}));

describe('the items of a hostile document', () => {
  it('are smaller than 6 MiB for module_state', () => {
    const items = bridgeItemsOf({
      params: { average_block_time: '1', average_external_block_time: '1', signed_valsets_window: '1' },
      last_observed_nonce: '1',
      last_observed_external_height: '1',
      last_observed_valset: { nonce: '0', members, height: '0' },
      valsets: repeat(ROWS, (index) => ({ nonce: longNumber(index), height: longNumber(index), members })),
      valset_confirms: [],
      batches: repeat(ROWS, (index) => ({
        batch_nonce: longNumber(index),
        batch_timeout: longNumber(index),
        block: longNumber(index),
        token_contract: hostileString(index),
        transactions: [],
      })),
      batch_confirms: [],
      orchestrator_addresses: repeat(MEMBERS, (index) => ({
        eth_address: hostileString(index),
        orchestrator: hostileString(index),
        sender: hostileString(index),
      })),
      attestations: repeat(ROWS, (index) => ({
        observed: false,
        height: longNumber(index),
        votes: [],
        claim: { event_nonce: longNumber(index) },
      })),
      erc20_to_denoms: repeat(ROWS, (index) => ({ erc20: hostileString(index), denom: hostileString(index) })),
      unbatched_transfers: transfers,
    });
    expect(items.batches).toMatchObject({ readable: true, total: ROWS });
    expect(JSON.stringify(items).length).toBeLessThan(6 * MIB);
  });

  it('are smaller than 1 MiB for rate_limiter_input', () => {
    const cctxs = repeat(ROWS, (index) => ({
      index: hostileString(index),
      cctx_status: {
        status: 'Aborted',
        status_message: hostileString(index).repeat(10),
        error_message: hostileString(index).repeat(10),
        created_timestamp: '1',
        lastUpdate_timestamp: '1',
      },
      inbound_params: {
        sender: hostileString(index),
        sender_chain_id: hostileString(index),
        tx_origin: hostileString(index),
        observed_hash: hostileString(index),
      },
      outbound_params: [
        {
          receiver: hostileString(index),
          receiver_chainId: hostileString(index),
          coin_type: 'Gas',
          amount: longNumber(index),
          tss_nonce: '1',
          hash: hostileString(index),
        },
      ],
    }));
    const items = crosschainItemsOf({ cctxs_missed: cctxs, cctxs_pending: cctxs });
    expect(items.pending).toMatchObject({ readable: true, total: ROWS });
    expect(JSON.stringify(items).length).toBeLessThan(MIB);
  });
});

describe('the items of long lists', () => {
  it('are the oldest transfers, by id, with the total number', () => {
    const unbatched_transfers = repeat(812, (index) => transfer(String(812 - index)));
    const { total, rows } = asReadable(bridgeItemsOf({ unbatched_transfers, batches: [] }).transfers);
    expect(total).toBe(812);
    expect(rows.map(({ id }) => id)).toEqual(repeat(MAX_ROWS, (index) => String(index + 1)));
  });

  it('are the oldest cross-chain transactions, with the total number', () => {
    const cctxs_missed = repeat(300, (index) => ({
      index: `${index}`,
      cctx_status: { created_timestamp: String(1000 - index), lastUpdate_timestamp: '0' },
      inbound_params: {},
      outbound_params: [],
    }));
    const { total, rows } = asReadable(crosschainItemsOf({ cctxs_missed }).missed);
    expect([total, rows.length, rows[0]?.index]).toEqual([300, MAX_ROWS, '299']);
  });
});
