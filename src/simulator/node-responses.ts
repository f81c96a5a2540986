import type { Model } from './model.js';

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
