import { createHash } from 'node:crypto';
import { type Cctx } from './cctx.js';
import type { ConnectedChain } from './crosschain-module.js';
import { LOOKAHEAD } from './external-chains.js';
import type { Model } from './model.js';

/*
 * Responses to the queries of the runbook that the exporter does not send, so that an incident can be rehearsed with
 * its commands. `undefined` for what the node does not find.
 */

/** The elements of the path that vary, and the parameters. */
interface Question {
  readonly path: readonly string[];
  readonly parameters: URLSearchParams;
}

type Respond = (model: Model, question: Question) => object | undefined;

const findChain = ({ crosschain: { chains } }: Model, id: string | undefined): ConnectedChain | undefined =>
  chains.find((chain) => chain.id === id);

/** The unfinished cctxs of a chain, missed ones first. */
function unfinished(model: Model, chain: ConnectedChain): readonly Cctx[] {
  const { missed, pending } = chain.queue;
  return [...missed, ...pending].flatMap(({ created: { index } }) => model.cctx(index) ?? []);
}

function findByNonce(model: Model, [chainId, nonce]: readonly string[]): Cctx | undefined {
  const chain = findChain(model, chainId);
  return chain && unfinished(model, chain).find(({ outbound_params }) => outbound_params.at(-1)?.tss_nonce === nonce);
}

/** The addresses of the signers follow from their key. */
function signersAddresses({ crosschain: { tssPubkey } }: Model): object {
  const hash = createHash('sha256').update(tssPubkey).digest('hex');
  return { eth: `0x${hash.slice(0, 40)}`, btc: `bc1q${hash.slice(0, 38)}`, sui: `0x${hash}` };
}

/** The parameters of a chain, as far as somebody reads them. */
export function chainParams({ id, lookahead = LOOKAHEAD }: ConnectedChain): object {
  return {
    chain_id: id,
    confirmation_params: { safe_inbound_count: '2', safe_outbound_count: '2' },
    outbound_schedule_interval: '30',
    outbound_schedule_lookahead: String(lookahead),
    is_supported: true,
  };
}

function outboundTracker(model: Model, path: readonly string[]): object | undefined {
  const [chain_id = '', nonce = ''] = path;
  const hash = findByNonce(model, path)?.outbound_params.at(-1)?.hash ?? '';
  if (hash === '') return undefined;
  const hash_list = [{ tx_hash: hash, tx_signer: '', proved: false }];
  return { outboundTracker: { index: `${chain_id}-${nonce}`, chain_id, nonce, hash_list } };
}

const MAX_LISTED = 500;

/** A batch takes so many transfers; the module sums the lowest fees of a token. */
const BATCH_SIZE = 100;

function batchFees(model: Model): object {
  const fees = new Map<string, bigint[]>();
  for (const { erc20_fee } of model.bridge.state().unbatched_transfers) {
    fees.set(erc20_fee.contract, [...(fees.get(erc20_fee.contract) ?? []), BigInt(erc20_fee.amount)]);
  }
  const batchFeesOf = Array.from(fees, ([token, amounts]) => {
    const lowest = amounts.toSorted((a, b) => (a < b ? -1 : 1)).slice(0, BATCH_SIZE);
    return { token, total_fees: String(lowest.reduce((sum, amount) => sum + amount, 0n)) };
  });
  return { batchFees: batchFeesOf };
}

function batchConfirms(model: Model, parameters: URLSearchParams): object {
  const contract = parameters.get('contract_address')?.toLowerCase();
  const isOf = ({ nonce, token_contract }: { readonly nonce: string; readonly token_contract: string }): boolean =>
    nonce === parameters.get('nonce') && token_contract.toLowerCase() === contract;
  return { confirms: model.bridge.state().batch_confirms.filter(isOf) };
}

function delegateKeys(model: Model, parameters: URLSearchParams): object | undefined {
  const operator = parameters.get('validator_address');
  const validator = model.bridge.validators.find((candidate) => candidate.operator === operator);
  return validator && { eth_address: validator.externalAddress, orchestrator_address: validator.orchestrator };
}

/** `*` is one element of the path. */
export const runbookQueries = {
  cctx_by_nonce: {
    path: '/chain/crosschain/cctx/*/*',
    respond: (model, { path }) => {
      const cctx = findByNonce(model, path);
      return cctx && { CrossChainTx: cctx };
    },
  },
  pending_cctxs: {
    path: '/chain/crosschain/pendingCctx',
    respond: (model, { parameters }) => {
      const chain = findChain(model, parameters.get('chain_id') ?? '');
      const all = chain === undefined ? [] : unfinished(model, chain);
      const limit = Number(parameters.get('limit') ?? 0) || MAX_LISTED;
      return { CrossChainTx: all.slice(0, limit), totalPending: String(all.length) };
    },
  },
  outbound_tracker: {
    path: '/chain/crosschain/outboundTracker/*/*',
    respond: (model, { path }) => outboundTracker(model, path),
  },
  last_height: { path: '/chain/crosschain/lastZetaHeight', respond: ({ height }) => ({ Height: String(height) }) },
  chain_nonces: {
    path: '/chain/observer/pendingNonces/*',
    respond: ({ crosschain: { nonces, tssPubkey: tss } }, { path: [chain_id] }) => {
      const found = nonces.find(({ chainId }) => chainId === chain_id);
      return (
        found && { pending_nonces: { nonce_low: String(found.low), nonce_high: String(found.high), chain_id, tss } }
      );
    },
  },
  tss_address: { path: '/chain/observer/get_tss_address/*', respond: signersAddresses },
  params_of_chain: {
    path: '/chain/observer/get_chain_params_for_chain/*',
    respond: (model, { path: [chainId] }) => {
      const chain = findChain(model, chainId);
      return chain && { chain_params: chainParams(chain) };
    },
  },
  operational_flags: {
    path: '/chain/observer/operationalFlags',
    respond: () => ({
      operational_flags: { restart_height: '0', signer_block_time_offset: null, minimum_version: '' },
    }),
  },
  // Clients post none by default.
  blames: { path: '/chain/observer/blame_by_chain_and_nonce/*/*', respond: () => ({ blame_info: [] }) },
  batch_fees: { path: '/bridge/v1/batchfees', respond: batchFees },
  batch_confirms: {
    path: '/bridge/v1/batch/confirms',
    respond: (model, { parameters }) => batchConfirms(model, parameters),
  },
  // Every validator has claimed an event.
  missing_nonces: { path: '/bridge/v1/missing_nonces', respond: () => ({ operator_addresses: [] }) },
  current_valset: {
    path: '/bridge/v1/valset/current',
    respond: ({ bridge }) => ({ valset: bridge.valsets.newestFirst[0]?.wire }),
  },
  delegate_keys: {
    path: '/bridge/v1/query_delegate_keys_by_validator',
    respond: (model, { parameters }) => delegateKeys(model, parameters),
  },
  node_info: {
    path: '/cosmos/base/tendermint/v1beta1/node_info',
    respond: () => ({ application_version: { version: 'simulated' } }),
  },
} as const satisfies Readonly<Record<string, { readonly path: string; readonly respond: Respond }>>;
