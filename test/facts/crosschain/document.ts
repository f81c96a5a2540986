import type { Json, JsonObject } from '../../support/json.js';
import { deriveCrosschain, familyReaders } from '../derive.js';

/*
 * Builders of small rate limiter inputs. Fields that are not given are empty.
 */

export const { valueOf, valuesOf, exportedOf } = familyReaders(deriveCrosschain);

export function outbound(receiver_chainId: Json, fields: JsonObject = {}): JsonObject {
  return { receiver_chainId, coin_type: 'Gas', amount: '0', tss_nonce: '0', hash: '0xabc', ...fields };
}

/** A transaction from chain 7000. The last outbound is the current one. */
export function cctx(index: string, outbounds: readonly Json[], fields: JsonObject = {}): JsonObject {
  return {
    index,
    cctx_status: status(),
    inbound_params: { sender_chain_id: '7000' },
    outbound_params: outbounds,
    ...fields,
  };
}

export function status(fields: JsonObject = {}): JsonObject {
  return { status: 'PendingOutbound', created_timestamp: '0', lastUpdate_timestamp: '0', ...fields };
}

const empty: JsonObject = {
  height: '100',
  cctxs_missed: [],
  cctxs_pending: [],
  total_pending: '0',
  past_cctxs_value: '0',
  pending_cctxs_value: '0',
  lowest_pending_cctx_height: '0',
};

export function rateLimiterInput(fields: JsonObject): JsonObject {
  return { ...empty, ...fields };
}
