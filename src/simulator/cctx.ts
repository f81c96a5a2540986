import {
  amountWorth,
  type Asset,
  type ExternalChain,
  HUB_COIN,
  secondsToHash,
  hubCoinValue,
} from './external-chains.js';
import { createAccount, createExternalAddress, type Random } from './random.js';
import type { Immutable } from './responses.js';

export const HUB_CHAIN_ID = '7000';

/** Signers raise the gas price of a pending cctx this often, which also updates `lastUpdate_timestamp`. */
const GAS_BUMP_SECONDS = 600;
const MAX_GAS_BUMPS = 4;

/** The row of a cctx in a response. */
export type Cctx = Immutable<ReturnType<typeof createOutgoing>>;

/** A cross-chain transaction (cctx) and its progress. */
export interface SimulatedCctx {
  /**
   * `outgoing`: from the hub to the chain. `revert`: came from the chain, failed on the hub and is sent back.
   * `command`: an administrator of the hub moves the funds on the chain.
   */
  readonly direction: 'outgoing' | 'revert' | 'command';
  readonly chain: ExternalChain;
  /** Of the outbound transaction on the chain. */
  readonly nonce: number;
  /** Height of the source chain: the hub for an outgoing cctx, `chain` for a revert. */
  readonly inboundHeight: number;
  /** In smallest units of the hub coin. */
  readonly value: bigint;
  readonly createdSeconds: number;
  readonly confirmationSeconds: number;
  /** Hash of the outbound transaction, which is shown once the signers have posted it. */
  readonly txHash: string;
  /** The response row as of creation. */
  readonly created: Cctx;
  broadcastAtSeconds: number;
  isBroadcast: boolean;
  /** The signers have lost track of it, so it is not broadcast. */
  isLost: boolean;
}

export interface CctxOptions {
  readonly random: Random;
  readonly chain: ExternalChain;
  readonly direction: 'outgoing' | 'revert';
  /** Nonce of the outbound transaction on the chain. */
  readonly nonce: number;
  /** Approximate value in smallest units of the hub coin. */
  readonly value: bigint;
  readonly tssPubkey: string;
  readonly createdSeconds: number;
  readonly hubHeight: number;
  readonly chainHeight: number;
  /** Drawn when absent. */
  readonly asset?: Asset;
  /** Minimum and maximum time from creation to broadcast. */
  readonly signingSeconds: readonly [number, number];
}

export function createCctx(options: CctxOptions): SimulatedCctx {
  const { random, chain, direction, createdSeconds } = options;
  const asset = options.asset ?? drawAsset(random, chain);
  const amount = amountWorth(asset, options.value);
  const isOutgoing = direction === 'outgoing';
  return {
    direction,
    chain,
    nonce: options.nonce,
    inboundHeight: isOutgoing ? options.hubHeight : options.chainHeight,
    value: hubCoinValue(asset, amount),
    createdSeconds,
    confirmationSeconds: random.between(...chain.confirmationSeconds),
    txHash: `0x${random.hex(64)}`,
    created: (isOutgoing ? createOutgoing : createRevert)(options, asset, String(amount)),
    broadcastAtSeconds: createdSeconds + random.between(...options.signingSeconds),
    isBroadcast: false,
    isLost: false,
  };
}

/** Moves the funds of a chain to another key. The hub records neither a sender chain nor times of such a cctx. */
export function createCommand(options: CctxOptions): SimulatedCctx {
  const cctx = createCctx({ ...options, direction: 'outgoing', asset: options.chain.gas });
  const { created } = cctx;
  const coin_type = 'Cmd' as const;
  const commanded = { sender_chain_id: '0', coin_type, observed_external_height: '0' };
  return {
    ...cctx,
    direction: 'command',
    inboundHeight: 0,
    value: 0n,
    created: {
      ...created,
      relayed_message: 'migrate the funds',
      cctx_status: { ...created.cctx_status, created_timestamp: '0' },
      inbound_params: { ...created.inbound_params, ...commanded },
      outbound_params: created.outbound_params.map((outbound) => ({ ...outbound, coin_type })),
    },
  };
}

/** The response row as of now. Only the timestamp of the last update and the last outbound change. */
export function currentRow(cctx: SimulatedCctx, nowSeconds: number): Cctx {
  const { created, createdSeconds, isBroadcast, broadcastAtSeconds } = cctx;
  const bumps = Math.floor((nowSeconds - createdSeconds) / GAS_BUMP_SECONDS);
  const hashAt = broadcastAtSeconds + secondsToHash(cctx.chain);
  const hasHash = isBroadcast && nowSeconds >= hashAt;
  const lastUpdate = Math.max(createdSeconds + bumps * GAS_BUMP_SECONDS, hasHash ? hashAt : 0);
  const updated = (outbound: Cctx['outbound_params'][number]) => ({
    ...outbound,
    hash: hasHash ? cctx.txHash : '',
    gas_price: String(cctx.chain.gasPrice * (1 + Math.min(bumps, MAX_GAS_BUMPS))),
  });
  const { cctx_status, outbound_params } = created;
  return {
    ...created,
    cctx_status: { ...cctx_status, lastUpdate_timestamp: String(lastUpdate) },
    outbound_params: [...outbound_params.slice(0, -1), ...outbound_params.slice(-1).map(updated)],
  };
}

function drawAsset(random: Random, chain: ExternalChain): Asset {
  const draw = random.next();
  if (!chain.hasContracts || draw < 0.4) return chain.gas;
  return draw < 0.7 && chain.erc20 ? chain.erc20 : HUB_COIN;
}

/** Sent from the hub, with one pending outbound. */
function createOutgoing(options: CctxOptions, asset: Asset, amount: string) {
  const { random } = options;
  const index = `0x${random.hex(64)}`;
  const sender = createExternalAddress(random);
  const isCall = options.chain.hasContracts && random.chance(0.2);
  return {
    creator: '',
    index,
    native_fees: '0',
    relayed_message: isCall ? random.hex(64) : '',
    cctx_status: createStatus(options, 'PendingOutbound', 'initiating outbound', ''),
    inbound_params: {
      ...createInbound(options, asset, amount, sender),
      sender_chain_id: HUB_CHAIN_ID,
      observed_external_height: String(options.hubHeight),
      ballot_index: index,
      is_cross_chain_call: isCall,
    },
    outbound_params: [createPendingOutbound(options, asset, amount, createExternalAddress(random))],
    protocol_contract_version: random.chance(0.3) ? 'V1' : 'V2',
    revert_options: createRevertOptions(sender, isCall),
  };
}

/** Sent from an external chain, with a failed outbound to the hub and a pending one back. */
function createRevert(options: CctxOptions, asset: Asset, amount: string): Cctx {
  const { random } = options;
  const sender = createExternalAddress(random);
  const error = JSON.stringify({ type: 'contract_call_error', message: 'execution reverted', error: 'no liquidity' });
  return {
    creator: createAccount(random),
    index: `0x${random.hex(64)}`,
    native_fees: '0',
    relayed_message: random.hex(128),
    cctx_status: createStatus(options, 'PendingRevert', 'outbound failed', error),
    inbound_params: {
      ...createInbound(options, asset, amount, sender),
      ballot_index: `0x${random.hex(64)}`,
      finalized_native_height: String(options.hubHeight),
      tx_finalization_status: 'Executed',
      is_cross_chain_call: true,
    },
    outbound_params: [
      createFailedOutbound(options, asset, amount),
      createPendingOutbound(options, asset, amount, sender),
    ],
    protocol_contract_version: 'V2',
    revert_options: createRevertOptions(sender, true),
  };
}

function createStatus({ createdSeconds }: CctxOptions, status: string, message: string, error: string) {
  return {
    status,
    status_message: message,
    error_message: error,
    lastUpdate_timestamp: String(createdSeconds),
    isAbortRefunded: false,
    created_timestamp: String(createdSeconds),
  };
}

function createInbound({ random, chain, chainHeight }: CctxOptions, asset: Asset, amount: string, sender: string) {
  return {
    sender,
    sender_chain_id: chain.id,
    tx_origin: sender,
    coin_type: asset.coinType,
    asset: asset.contract,
    amount,
    observed_hash: `0x${random.hex(64)}`,
    observed_external_height: String(chainHeight),
    ballot_index: '',
    finalized_native_height: '0',
    tx_finalization_status: 'NotFinalized',
    is_cross_chain_call: false,
  };
}

function createPendingOutbound(options: CctxOptions, asset: Asset, amount: string, receiver: string) {
  return {
    receiver,
    receiver_chainId: options.chain.id,
    coin_type: asset.coinType,
    amount,
    tss_nonce: String(options.nonce),
    gas_limit: '0',
    gas_price: String(options.chain.gasPrice),
    gas_priority_fee: '0',
    hash: '',
    ballot_index: '',
    observed_external_height: '0',
    gas_used: '0',
    effective_gas_price: '0',
    effective_gas_limit: '0',
    tss_pubkey: options.tssPubkey,
    tx_finalization_status: 'NotFinalized',
    call_options: { gas_limit: asset.coinType === 'Gas' ? '21000' : '100000', is_arbitrary_call: false },
  };
}

/** The failed outbound to the hub, which has no gas price. */
function createFailedOutbound(options: CctxOptions, asset: Asset, amount: string) {
  const { random } = options;
  return {
    ...createPendingOutbound(options, asset, amount, createExternalAddress(random)),
    receiver_chainId: HUB_CHAIN_ID,
    tss_nonce: '0',
    gas_price: '',
    gas_priority_fee: '',
    hash: `0x${random.hex(64)}`,
    ballot_index: `0x${random.hex(64)}`,
    observed_external_height: String(options.hubHeight),
    tx_finalization_status: 'Executed',
  };
}

function createRevertOptions(sender: string, callsOnRevert: boolean) {
  return {
    revert_address: sender,
    call_on_revert: callsOnRevert,
    abort_address: '',
    revert_message: callsOnRevert ? Buffer.from('send it back').toString('base64') : '',
    revert_gas_limit: callsOnRevert ? '200000' : '0',
  };
}
