import type { Attestation, Cctx, ModuleState, Valset } from '../../src/simulator/responses.js';

/* What tests read in the documents of a simulated chain. */

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
