import type { Model } from '../../src/simulator/model.js';
import type { Attestation, Cctx, ModuleState, Valset } from '../../src/simulator/responses.js';

export type ChainSummary = ReturnType<typeof summarize>;

/** Key figures of the simulated chain, computed from its two responses, and the most blocks that a validator has missed. */
export function summarize(model: Model) {
  const { state } = model.moduleState();
  const input = model.rateLimiterInput();
  const timeouts = state.batches.map(({ batch_timeout }) => Number(batch_timeout));
  const nonces = state.attestations.map(eventNonceOf);
  const lastObservedNonce = Number(state.last_observed_nonce);
  return {
    lastObservedNonce,
    newestAttestedNonce: Math.max(lastObservedNonce, ...nonces),
    /** Share of the newest valset's power behind the best claim for the next event. */
    nextEventVotedShare: nextEventVotedShare(state),
    /** Number of events with more than one claim. */
    conflictingEvents: new Set(nonces.filter((nonce, index) => nonces.indexOf(nonce) !== index)).size,
    lastPoolId: Number(state.last_outgoing_pool_id),
    oldestTransferId: Math.min(...transferIds(state)),
    unbatched: state.unbatched_transfers.length,
    batches: state.batches.length,
    /** The lowest share of the observed valset's power that signed a batch. */
    lowestSignedShare: Math.min(...signedShares(state)),
    /** External blocks from the estimated external height to the first batch timeout. */
    blocksToTimeout: Math.min(...timeouts) - estimatedExternalHeight(state, model.height),
    expiredBatches: timeouts.filter((timeout) => timeout < Number(state.last_observed_external_height)).length,
    unrelayedValsets: state.valsets.filter((set) => Number(set.nonce) > Number(state.last_observed_valset.nonce))
      .length,
    valsetDrift: valsetDrift(state),
    /** Members of the newest valset that neither confirmed a batch nor voted. */
    silentSigners: silentSigners(state),
    totalPending: Number(input.total_pending),
    listedPending: input.cctxs_pending.length,
    missed: input.cctxs_missed.length,
    pendingValue: BigInt(input.pending_cctxs_value),
    pastValue: BigInt(input.past_cctxs_value),
    lowestNonces: lowestNonces(input.cctxs_pending),
    missedBlocks: Math.max(...model.bridge.validators.map((validator) => model.bridge.signedBlocks.missed(validator))),
  };
}

/** Field 1 of the claim's protobuf message, a varint. */
export function eventNonceOf({ claim }: Attestation): number {
  const [tag, ...bytes] = Buffer.from(claim.value, 'base64');
  if (tag !== 8) throw new Error(`the claim begins with tag ${tag}`);
  const end = bytes.findIndex((byte) => byte < 0x80);
  return bytes.slice(0, end + 1).reduce((nonce, byte, index) => nonce + (byte % 0x80) * 2 ** (7 * index), 0);
}

/** The data part of a bech32 address: between the last `1` and the six checksum characters. */
export function bech32DataOf(address: string): string {
  return address.slice(address.lastIndexOf('1') + 1, -6);
}

export function powerOf({ members }: Valset): number {
  return members.reduce((sum, { power }) => sum + Number(power), 0);
}

export function currentOutbound(cctx: Cctx) {
  const outbound = cctx.outbound_params.at(-1);
  if (outbound === undefined) throw new Error(`${cctx.index} has no outbound`);
  return outbound;
}

/** What a module state contains that no hub can have. */
export function inconsistenciesOf(state: ModuleState): string[] {
  const senders = new Set(state.orchestrator_addresses.map(({ sender }) => bech32DataOf(sender)));
  const isVote = (vote: string): boolean => vote.startsWith('hubvaloper1') && senders.has(bech32DataOf(vote));
  const signers = new Set(state.orchestrator_addresses.map((row) => pairOf(row.orchestrator, row.eth_address)));
  const confirmSigners = [
    ...state.valset_confirms.map((row) => pairOf(row.orchestrator, row.eth_address)),
    ...state.batch_confirms.map((row) => pairOf(row.orchestrator, row.eth_signer)),
  ];
  const valsets = new Set(state.valsets.map(({ nonce }) => nonce));
  const batches = new Set(state.batches.map((row) => pairOf(row.batch_nonce, row.token_contract)));
  const sums = [...state.valsets, state.last_observed_valset].map(powerOf);
  const nonces = [...new Set(state.attestations.map(eventNonceOf))];
  const observed = state.attestations.filter((row) => row.observed).map(eventNonceOf);
  const ids = transferIds(state);
  const checks: Readonly<Record<string, boolean>> = {
    'a vote of nobody': state.attestations.some(({ votes }) => !votes.every(isVote)),
    'a confirm of an unknown signer': confirmSigners.some((signer) => !signers.has(signer)),
    'a confirm without a set': state.valset_confirms.some(({ nonce }) => !valsets.has(nonce)),
    'a confirm without a batch': state.batch_confirms.some(
      ({ nonce, token_contract }) => !batches.has(pairOf(nonce, token_contract)),
    ),
    'a set with another sum of powers': sums.some((sum) => sum > 2 ** 32 - 1 || sum < 2 ** 32 - 21),
    'a set whose nonce is not its height': state.valsets.some(({ nonce, height }) => nonce !== height),
    'an observed set with a hub height': state.last_observed_valset.height !== '0',
    'a gap of events': nonces.some((nonce, index) => nonce !== Number(state.last_observed_nonce) + index),
    'another observed event than the last': observed.some((nonce) => nonce !== Number(state.last_observed_nonce)),
    'a transfer in two places': new Set(ids).size < ids.length,
    'an id that was not given out': ids.some((id) => id > Number(state.last_outgoing_pool_id)),
    'a batch with two tokens': state.batches.some(({ token_contract, transactions }) =>
      transactions.some((row) => [row.erc20_token, row.erc20_fee].some(({ contract }) => contract !== token_contract)),
    ),
  };
  return Object.keys(checks).filter((text) => checks[text]);
}

const pairOf = (first: string, second: string): string => `${first} ${second.toLowerCase()}`;

/** The ids of all transfers, in batches or not. */
export function transferIds({ unbatched_transfers, batches }: ModuleState): number[] {
  return [...unbatched_transfers, ...batches.flatMap(({ transactions }) => transactions)].map(({ id }) => Number(id));
}

function powerShareOf(valset: Valset, addresses: ReadonlySet<string>): number {
  const members = valset.members.filter(({ external_address }) => addresses.has(external_address.toLowerCase()));
  return powerOf({ ...valset, members }) / powerOf(valset);
}

function signedShares(state: ModuleState): number[] {
  return state.batches.map(({ batch_nonce, token_contract }) => {
    const confirms = state.batch_confirms.filter(
      (confirm) =>
        confirm.nonce === batch_nonce && confirm.token_contract.toLowerCase() === token_contract.toLowerCase(),
    );
    const signers = new Set(confirms.map(({ eth_signer }) => eth_signer.toLowerCase()));
    return powerShareOf(state.last_observed_valset, signers);
  });
}

function votersOf({ votes }: Attestation, { orchestrator_addresses }: ModuleState): Set<string> {
  const keys = new Set(votes.map(bech32DataOf));
  const voters = orchestrator_addresses.filter(({ sender }) => keys.has(bech32DataOf(sender)));
  return new Set(voters.map(({ eth_address }) => eth_address.toLowerCase()));
}

function newestValset({ valsets }: ModuleState): Valset {
  const newest = valsets.toSorted((left, right) => Number(right.nonce) - Number(left.nonce))[0];
  if (newest === undefined) throw new Error('there is no valset');
  return newest;
}

function nextEventVotedShare(state: ModuleState): number {
  const next = state.attestations.filter((row) => eventNonceOf(row) === Number(state.last_observed_nonce) + 1);
  return Math.max(0, ...next.map((attestation) => powerShareOf(newestValset(state), votersOf(attestation, state))));
}

/** By the last observed event and the block times that the hub assumes. */
export function estimatedExternalHeight(state: ModuleState, height: number): number {
  const observed = state.attestations.find((row) => eventNonceOf(row) === Number(state.last_observed_nonce));
  const elapsedMs = (height - Number(observed?.height)) * Number(state.params.average_block_time);
  const blocks = Math.floor(elapsedMs / Number(state.params.average_external_block_time));
  return Number(state.last_observed_external_height) + blocks;
}

function valsetDrift(state: ModuleState): number {
  const [newest, observed] = [newestValset(state), state.last_observed_valset];
  const addresses = new Set([...newest.members, ...observed.members].map(({ external_address }) => external_address));
  return [...addresses]
    .map((address) => new Set([address.toLowerCase()]))
    .reduce((sum, address) => sum + Math.abs(powerShareOf(newest, address) - powerShareOf(observed, address)), 0);
}

function silentSigners(state: ModuleState): number {
  const confirmers = new Set(state.batch_confirms.map(({ orchestrator }) => orchestrator));
  const voters = new Set(state.attestations.flatMap(({ votes }) => votes.map(bech32DataOf)));
  const members = new Set(newestValset(state).members.map(({ external_address }) => external_address));
  return state.orchestrator_addresses.filter(
    ({ sender, orchestrator, eth_address }) =>
      members.has(eth_address) && !confirmers.has(orchestrator) && !voters.has(bech32DataOf(sender)),
  ).length;
}

function lowestNonces(pending: readonly Cctx[]): Record<string, number> {
  const lowest: Record<string, number> = {};
  for (const { receiver_chainId, tss_nonce } of pending.map(currentOutbound)) {
    lowest[receiver_chainId] = Math.min(lowest[receiver_chainId] ?? Infinity, Number(tss_nonce));
  }
  return lowest;
}
