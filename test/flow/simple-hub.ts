import type { JsonObject } from '../support/json.js';
import { batch, state, transfer, valset } from '../metrics/bridge/state.js';

/*
 * A hub that keeps books: the simplest chain with the rules by which transfers and batches live. Written from the facts about real chains and
 * not from the exporter, so that each checks the other.
 */

export const TOKENS = ['0xa', '0xb'] as const;
export const DENOMS: Readonly<Record<string, string>> = { '0xa': 'usd', '0xb': '' };

export type HubAction =
  | { readonly do: 'request'; readonly token: number; readonly amount: number }
  | { readonly do: 'batch'; readonly token: number; readonly size: number }
  | { readonly do: 'execute' | 'cancel'; readonly pick: number }
  | { readonly do: 'deposit'; readonly token: number; readonly amount: number; readonly externalBlocks: number }
  | { readonly do: 'update valset' };

interface HubTransfer {
  readonly id: number;
  readonly token: string;
  readonly amount: number;
}

interface HubBatch {
  readonly nonce: number;
  readonly token: string;
  readonly timeout: number;
  readonly block: number;
  readonly transfers: readonly HubTransfer[];
}

const BATCH_LIFETIME = 100;

export function createHub() {
  const books = new Map<string, number>();
  let [transferId, batchId, eventNonce, externalHeight, height] = [1000, 50, 700, 10_000, 5000];
  let pool: readonly HubTransfer[] = [];
  let batches: readonly HubBatch[] = [];
  let lastEvents: readonly JsonObject[] = [];
  let valsetNonce = 1;
  /** Transfers returned since the last document, which a sender takes back only when he has seen it. */
  let returned = new Set<number>();

  const count = (name: string, token: string, by = 1, labels = ''): void => {
    const ofToken = `token_contract="${token}",denom="${DENOMS[token] ?? ''}"`;
    const all = [ofToken, labels].filter((part) => part !== '').join(',');
    const key = `bridge_${name}_total{${all}}`;
    books.set(key, (books.get(key) ?? 0) + by);
  };
  const tokenOf = (index: number): string => TOKENS[index % TOKENS.length] ?? TOKENS[0];

  const cancelBatches = (reason: string, isCanceled: (one: HubBatch) => boolean): void => {
    const canceled = batches.filter(isCanceled);
    for (const { token } of canceled) count('batches_canceled', token, 1, `reason="${reason}"`);
    const transfers = canceled.flatMap((one) => one.transfers);
    pool = [...pool, ...transfers];
    returned = new Set([...returned, ...transfers.map(({ id }) => id)]);
    batches = batches.filter((one) => !isCanceled(one));
  };
  const observe = (claim: JsonObject): void => {
    eventNonce += 1;
    // Every claim is seen pending or as the last observed one.
    const attestation = { observed: true, votes: [], height: String(height) };
    lastEvents = [...lastEvents, { ...attestation, claim: { ...claim, event_nonce: String(eventNonce) } }];
  };
  const endBlock = (): void => cancelBatches('timeout', ({ timeout }) => timeout < externalHeight);

  return {
    books: (): Record<string, number> => Object.fromEntries([...books].filter(([, value]) => value !== 0)),
    height: (): number => height,
    apply: (action: HubAction): void => {
      height += 10;
      switch (action.do) {
        case 'request': {
          transferId += 1;
          pool = [...pool, { id: transferId, token: tokenOf(action.token), amount: action.amount }];
          break;
        }
        case 'batch': {
          const token = tokenOf(action.token);
          const transfers = pool.filter((one) => one.token === token).slice(0, action.size);
          if (transfers.length === 0) return;
          batchId += 1;
          pool = pool.filter((one) => !transfers.includes(one));
          batches = [
            ...batches,
            { nonce: batchId, token, timeout: externalHeight + BATCH_LIFETIME, block: height, transfers },
          ];
          break;
        }
        case 'execute': {
          const executed = batches[action.pick % Math.max(1, batches.length)];
          if (executed === undefined) return;
          const { nonce, token, transfers } = executed;
          externalHeight += 1;
          observe({
            '@type': '/injective.peggy.v1.MsgWithdrawClaim',
            batch_nonce: String(nonce),
            token_contract: token,
          });
          batches = batches.filter((one) => one !== executed);
          count('batches_executed', token);
          count('transfers_executed', token, transfers.length);
          count(
            'token_withdrawn_amount',
            token,
            transfers.reduce((sum, { amount }) => sum + amount, 0),
          );
          cancelBatches('superseded', (one) => one.token === token && one.nonce < nonce);
          endBlock();
          break;
        }
        case 'cancel': {
          const cancelable = pool.filter(({ id }) => !returned.has(id));
          const canceled = cancelable[action.pick % Math.max(1, cancelable.length)];
          if (canceled === undefined) return;
          pool = pool.filter((one) => one !== canceled);
          count('transfers_canceled', canceled.token);
          break;
        }
        case 'deposit': {
          externalHeight += action.externalBlocks;
          observe({
            '@type': '/injective.peggy.v1.MsgDepositClaim',
            token_contract: tokenOf(action.token),
            amount: String(action.amount),
          });
          count('token_deposited_amount', tokenOf(action.token), action.amount);
          endBlock();
          break;
        }
        case 'update valset': {
          valsetNonce += 1;
          observe({
            '@type': '/injective.peggy.v1.MsgValsetUpdatedClaim',
            valset_nonce: String(valsetNonce),
          });
          break;
        }
      }
    },
    document: (): JsonObject => {
      const wire = ({ id, token, amount }: HubTransfer): JsonObject => transfer(String(id), token, String(amount));
      const document = state({
        params: { bridge_external_address: '0xc', average_block_time: '1000' },
        last_observed_nonce: String(eventNonce),
        last_observed_external_height: String(externalHeight),
        last_outgoing_batch_id: String(batchId),
        last_outgoing_pool_id: String(transferId),
        last_observed_valset: valset(String(valsetNonce), {}),
        erc20_to_denoms: [{ erc20: '0xa', denom: 'usd' }],
        attestations: [...lastEvents],
        unbatched_transfers: pool.map(wire),
        batches: batches.map(({ nonce, token, timeout, block, transfers }) =>
          batch(String(nonce), token, {
            batch_timeout: String(timeout),
            block: String(block),
            transactions: transfers.map(wire),
          }),
        ),
      });
      lastEvents = lastEvents.slice(-1);
      returned = new Set();
      return document;
    },
  };
}
