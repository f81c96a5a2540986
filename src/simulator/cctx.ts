import { describeOutgoing, describeRevert } from './cctx-document.js';
import { amountWorth, type Asset, type ExternalChain, HUB_COIN, valueOf } from './external-chains.js';
import type { Random } from './random.js';
import type { Cctx, OutboundParams } from './rate-limiter-input.js';

const SIGNING_SECONDS: readonly [number, number] = [15, 60];
/** Signers raise the gas price of what waits, which rewrites `lastUpdate_timestamp`. */
const GAS_BUMP_SECONDS = 600;
const MOST_GAS_BUMPS = 4;

/** A cross-chain transaction that is not finished. */
export interface LiveCctx {
  readonly direction: 'outgoing' | 'revert';
  readonly chain: ExternalChain;
  /** Of the chain the transaction came from: the hub's for outgoing ones. */
  readonly inboundHeight: number;
  readonly value: bigint;
  readonly createdSeconds: number;
  readonly confirmationSeconds: number;
  /** Set when it is broadcast. */
  readonly txHash: string;
  /** The document as it was at its creation. */
  readonly created: Cctx;
  broadcastAtSeconds: number;
  isBroadcast: boolean;
  isLost: boolean;
}

/** What a new cctx starts from. */
export interface CctxOrder {
  readonly random: Random;
  readonly chain: ExternalChain;
  readonly direction: LiveCctx['direction'];
  /** The sequence number of its outbound on that chain. */
  readonly nonce: number;
  /** About this much, in smallest units of the hub coin. */
  readonly value: bigint;
  readonly tssPubkey: string;
  readonly createdSeconds: number;
  readonly hubHeight: number;
  readonly chainHeight: number;
}

export function createCctx(order: CctxOrder): LiveCctx {
  const { random, chain, direction, createdSeconds } = order;
  const asset = drawAsset(random, chain);
  const amount = amountWorth(asset, order.value);
  const isOutgoing = direction === 'outgoing';
  return {
    direction,
    chain,
    inboundHeight: isOutgoing ? order.hubHeight : order.chainHeight,
    value: valueOf(asset, amount),
    createdSeconds,
    confirmationSeconds: random.between(...chain.confirmationSeconds),
    txHash: `0x${random.hex(64)}`,
    created: (isOutgoing ? describeOutgoing : describeRevert)(order, asset, String(amount)),
    broadcastAtSeconds: createdSeconds + random.between(...SIGNING_SECONDS),
    isBroadcast: false,
    isLost: false,
  };
}

/** The document as it is now; only its last outbound changes while it waits. */
export function presentCctx(cctx: LiveCctx, nowSeconds: number): Cctx {
  const { created, createdSeconds, isBroadcast, broadcastAtSeconds } = cctx;
  const bumps = Math.floor((nowSeconds - createdSeconds) / GAS_BUMP_SECONDS);
  const lastUpdate = Math.max(createdSeconds + bumps * GAS_BUMP_SECONDS, isBroadcast ? broadcastAtSeconds : 0);
  const priced = (outbound: OutboundParams): OutboundParams => ({
    ...outbound,
    hash: isBroadcast ? cctx.txHash : '',
    gas_price: String(cctx.chain.gasPrice * (1 + Math.min(bumps, MOST_GAS_BUMPS))),
  });
  const { cctx_status, outbound_params } = created;
  return {
    ...created,
    cctx_status: { ...cctx_status, lastUpdate_timestamp: String(lastUpdate) },
    outbound_params: [...outbound_params.slice(0, -1), ...outbound_params.slice(-1).map(priced)],
  };
}

function drawAsset(random: Random, chain: ExternalChain): Asset {
  const draw = random.next();
  if (!chain.hasContracts || draw < 0.4) return chain.gas;
  return draw < 0.7 && chain.erc20 ? chain.erc20 : HUB_COIN;
}
