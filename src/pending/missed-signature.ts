import { add, compare, integer, subtract, type Exact } from '../chain/decimal.js';
import type { OrchestratorAddress } from '../chain/module-state.js';
import type { BridgeInput } from '../metrics/bridge/input.js';
import { batchSigners, valsetSigners } from '../metrics/bridge/signing.js';
import { memberAddresses } from '../metrics/bridge/valsets.js';
import { required, rows } from '../metrics/required-fields.js';
import { decimalStringOf, orNull } from './item-list.js';
import type { MissedSignature } from './items.js';

/**
 * What a validator did not sign, if it left the validator set when the time for that had passed: the bridge jails in the block after the
 * deadline, and the hub then makes a set without the validator. `null` for other reasons, such as missed blocks.
 */
export function missedSignature(input: BridgeInput, { eth_address }: OrchestratorAddress): MissedSignature | null {
  const address = required(eth_address);
  const leftAt = heightOfLeaving(input, address);
  if (leftAt === undefined) return null;
  const { params, valsets, batches } = input.state;
  const isCause = (height: Exact, window: Exact): boolean => {
    const blocks = subtract(leftAt, add(height, window));
    return compare(blocks, integer(1)) === 0 || compare(blocks, integer(2)) === 0;
  };
  const valset = orNull(() => {
    const window = required(required(params).signed_valsets_window);
    return rows(valsets)
      .filter(({ height }) => isCause(required(height), window))
      .find((own) => memberAddresses(own).has(address) && !valsetSigners(input, own).has(address));
  });
  if (valset) return { of: 'validator set', nonce: decimalStringOf(valset.nonce) };
  const batch = orNull(() => {
    const window = required(required(params).signed_batches_window);
    return rows(batches)
      .filter(({ block }) => isCause(required(block), window))
      .find((own) => !batchSigners(input, own).has(address));
  });
  return batch ? { of: 'batch', nonce: decimalStringOf(batch.batch_nonce) } : null;
}

/** The height of the first validator set since which the address is in none; `undefined` when it was in none of those in the state. */
function heightOfLeaving({ state }: BridgeInput, address: string): Exact | undefined {
  const byNonce = rows(state.valsets).toSorted((a, b) => compare(required(a.nonce), required(b.nonce)));
  const last = byNonce.findLastIndex((valset) => memberAddresses(valset).has(address));
  const next = last === -1 ? undefined : byNonce[last + 1];
  return next && required(next.height);
}
