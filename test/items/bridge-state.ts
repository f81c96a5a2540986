/*
 * Parts of small module states. The four validators have the external addresses 0xa1 to 0xa4.
 */
const POWERS = [40, 30, 20, 10] as const;
export const members = POWERS.map((power, index) => ({ power: String(power), external_address: `0xA${index + 1}` }));
export const validators = POWERS.map((_, index) => ({
  sender: `hub1${'qpzr'[index]}qqqqqqqqqq`,
  orchestrator: `hub1${'qpzr'[index]}yyyyyyyyyy`,
  eth_address: `0xa${index + 1}`,
}));
/** The operator address of a validator, which votes contain. */
export const vote = (index: number): string => `hubvaloper1${'qpzr'[index]}qqqqllllll`;

/** A state without a backlog. */
export const idleState = {
  params: { bridge_chain_id: '1', average_block_time: '2000', signed_valsets_window: '100' },
  last_observed_nonce: '7',
  last_observed_external_height: '500',
  last_observed_valset: { nonce: '1', members, height: '0' },
  valsets: [{ nonce: '1', members, height: '1' }],
  valset_confirms: [],
  batches: [],
  batch_confirms: [],
  orchestrator_addresses: validators,
  attestations: [{ observed: true, height: '900', votes: [], claim: { event_nonce: '7' } }],
  erc20_to_denoms: [],
  unbatched_transfers: [],
};

const coin = (contract: string, amount: unknown) => ({ contract, amount });
export const transfer = (id: string, amount: unknown = '1') => ({
  id,
  sender: 'hub1sender',
  dest_address: '0xDest',
  erc20_token: coin('0xT', amount),
  erc20_fee: coin('0xT', '2'),
});
export const batch = (nonce: string, timeout = '600', block = '940') => ({
  batch_nonce: nonce,
  batch_timeout: timeout,
  transactions: [transfer('1'), transfer('2')],
  token_contract: '0xT',
  block,
});
