import { HUB_CHAIN_ID } from './cctx.js';
import type { Model } from './model.js';

/** Fewer than a real node sends, so that there are several pages. */
const NONCES_PER_PAGE = 10;

/*
 * What the node responds to other queries than those for the documents. `undefined`: there is no such thing, which a gateway answers with
 * 404.
 */

/** A block of the CometBFT service (GetLatestBlockResponse, GetBlockByHeightResponse), with a few transactions. */
function blockResponse(height: number, timeMs: number): unknown {
  // Nanoseconds, as a real node writes them.
  const time = `${new Date(timeMs).toISOString().slice(0, -1)}123456Z`;
  const header = { chain_id: 'hub-1', height: String(height), time };
  const block = { header, data: { txs: [Buffer.alloc(2000, height).toString('base64')] } };
  return { block_id: { hash: Buffer.alloc(32, height).toString('base64') }, block, sdk_block: block };
}

export function latestBlockResponse({ node }: Model): unknown {
  return blockResponse(node.height, node.timeMs);
}

export function blockAtResponse({ node, blockTimeMs }: Model, height: string | undefined): unknown {
  const blocksAgo = /^\d{1,15}$/.test(height ?? '') ? node.height - Number(height) : -1;
  return blocksAgo < 0 ? undefined : blockResponse(Number(height), node.timeMs - blocksAgo * blockTimeMs);
}

export function syncingResponse({ node }: Model): unknown {
  return { syncing: node.isSyncing };
}

export function validatorResponse(model: Model, operator: string | undefined): unknown {
  const validator = model.stakingValidators().find((candidate) => candidate.operator_address === operator);
  return validator && { validator };
}

export function claimPositionResponse(model: Model, address = ''): unknown {
  const orchestrator = model.orchestrator(address);
  return (
    orchestrator && {
      last_claim_event: {
        external_event_nonce: String(orchestrator.lastEventNonce),
        external_event_height: String(orchestrator.externalHeight),
      },
    }
  );
}

/** Any account has a balance of any coin. */
export function balanceResponse(model: Model, address: string | undefined, denom: string | null): unknown {
  const isHubCoin = denom === model.moduleState().state.params.hub_coin_denom;
  const amount = isHubCoin ? model.orchestrator(address ?? '')?.balance : undefined;
  return { balance: { denom, amount: String(amount ?? 0n) } };
}

export function crosschainFlagsResponse(model: Model): unknown {
  const { isOutboundEnabled } = model.crosschainStatus();
  return { crosschain_flags: { isInboundEnabled: true, isOutboundEnabled, gasPriceIncreaseFlags: null } };
}

export function signersKeyResponse(model: Model): unknown {
  return { TSS: { tss_pubkey: model.crosschainStatus().key, tss_participant_list: [], keyGenZetaHeight: '1' } };
}

/** Page by page, with the nonces of an earlier key and of the hub itself, which a real hub keeps. */
export function pendingNoncesResponse(model: Model, pageKey: string | null): unknown {
  const { key, nonces } = model.crosschainStatus();
  const rows = [
    ...nonces.map(({ chainId, low, high }) => ({ nonce_low: low, nonce_high: high, chain_id: chainId, tss: key })),
    { nonce_low: 0, nonce_high: 0, chain_id: HUB_CHAIN_ID, tss: key },
    ...nonces.map(({ chainId }) => ({ nonce_low: 5000, nonce_high: 5000, chain_id: chainId, tss: 'earlier' })),
  ].map((row) => ({ ...row, nonce_low: String(row.nonce_low), nonce_high: String(row.nonce_high) }));
  const first = pageKey === null ? 0 : Number(Buffer.from(pageKey, 'base64').toString());
  const next = first + NONCES_PER_PAGE;
  const next_key = next < rows.length ? Buffer.from(String(next)).toString('base64') : null;
  return { pending_nonces: rows.slice(first, next), pagination: { next_key, total: '0' } };
}

export function chainParamsResponse(model: Model): unknown {
  const { lookaheads } = model.crosschainStatus();
  const rows = Object.entries(lookaheads).map(([chain_id, lookahead]) => ({
    chain_id,
    outbound_schedule_interval: '30',
    outbound_schedule_lookahead: String(lookahead),
    is_supported: true,
  }));
  return { chain_params: { chain_params: rows } };
}
