import { expect, it } from 'vitest';
import { batch, idleState, validators, vote } from '../items/bridge-state.js';
import {
  at,
  BRIDGE,
  bridgeResult,
  CROSSCHAIN,
  crosschainResult,
  initialSnapshots,
  pendingAt,
  TARGET,
  transfer,
} from './sample-snapshots.js';

const ITEMS = 3000;
const MAX_PAGE_BYTES = 300_000;

const hex = (seed: number, digits: number): string =>
  `0x${(seed + 1).toString(16).padStart(digits, 'abcdef0123456789')}`;
const CHAINS = ['1', '56', '137', '8453', '42161', '43114', '8332', '900', '105', '2015140', '7000', '10'];

const cctx = (index: number) => ({
  index: hex(index, 64),
  cctx_status: {
    status: 'PendingOutbound',
    status_message: 'initiating outbound',
    error_message: '',
    created_timestamp: String(Math.floor(at(0).at) - 20_000 + index),
  },
  inbound_params: {
    sender: hex(index, 40),
    sender_chain_id: '7000',
    tx_origin: hex(index * 3, 40),
    observed_hash: hex(index * 5, 64),
  },
  outbound_params: [
    {
      receiver: hex(index * 7, 40),
      receiver_chainId: CHAINS[index % CHAINS.length],
      coin_type: 'Gas',
      amount: `${1_234_567_890_123_456_789n * BigInt(index)}`,
      tss_nonce: String(index),
      hash: index % 2 === 0 ? '' : hex(index * 11, 64),
    },
  ],
});

const repeat = <T>(make: (index: number) => T): readonly T[] =>
  Array.from({ length: ITEMS }, (_, index) => make(index));

/** The page of a target with 3,000 items of each kind. */
function largePage(query: Readonly<Record<string, string>> = {}): string {
  const snapshots = initialSnapshots();
  const state = {
    ...idleState,
    batches: repeat((index) => ({ ...batch(`${index}`), token_contract: hex(index, 40) })),
    attestations: repeat((index) => ({
      observed: false,
      height: '900',
      votes: [vote(index % validators.length)],
      claim: { event_nonce: `${8 + index}` },
    })),
    unbatched_transfers: repeat((index) => ({ ...transfer(`${index}`, `${index}`), dest_address: hex(index, 40) })),
  };
  snapshots.record(BRIDGE, bridgeResult(state, '1000'), at(0));
  const document = {
    height: '1000',
    total_pending: String(ITEMS),
    cctxs_missed: repeat(cctx).slice(0, 1000),
    cctxs_pending: repeat(cctx).slice(1000),
  };
  snapshots.record(CROSSCHAIN, crosschainResult(document), at(0));
  return pendingAt(snapshots, 1, { target: TARGET, ...query });
}

it('the page of a target with 3,000 items of each kind is smaller than 300 KB', () => {
  expect(Buffer.byteLength(largePage())).toBeLessThan(MAX_PAGE_BYTES);
  expect(Buffer.byteLength(largePage({ q: 'abc' }))).toBeLessThan(1.5 * MAX_PAGE_BYTES);
});
