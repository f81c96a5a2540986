import fc from 'fast-check';
import type { Json, JsonObject } from '../../support/json.js';

/*
 * Arbitraries of whole documents with the field names of the spec. Addresses, nonces, tokens and chains come from small
 * pools, so that rows of different lists refer to each other.
 */

const externalAddresses = ['a', 'b', 'c', 'd', 'e'].map((digit) => `0x${digit.repeat(40)}`);
const tokens = [...['1', '2', '3'].map((digit) => `0x${digit.repeat(39)}f`), '__proto__'];
const dataParts = ['q', 'p', 'z', 'r', 'y'].map((letter) => letter.repeat(32));

/** Chains use mixed case in addresses. */
const inAnyCase = (addresses: readonly string[]): fc.Arbitrary<string> =>
  fc.tuple(fc.constantFrom(...addresses), fc.boolean()).map(([text, upper]) => (upper ? text.toUpperCase() : text));

const externalAddress = inAnyCase(externalAddresses);
const token = inAnyCase(tokens);
const bech32 = (prefix: string): fc.Arbitrary<string> =>
  fc.constantFrom(...dataParts).map((data) => `${prefix}1${data}cccccc`);
const account = bech32('inj');

/** A number as string or JSON number, some with unusual zeros. */
const asNumber = (value: bigint): fc.Arbitrary<Json> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constant(value.toString()) },
    { weight: 1, arbitrary: fc.constant(value <= 2n ** 53n ? Number(value) : value.toString()) },
    { weight: 1, arbitrary: fc.constant(`00${value}.00`) },
  );
const smallNumber = (min: number, max: number): fc.Arbitrary<Json> =>
  fc.integer({ min, max }).chain((value) => asNumber(BigInt(value)));
const nonce = smallNumber(1, 5);
const height = smallNumber(90, 130);
const power = fc.constantFrom(0n, 1n, 1n, 2n, 3n, 2n ** 53n + 1n).chain(asNumber);
const amount = fc.constantFrom(0n, 1n, 7n, 10n ** 18n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 256n).chain(asNumber);
const fraction = fc.constantFrom('0.001000000000000000', '0', '1', '0.1');

const rows = <T>(row: fc.Arbitrary<T>, maxLength = 5): fc.Arbitrary<T[]> => fc.array(row, { maxLength });

const member = fc.record({ power, external_address: externalAddress });

/** Few different lists, so that claims often have the members of a stored validator set. */
const knownMembers = fc.constantFrom(
  [],
  [{ power: '3', external_address: `0x${'a'.repeat(40)}` }],
  [
    { power: '1', external_address: `0x${'b'.repeat(40)}` },
    { power: '3', external_address: `0x${'a'.repeat(40)}` },
  ],
  [
    { power: '3', external_address: `0x${'A'.repeat(40)}` },
    { power: '1', external_address: `0x${'b'.repeat(40)}` },
    { power: '3', external_address: `0x${'a'.repeat(40)}` },
  ],
);

const valset = fc.record({
  nonce,
  members: fc.oneof(rows(member), knownMembers),
  height,
  reward_amount: amount,
  reward_token: token,
});

const transfer = fc.record({
  id: smallNumber(1, 99),
  sender: account,
  dest_address: externalAddress,
  erc20_token: fc.record({ contract: token, amount }),
  erc20_fee: fc.record({ contract: token, amount }),
});

/** The values of a claim about a batch or a validator set, in both formats. */
const claimed = fc.record({
  event: fc.integer({ min: 1, max: 5 }),
  nonce: fc.integer({ min: 0, max: 5 }),
  token: token,
  members: knownMembers,
});

const withdrawClaim: fc.Arbitrary<JsonObject> = claimed.chain(({ event, nonce: batch, token: contract }) =>
  fc.constantFrom<JsonObject>(
    {
      '@type': '/bridge.MsgWithdrawClaim',
      event_nonce: `${event}`,
      batch_nonce: `${batch}`,
      token_contract: contract,
    },
    packed('/bridge.MsgWithdrawClaim', [
      ...integerField(1, event),
      ...integerField(3, batch),
      ...textField(4, contract),
    ]),
    // A nonce of 0 is left out.
    packed('/bridge.MsgWithdrawClaim', [...integerField(1, event), ...textField(4, contract)]),
  ),
);

const valsetClaim: fc.Arbitrary<JsonObject> = claimed.chain(({ event, nonce: valsetNonce, members }) => {
  const type = '/bridge.MsgValsetUpdatedClaim';
  const head = [...integerField(1, event), ...integerField(2, valsetNonce)];
  const encoded = members.flatMap((each) =>
    bytesField(4, [...integerField(1, Number(each.power)), ...textField(2, each.external_address)]),
  );
  return fc.constantFrom<JsonObject>(
    { '@type': type, event_nonce: `${event}`, valset_nonce: `${valsetNonce}`, members },
    packed(type, [...head, ...encoded]),
    // A member of another wire type, and an address that is not UTF-8.
    packed(type, [...head, ...encoded, ...integerField(4, 1)]),
    packed(type, [...head, ...bytesField(4, bytesField(2, [0xff]))]),
  );
});

export function packed(type_url: string, bytes: readonly number[]): JsonObject {
  return { type_url, value: Buffer.from(bytes).toString('base64') };
}

export const integerField = (field: number, value: number): number[] => [field * 8, value];
export const bytesField = (field: number, bytes: readonly number[]): number[] => [
  field * 8 + 2,
  bytes.length,
  ...bytes,
];
export const textField = (field: number, text: string): number[] => bytesField(field, [...Buffer.from(text)]);

/** A claim in the format of the gateway or in the format of the spec. */
const claim: fc.Arbitrary<JsonObject> = fc.oneof(
  nonce.map((event_nonce) => ({ '@type': '/bridge.MsgDepositClaim', event_nonce })),
  fc
    .integer({ min: 1, max: 5 })
    .map((event) => packed('/bridge.MsgDepositClaim', [8, event, 16, 200, 1, 26, 2, 104, 105])),
  withdrawClaim,
  valsetClaim,
);

const params = fc.record({
  bridge_id: fc.constantFrom('id', ''),
  contract_source_hash: fc.constant(''),
  bridge_external_address: externalAddress,
  bridge_chain_id: fc.constantFrom<Json>('1', 1, '', '11155111', '2'),
  signed_valsets_window: smallNumber(0, 20),
  signed_batches_window: smallNumber(0, 20),
  signed_claims_window: smallNumber(0, 20),
  target_batch_timeout: smallNumber(1, 99_999),
  average_block_time: smallNumber(0, 2_001),
  average_external_block_time: smallNumber(0, 7),
  slash_fraction_valset: fraction,
  slash_fraction_batch: fraction,
  slash_fraction_claim: fraction,
  slash_fraction_conflicting_claim: fraction,
  unbond_slashing_valsets_window: smallNumber(0, 20),
  slash_fraction_bad_eth_signature: fraction,
  hub_coin_denom: fc.constant('hub'),
  hub_coin_erc20_contract: token,
  claim_slashing_enabled: fc.boolean(),
  bridge_contract_start_height: height,
  valset_reward: fc.record({ denom: fc.constant('hub'), amount }),
  admins: rows(account, 2),
});

export const bridgeLists = {
  valsets: valset,
  valset_confirms: fc.record({
    nonce,
    orchestrator: account,
    eth_address: externalAddress,
    signature: fc.constant(''),
  }),
  batches: fc.record({
    batch_nonce: nonce,
    batch_timeout: height,
    transactions: rows(transfer, 3),
    token_contract: token,
    block: height,
  }),
  batch_confirms: fc.record({
    nonce,
    token_contract: token,
    eth_signer: externalAddress,
    orchestrator: account,
    signature: fc.constant(''),
  }),
  attestations: fc.record({ observed: fc.boolean(), votes: rows(bech32('injvaloper')), height, claim }),
  orchestrator_addresses: fc.record({ sender: account, orchestrator: account, eth_address: externalAddress }),
  erc20_to_denoms: fc.record({ erc20: token, denom: fc.constantFrom('x', 'y') }),
  unbatched_transfers: transfer,
  external_blacklist: externalAddress,
};
export const bridgeState: fc.Arbitrary<JsonObject> = fc.record({
  params,
  last_observed_nonce: smallNumber(0, 4),
  valsets: rows(bridgeLists.valsets),
  valset_confirms: rows(bridgeLists.valset_confirms, 8),
  batches: rows(bridgeLists.batches),
  batch_confirms: rows(bridgeLists.batch_confirms, 8),
  attestations: rows(bridgeLists.attestations),
  orchestrator_addresses: rows(bridgeLists.orchestrator_addresses),
  erc20_to_denoms: rows(bridgeLists.erc20_to_denoms, 3),
  unbatched_transfers: rows(bridgeLists.unbatched_transfers),
  last_observed_external_height: height,
  last_outgoing_batch_id: smallNumber(0, 99),
  last_outgoing_pool_id: smallNumber(0, 99),
  last_observed_valset: fc.oneof({ weight: 9, arbitrary: valset }, { weight: 1, arbitrary: fc.constant(null) }),
  external_blacklist: rows(bridgeLists.external_blacklist, 3),
});

/** The hub height, the configuration of a bridge endpoint, and the names of validators from the staking module. */
export const bridgeOptions = fc
  .record(
    {
      height: fc.integer({ min: 100, max: 140 }).map(String),
      power_threshold: fc.constantFrom('0.6667', '0.5', '1', '0.3333333333'),
      block_time: fc.constantFrom<number | 'auto'>('auto', 630),
      external_block_time: fc.constantFrom<number | 'auto'>('auto', 7),
      backlog_limit: fc.constantFrom(1, 500),
      watch: fc.subarray([...dataParts.map((data) => `inj1${data}cccccc`), ...externalAddresses]),
      validators: fc.record({
        configured: fc
          .subarray([...dataParts.map((data) => `injvaloper1${data}dddddd`), ...externalAddresses])
          .map((addresses) => addresses.map((address) => ({ address, name: `configured ${address}` }))),
        staking: fc
          .subarray(dataParts)
          .map((parts): ReadonlyMap<string, string> => new Map(parts.map((data) => [data, `moniker ${data}`]))),
      }),
      tokens: fc.constantFrom(
        [{ contract: tokens[0] ?? '', symbol: 'USDT', decimals: 6 }],
        [
          { contract: tokens[0] ?? '', min_batch_fee: '8' },
          { contract: tokens[1] ?? '', symbol: 'INJ', min_batch_fee: '9007199254740993' },
        ],
        tokens.map((contract) => ({ contract, min_batch_fee: '1' })),
      ),
    },
    { requiredKeys: [] },
  )
  .map(({ validators, ...options }) => ({
    ...options,
    ...(validators && { validators: validators.configured, names: validators.staking }),
  }));

const chain = fc.constantFrom<Json>('1', '56', '7000', 56, '8332', '__proto__');
const coinType = fc.constantFrom<Json>('Native', 'Native', 'Gas', 'ERC20', 'Cmd', 0, 4, 'Unheard', 9);

const cctx = fc.record({
  creator: fc.constant(''),
  index: fc.constantFrom('0x1', '0x2', '0x3', '0x4', '0x5', '__proto__'),
  cctx_status: fc.record({
    status: fc.constantFrom<Json>('PendingOutbound', 'PendingRevert', 'Unheard', 1, 2, 6),
    lastUpdate_timestamp: fc.constantFrom<Json>('0', '1700000500', 1_700_000_600),
    created_timestamp: fc.constantFrom<Json>('0', '-1', '1700000000', '1700000100'),
  }),
  inbound_params: fc.record({ sender_chain_id: chain, coin_type: coinType, amount }),
  outbound_params: rows(
    fc.record({
      receiver_chainId: chain,
      coin_type: coinType,
      amount,
      tss_nonce: smallNumber(0, 9),
      hash: fc.constantFrom('', '0xabc'),
      tss_pubkey: fc.constantFrom('zetapub1a', 'zetapub1a', 'zetapub1b', ''),
    }),
    2,
  ),
});

export const crosschainDocument: fc.Arbitrary<JsonObject> = fc.record({
  height,
  cctxs_missed: rows(cctx, 3),
  cctxs_pending: rows(cctx, 6),
  total_pending: smallNumber(0, 12),
  past_cctxs_value: amount,
  pending_cctxs_value: amount,
  lowest_pending_cctx_height: smallNumber(0, 140),
});

/** Later than most transactions are created. */
const at = fc.constantFrom(1_700_000_550, 1_700_000_900).map((seconds) => ({ at: seconds, clockOffset: 0 }));

/** The configuration of a cross-chain endpoint, and when its document is received. */
export const crosschainOptions = fc.record(
  {
    window: fc.constantFrom('1', '7', '50'),
    rate: fc.constantFrom('1', '1000000000000000000'),
    hub_chain_ids: fc.constantFrom<string[]>(['7000'], ['56', '__proto__'], []),
    chains: fc.constant({ '1': 'ethereum', constructor: 'no' }),
    ignore: fc.record({
      indexes: fc.subarray(['0x1', '0x2', '0x3', '0xabsent']),
      older_than: fc.constantFrom(0, 400_000, 850_000),
    }),
    backlog_limit: fc.constantFrom(1, 2500),
    age_limits: fc.record(
      { default: fc.constant(60_000), '1': fc.constant(90_500), '8332': fc.constant(120_000) },
      { requiredKeys: [] },
    ),
    at,
  },
  { requiredKeys: ['at'] },
);
