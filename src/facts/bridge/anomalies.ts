import { dataPart } from '../../chain/addresses.js';
import { required, rows } from '../required-fields.js';
import { voters } from './events.js';
import type { BridgeInput } from './bridge-input.js';
import { registrationByAddress, registrationBySender } from './registrations.js';
import { batchesByKey, confirmsByBatch, confirmsByValset } from './signatures.js';
import { newestMemberAddresses } from './valsets.js';

export function orphanValsetConfirms(input: BridgeInput): number {
  const live = new Set(rows(input.state.valsets).map(({ nonce }) => required(nonce)));
  return countOrphans(confirmsByValset(input), (nonce) => live.has(nonce));
}

export function orphanBatchConfirms(input: BridgeInput): number {
  const live = batchesByKey(input);
  return countOrphans(confirmsByBatch(input), (key) => live.has(key));
}

/** Number of confirms of validator sets or batches that are not in the state. */
function countOrphans<Key>(confirms: ReadonlyMap<Key, readonly unknown[]>, isLive: (key: Key) => boolean): number {
  return Array.from(confirms).reduce((total, [key, { length }]) => total + (isLive(key) ? 0 : length), 0);
}

export function membersWithoutOrchestrator(input: BridgeInput): number {
  const registrations = registrationByAddress(input);
  return Array.from(newestMemberAddresses(input)).filter((address) => !registrations.has(address)).length;
}

export function unknownVoters(input: BridgeInput): number {
  const registrations = registrationBySender(input);
  const distinct = new Set(rows(input.state.attestations).flatMap(voters));
  return Array.from(distinct).filter((voter) => !registrations.has(voter)).length;
}

export function duplicateOrchestrators({ state }: BridgeInput): number {
  const addresses = new Set<string>();
  const orchestrators = new Set<string>();
  return rows(state.orchestrator_addresses).filter((row) => {
    const address = required(row.eth_address);
    const orchestrator = dataPart(required(row.orchestrator));
    const repeats = addresses.has(address) || orchestrators.has(orchestrator);
    addresses.add(address);
    orchestrators.add(orchestrator);
    return repeats;
  }).length;
}
