import type { Model } from '../../src/simulator/model.js';
import type { Attestation, ModuleState, Valset } from '../../src/simulator/module-state.js';
import type { Cctx } from '../../src/simulator/rate-limiter-input.js';

/** What an operator would see of the chain, worked out from its two documents alone. */
export interface Picture {
  readonly lastObservedNonce: number;
  readonly newestAttestedNonce: number;
  /** Share of the newest set's power behind the best claim for the next event. */
  readonly nextEventShare: number;
  readonly conflictingNonces: number;
  readonly lastPoolId: number;
  readonly oldestTransferId: number;
  readonly unbatched: number;
  readonly batches: number;
  /** The lowest share of power in the contract that signed one of the batches. */
  readonly leastSignedBatch: number;
  /** External blocks until the first batch dies, by the projected height. */
  readonly headroom: number;
  readonly expiredBatches: number;
  readonly unrelayedValsets: number;
  readonly drift: number;
  /** Members of the newest set that confirmed no batch and voted for nothing. */
  readonly silent: number;
  readonly totalPending: number;
  readonly listed: number;
  readonly missed: number;
  readonly pendingValue: bigint;
  readonly pastValue: bigint;
  readonly lowestNonces: Readonly<Record<string, number>>;
}

export function pictureOf(model: Model): Picture {
  const { state } = model.moduleState();
  const input = model.rateLimiterInput();
  const timeouts = state.batches.map(({ batch_timeout }) => Number(batch_timeout));
  const transfers = [...state.unbatched_transfers, ...state.batches.flatMap(({ transactions }) => transactions)];
  const nonces = state.attestations.map(eventNonce);
  const lastObservedNonce = Number(state.last_observed_nonce);
  return {
    lastObservedNonce,
    newestAttestedNonce: Math.max(lastObservedNonce, ...nonces),
    nextEventShare: nextEventShare(state),
    conflictingNonces: new Set(nonces.filter((nonce, position) => nonces.indexOf(nonce) !== position)).size,
    lastPoolId: Number(state.last_outgoing_pool_id),
    oldestTransferId: Math.min(...transfers.map(({ id }) => Number(id))),
    unbatched: state.unbatched_transfers.length,
    batches: state.batches.length,
    leastSignedBatch: Math.min(...batchShares(state)),
    headroom: Math.min(...timeouts) - projectedHeight(state, model.height),
    expiredBatches: timeouts.filter((timeout) => timeout < Number(state.last_observed_external_height)).length,
    unrelayedValsets: state.valsets.filter((set) => Number(set.nonce) > Number(state.last_observed_valset.nonce))
      .length,
    drift: driftOf(state),
    silent: silentOrchestrators(state),
    totalPending: Number(input.total_pending),
    listed: input.cctxs_pending.length,
    missed: input.cctxs_missed.length,
    pendingValue: BigInt(input.pending_cctxs_value),
    pastValue: BigInt(input.past_cctxs_value),
    lowestNonces: lowestNonces(input.cctxs_pending),
  };
}

/** Field 1 of the claim, a varint. */
export function eventNonce({ claim }: Attestation): number {
  const [tag, ...bytes] = Buffer.from(claim.value, 'base64');
  if (tag !== 8) throw new Error(`the claim begins with tag ${tag}`);
  const end = bytes.findIndex((byte) => byte < 0x80);
  return bytes.slice(0, end + 1).reduce((nonce, byte, position) => nonce + (byte % 0x80) * 2 ** (7 * position), 0);
}

/** What is between the last `1` and the six checksum characters. */
export function keyOf(bech32: string): string {
  return bech32.slice(bech32.lastIndexOf('1') + 1, -6);
}

export function powerOf({ members }: Valset): number {
  return members.reduce((sum, { power }) => sum + Number(power), 0);
}

export function currentOutbound(cctx: Cctx) {
  const outbound = cctx.outbound_params.at(-1);
  if (outbound === undefined) throw new Error(`${cctx.index} has no outbound`);
  return outbound;
}

function shareOf(valset: Valset, addresses: ReadonlySet<string>): number {
  const signed = valset.members.filter(({ external_address }) => addresses.has(external_address.toLowerCase()));
  return powerOf({ ...valset, members: signed }) / powerOf(valset);
}

function batchShares(state: ModuleState): number[] {
  return state.batches.map(({ batch_nonce, token_contract }) => {
    const confirms = state.batch_confirms.filter(
      (confirm) =>
        confirm.nonce === batch_nonce && confirm.token_contract.toLowerCase() === token_contract.toLowerCase(),
    );
    return shareOf(state.last_observed_valset, new Set(confirms.map(({ eth_signer }) => eth_signer.toLowerCase())));
  });
}

function votersOf({ votes }: Attestation, { orchestrator_addresses }: ModuleState): Set<string> {
  const keys = new Set(votes.map(keyOf));
  const voters = orchestrator_addresses.filter(({ sender }) => keys.has(keyOf(sender)));
  return new Set(voters.map(({ eth_address }) => eth_address.toLowerCase()));
}

function newestValset({ valsets }: ModuleState): Valset {
  const newest = valsets.toSorted((left, right) => Number(right.nonce) - Number(left.nonce))[0];
  if (newest === undefined) throw new Error('there is no valset');
  return newest;
}

function nextEventShare(state: ModuleState): number {
  const next = state.attestations.filter((row) => eventNonce(row) === Number(state.last_observed_nonce) + 1);
  return Math.max(0, ...next.map((attestation) => shareOf(newestValset(state), votersOf(attestation, state))));
}

function projectedHeight(state: ModuleState, height: number): number {
  const observed = state.attestations.find((row) => eventNonce(row) === Number(state.last_observed_nonce));
  const elapsed = (height - Number(observed?.height)) * Number(state.params.average_block_time);
  const blocks = Math.floor(elapsed / Number(state.params.average_external_block_time));
  return Number(state.last_observed_external_height) + blocks;
}

function driftOf(state: ModuleState): number {
  const [newest, observed] = [newestValset(state), state.last_observed_valset];
  const addresses = new Set([...newest.members, ...observed.members].map(({ external_address }) => external_address));
  return [...addresses]
    .map((address) => new Set([address.toLowerCase()]))
    .reduce((sum, address) => sum + Math.abs(shareOf(newest, address) - shareOf(observed, address)), 0);
}

function silentOrchestrators(state: ModuleState): number {
  const heard = new Set(state.batch_confirms.map(({ orchestrator }) => orchestrator));
  const voters = new Set(state.attestations.flatMap(({ votes }) => votes.map(keyOf)));
  const members = new Set(newestValset(state).members.map(({ external_address }) => external_address));
  return state.orchestrator_addresses.filter(
    ({ sender, orchestrator, eth_address }) =>
      members.has(eth_address) && !heard.has(orchestrator) && !voters.has(keyOf(sender)),
  ).length;
}

function lowestNonces(pending: readonly Cctx[]): Record<string, number> {
  const lowest: Record<string, number> = {};
  for (const { receiver_chainId, tss_nonce } of pending.map(currentOutbound)) {
    lowest[receiver_chainId] = Math.min(lowest[receiver_chainId] ?? Infinity, Number(tss_nonce));
  }
  return lowest;
}
