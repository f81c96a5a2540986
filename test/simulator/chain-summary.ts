import type { Model } from '../../src/simulator/model.js';
import { labelsOf, seriesOf } from '../support/exposition-text.js';
import { bridgeSnapshot, crosschainSnapshot } from '../support/snapshots.js';
import type { Attestation, Cctx, ModuleState, Valset } from '../../src/simulator/responses.js';

export type ChainSummary = ReturnType<typeof summarize>;

/** Key figures of the simulated chain, most of them as the exporter finds them, and the most blocks that a validator has missed. */
export function summarize(model: Model) {
  const { state } = model.moduleState();
  const input = model.rateLimiterInput();
  const { renderedFamilies } = bridgeSnapshot(state, { height: String(model.height) });
  const families = [...renderedFamilies, ...crosschainSnapshot(input).renderedFamilies];
  const series = seriesOf(families.map(({ text }) => text).join(''));
  const gauge = (name: string, absent = NaN): number => series.find((own) => own.name === name)?.value ?? absent;
  const timeouts = state.batches.map(({ batch_timeout }) => Number(batch_timeout));
  const lowestNonces = series.filter(({ name }) => name === 'crosschain_lowest_pending_nonce');
  return {
    lastObservedNonce: gauge('bridge_last_observed_nonce'),
    newestAttestedNonce: gauge('bridge_newest_attested_nonce'),
    /** Share of the newest valset's power behind the best claim for the next event. */
    nextEventVotedShare: gauge('bridge_next_event_voted_power_ratio', 0),
    /** Number of events with more than one claim. */
    conflictingEvents: gauge('bridge_conflicting_claims'),
    lastPoolId: gauge('bridge_last_outgoing_pool_id'),
    oldestTransferId: gauge('bridge_oldest_pending_transfer_id', Infinity),
    unbatched: gauge('bridge_unbatched_transfers'),
    batches: gauge('bridge_batches'),
    /** The lowest share of the observed valset's power that signed a batch. */
    lowestSignedShare: gauge('bridge_batch_min_signed_power_ratio', Infinity),
    /** External blocks from the estimated external height to the first batch timeout. */
    blocksToTimeout: Math.min(...timeouts) - estimatedExternalHeight(state, model.height),
    expiredBatches: gauge('bridge_batches_expired'),
    unrelayedValsets: gauge('bridge_unrelayed_valsets'),
    valsetDrift: gauge('bridge_valset_power_drift_ratio'),
    /** Members of the newest valset that neither confirmed a batch nor voted. */
    silentSigners: silentSigners(state),
    totalPending: gauge('crosschain_total_pending'),
    listedPending: gauge('crosschain_cctxs_pending'),
    missed: gauge('crosschain_cctxs_missed'),
    pendingValue: BigInt(input.pending_cctxs_value),
    pastValue: BigInt(input.past_cctxs_value),
    lowestNonces: Object.fromEntries(lowestNonces.map((own) => [labelsOf(own)['chain_id'] ?? '', own.value])),
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

/** By the last observed event and the block times that the hub assumes. */
export function estimatedExternalHeight(state: ModuleState, height: number): number {
  const observed = state.attestations.find((row) => eventNonceOf(row) === Number(state.last_observed_nonce));
  const elapsedMs = (height - Number(observed?.height)) * Number(state.params.average_block_time);
  const blocks = Math.floor(elapsedMs / Number(state.params.average_external_block_time));
  return Number(state.last_observed_external_height) + blocks;
}

function silentSigners(state: ModuleState): number {
  const confirmers = new Set(state.batch_confirms.map(({ orchestrator }) => orchestrator));
  const voters = new Set(state.attestations.flatMap(({ votes }) => votes.map(bech32DataOf)));
  const members = new Set(state.valsets.at(-1)?.members.map(({ external_address }) => external_address));
  return state.orchestrator_addresses.filter(
    ({ sender, orchestrator, eth_address }) =>
      members.has(eth_address) && !confirmers.has(orchestrator) && !voters.has(bech32DataOf(sender)),
  ).length;
}
