import { describe, expect, it } from 'vitest';
import { batch, idleState, members, transfer, validators, vote } from './bridge-state.js';
import { bridgeItemsOf, crosschainItemsOf } from './read-items.js';
import { crosschainSnapshot } from '../support/snapshots.js';
import type { BridgeItems } from '../../src/items/bridge-items.js';
import type { CrosschainItems } from '../../src/items/crosschain-items.js';

/*
 * All that the page of pending items has of some documents. The golden files have a line for each row of a list. Comments say what a row
 * shows.
 */

function textOf(items: BridgeItems | CrosschainItems): string {
  return Object.entries(items)
    .map(([name, value]: [string, unknown]) => {
      const rows: unknown = Array.isArray(value) ? value : Reflect.get(Object(value), 'rows');
      if (!Array.isArray(rows)) return `${name}: ${JSON.stringify(value)}\n`;
      const { rows: _rows, ...others } = Object(value) as Record<string, unknown>;
      const head = Array.isArray(value) ? '' : JSON.stringify(others);
      return `${name}: ${head}\n${rows.map((row) => `  ${JSON.stringify(row)}\n`).join('')}`;
    })
    .join('');
}

const ofToken = (id: string, contract: string, amount: unknown) => ({
  ...transfer(id, amount),
  erc20_token: { contract, amount },
  erc20_fee: { contract, amount: '2' },
});

const confirm = (nonce: string, eth_signer: string) => ({ nonce, token_contract: '0xt', eth_signer });
/** 70 % of the power. */
const signed = (nonce: string) => [confirm(nonce, '0xa1'), confirm(nonce, '0xa2')];

const claim = (nonce: string, height: string, content: object, ...voters: number[]) => ({
  observed: false,
  height,
  votes: voters.map(vote),
  claim: { event_nonce: nonce, block_height: '812', ...content },
});
const text = (field: number, value: string) => [field * 8 + 2, value.length, ...Buffer.from(value)];
const number = (field: number, value: number) => [field * 8, (value & 0x7f) | 0x80, value >> 7];
const packed = (type: string, ...fields: readonly (readonly number[])[]) => ({
  event_nonce: undefined,
  type_url: `/hub.bridge.v1.${type}`,
  value: Buffer.from([8, 9, ...fields.flat()]).toString('base64'),
});

const deposit = {
  '@type': '/injective.peggy.v1.MsgDepositClaim',
  token_contract: '0xT',
  amount: '2500000',
  ethereum_sender: '0xFrom',
  cosmos_receiver: 'hub1to',
};

const bridge = {
  ...idleState,
  erc20_to_denoms: [{ erc20: '0xt', denom: 'factory/t' }],
  // Those of a token earn 2 for each transfer.
  batches: [
    batch('1', '499', '930'), // expired at the observed external height
    batch('2', '510', '931'), // overdue at the estimated one
    batch('3', '511', '932'), // without enough signatures
    batch('4', 'never', '933'), // an unreadable timeout
    batch('5', '600', 'x'), // an unreadable creation height, last
    batch('6', '600', '940'), // signed, and waits for a relayer
    { ...batch('7', '600', '941'), transactions: [transfer('9')] }, // signed, and pays too little
    batch('8', '600', '942'), // claimed to be executed
  ],
  batch_confirms: [...['6', '7', '8'].flatMap(signed), confirm('3', '0xA2'), confirm('3', '0xunknown')],
  valsets: [...idleState.valsets, { nonce: '930', height: '930', members: members.slice(0, 3) }],
  valset_confirms: [
    { nonce: '930', eth_address: '0xa1' },
    { nonce: '930', eth_address: '0xa4' },
  ],
  attestations: [
    ...idleState.attestations,
    // Two claims of event 8.
    claim('8', '930', { '@type': 'MsgWithdrawClaim', batch_nonce: '8', token_contract: '0xT' }, 0, 1),
    claim('8', '920', deposit, 2),
    claim('9', '940', { ...deposit, token_contract: 5, amount: 'many' }),
    claim('9', '940', { '@type': 'MsgValsetUpdatedClaim', valset_nonce: '5', members: [] }),
    claim('9', '940', { '@type': 'MsgOtherClaim', token_contract: '0xT' }),
    claim(
      '',
      '940',
      packed('MsgDepositClaim', number(2, 812), text(3, '0xT'), text(4, '25'), text(5, '0xF'), text(6, 'h')),
    ),
    claim('', '940', packed('MsgWithdrawClaim', number(2, 812), number(3, 131), text(4, '0xT'))),
    claim('', '940', packed('MsgValsetUpdatedClaim', number(2, 205), number(3, 812))),
    claim('', '940', packed('MsgERC20DeployedClaim', number(2, 812), text(3, 'uhub'), text(4, '0xT'))),
    claim('', '940', packed('MsgDepositClaim', text(2, '812'))),
  ],
  unbatched_transfers: [
    ofToken('9007199254740993', '0xT', '9007199254740993'),
    ofToken('10', '0xT', 'lots'),
    ofToken('9007199254740992', '0xOther', String(2n ** 256n)),
    { id: '9', erc20_token: { contract: '0xPlain', amount: '1' }, erc20_fee: { contract: '0xPlain', amount: '1' } },
    { ...ofToken('11', '0xDear', '7'), dest_address: 'x'.repeat(1000) },
  ],
};

const options = {
  height: '960',
  watch: [validators[2]?.orchestrator ?? ''],
  tokens: [
    { contract: '0xt', symbol: 'TEE', decimals: 6, min_batch_fee: '4' },
    { contract: '0xdear', decimals: 0, min_batch_fee: '2' },
    { contract: '0xplain', symbol: 'PLAIN', decimals: 0 },
  ],
};

describe('the items of module_state', () => {
  it('are those of the document', async () => {
    await expect(textOf(bridgeItemsOf(bridge, options))).toMatchFileSnapshot('golden/bridge.txt');
  });

  it('are unknown as far as fields are missing, and empty lists are not', async () => {
    const { batch_confirms: _confirms, params: _params, ...incomplete } = idleState;
    const invalid = {
      unbatched_transfers: [transfer('1'), { ...transfer('2'), id: 'two' }],
      attestations: [{ claim: {} }],
    };
    const withoutContract = { ...idleState, last_observed_valset: undefined, batches: 'none' };
    const texts = [
      bridgeItemsOf(idleState),
      bridgeItemsOf({ ...incomplete, batches: [batch('5')] }, { height: '960' }),
      bridgeItemsOf({ ...withoutContract, ...invalid }),
    ].map(textOf);
    await expect(texts.join('\n')).toMatchFileSnapshot('golden/bridge-incomplete.txt');
  });
});

const cctx = (index: string, created: unknown = '1000', outbound: object = {}, others: object = {}) => ({
  index,
  cctx_status: {
    status: 'PendingOutbound',
    status_message: 'initiating outbound',
    error_message: '',
    created_timestamp: created,
    lastUpdate_timestamp: '0',
  },
  inbound_params: {
    sender: '0xSender',
    sender_chain_id: '7000',
    tx_origin: '0xOrigin',
    asset: '0xToken',
    observed_hash: '0xinbound',
  },
  outbound_params: [
    { receiver_chainId: '1', coin_type: 'Gas', amount: '1', tss_nonce: '1', hash: '' },
    { receiver_chainId: '56', coin_type: 'ERC20', amount: '25', tss_nonce: '9', hash: '0xhash', ...outbound },
  ],
  ...others,
});
const withStatus = (fields: object) => ({
  cctx_status: { status: 'PendingRevert', created_timestamp: '0', lastUpdate_timestamp: '0', ...fields },
});

const crosschain = {
  height: '5',
  total_pending: '25',
  cctxs_missed: [cctx('missed', '9000', { receiver_chainId: '8453', tss_nonce: '3' })],
  cctxs_pending: [
    cctx('a configured token'),
    cctx('the gas coin of Bitcoin, whose limit is 2 hours', '1000', { receiver_chainId: '8332', coin_type: 'Gas' }),
    cctx('the gas coin of Solana', '3000', { receiver_chainId: '900', coin_type: 'Gas', hash: '' }),
    cctx('the coin of the hub', '6000', { coin_type: 'Native', amount: '2500000000000000000', hash: 5 }),
    cctx('the gas coin of an unknown chain', '7000', { receiver_chainId: '12345', coin_type: 'Gas' }),
    cctx('an unreadable amount', '8000', { receiver_chainId: '1', coin_type: 'Gas', amount: {} }),
    ...['9007199254740993', '10', '9007199254740992'].map((tss_nonce) => cctx(tss_nonce, '8500', { tss_nonce })),
    cctx('ignored'),
    cctx('repeated', '20'),
    cctx('repeated', '30'),
    cctx('a time beyond dates', '9'.repeat(30)),
    cctx('an unreadable time', 'x'),
    cctx('the time of the last update', '', {}, withStatus({ lastUpdate_timestamp: '7' })),
    cctx('an error of several lines', '', {}, withStatus({ error_message: `{"error":\n"${'x'.repeat(1000)}"}` })),
    cctx('an invalid inbound', '8700', {}, { inbound_params: 5 }),
    cctx('no outbound', '8800', {}, { outbound_params: [] }),
  ],
};
const crosschainOptions = {
  chains: { '56': 'bsc', '7000': 'zetachain' },
  ignore: { indexes: ['ignored'], older_than: 0 },
  tokens: [{ contract: '0xtoken', symbol: 'USDT', decimals: 1 }],
};

describe('the items of rate_limiter_input', () => {
  it('are those of the document', async () => {
    await expect(textOf(crosschainItemsOf(crosschain, crosschainOptions))).toMatchFileSnapshot('golden/crosschain.txt');
  });

  it('are those of the list that can be read, and have no coin of another hub than ZetaChain', async () => {
    const cctxs_pending = [cctx('a', '5', { coin_type: 'Native' })];
    const texts = [
      crosschainItemsOf({ cctxs_missed: [{ index: null }], cctxs_pending }, { hub_chain_ids: ['101'] }),
      crosschainItemsOf({ height: '1' }),
    ].map(textOf);
    await expect(texts.join('\n')).toMatchFileSnapshot('golden/crosschain-incomplete.txt');
  });

  it('have the oldest age of what is not ignored in the headline, as the metric', () => {
    const oldest = (...cctxs_pending: readonly object[]) => {
      const { headline } = crosschainSnapshot({ cctxs_missed: [], cctxs_pending }, crosschainOptions);
      return headline?.numbers.map(({ oldestSeconds }) => oldestSeconds);
    };
    const [ignored, other] = [cctx('ignored', '1000'), cctx('other', '2000')];
    expect(oldest(ignored, other)).toEqual(oldest(other));
    expect(oldest(other)).toEqual([undefined, expect.any(Number)]);
  });
});
