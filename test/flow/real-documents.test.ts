import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../support/json.js';
import { fixturesFolder } from '../support/project-files.js';
import { bridgePolls } from './bridge-polls.js';

/*
 * Recorded module states of real chains as first documents. What happens after them is edited into them step by step.
 */
const hasFixtures = existsSync(fixturesFolder);
if (!hasFixtures) console.warn(`SKIPPED: the flow after recorded responses, because ${fixturesFolder} does not exist`);

interface RecordedState extends JsonObject {
  readonly batches: readonly { readonly batch_nonce: string; readonly transactions: readonly JsonObject[] }[];
  readonly last_observed_nonce: string;
  readonly last_outgoing_batch_id: string;
}

const TOKEN = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const LABELS = `token_contract="${TOKEN.toLowerCase()}",denom=""`;

const later = (id: string, by: number): string => String(Number(id) + by);

/** What the state of the first chain lacks, because its fields are newer. */
const ADDED = { last_outgoing_pool_id: '1', unbatched_transfers: [] };

function recordedState(file: string): RecordedState {
  const { state } = JSON.parse(readFileSync(join(fixturesFolder, 'bridge', file), 'utf8')) as { state: RecordedState };
  return state;
}

const transfer = (id: string): JsonObject => ({
  id,
  sender: 'inj1ny6ffstyvafm2n7epf6a39w68sjzcpt3ur3zws',
  dest_address: '0x993494C1646753b54FD90a75D895Da3C242C0571',
  erc20_token: { contract: TOKEN, amount: '2500000' },
  erc20_fee: { contract: TOKEN, amount: '23300000' },
});

const claim = (type: string, nonce: string, fields: JsonObject, observed: boolean): JsonObject => ({
  claim: { '@type': `/injective.peggy.v1.${type}`, event_nonce: nonce, block_height: '24060100', ...fields },
  height: '410000',
  observed,
  votes: ['injvaloper1nkcxn2gz3c06xmqmjgja70w89vuhzqfar6a3sf'],
});

/** The name of a field in the dialect of a file. */
const externalHeight = (file: string): string =>
  file.includes('peggy') ? 'last_observed_ethereum_height' : 'last_observed_external_height';

describe.skipIf(!hasFixtures)('the flow after a recorded response', () => {
  it.each([
    'staking-40003.peggy.json',
    'staking-40003.neutral.json',
    'staking-40003.neutral.any-bytes.json',
    'mainnet-10001-genesis.neutral.json',
  ])('counts what happens after %s', (file) => {
    const recorded = recordedState(file);
    const height = externalHeight(file);
    const { last_observed_nonce: event, last_outgoing_batch_id: batchId } = recorded;
    const endpoint = bridgePolls({ blockTime: 1000 });
    // As it is: what is there has no past.
    endpoint.poll(recorded, { height: 410_000 });
    expect(endpoint.values()).toEqual({});

    const first = { ...ADDED, ...recorded, [height]: '24060000' };
    const poolId = first.last_outgoing_pool_id;
    const id = later(poolId, 1);
    const requested = { ...first, last_outgoing_pool_id: id };
    const batch = {
      batch_nonce: later(batchId, 1),
      batch_timeout: '24070000',
      block: '410090',
      token_contract: TOKEN,
      transactions: [transfer(id)],
    };
    const batched = {
      ...requested,
      last_outgoing_batch_id: batch.batch_nonce,
      batches: [...recorded.batches, batch],
    };
    const deposit = (observed: boolean): JsonObject =>
      claim('MsgDepositClaim', later(event, 1), { token_contract: TOKEN, amount: '9000000' }, observed);
    const withdraw = claim(
      'MsgWithdrawClaim',
      later(event, 2),
      { token_contract: TOKEN, batch_nonce: batch.batch_nonce },
      true,
    );
    const executed = {
      ...batched,
      batches: recorded.batches,
      attestations: [withdraw],
      last_observed_nonce: later(event, 2),
    };
    const steps = [
      first,
      { ...requested, unbatched_transfers: [transfer(id)] },
      batched,
      { ...batched, attestations: [deposit(false)] },
      { ...batched, attestations: [deposit(true)], last_observed_nonce: later(event, 1) },
      executed,
      // Another one, which its sender takes back.
      { ...executed, last_outgoing_pool_id: later(id, 1), unbatched_transfers: [transfer(later(id, 1))] },
      { ...executed, last_outgoing_pool_id: later(id, 1) },
    ];
    for (const [index, step] of steps.entries()) endpoint.poll(step, { height: 410_030 + 30 * index });
    expect(endpoint.values()).toEqual({
      [`bridge_batches_executed_total{${LABELS}}`]: 1,
      [`bridge_transfers_executed_total{${LABELS}}`]: 1,
      [`bridge_transfers_canceled_total{${LABELS}}`]: 1,
      [`bridge_token_withdrawn_amount_total{${LABELS}}`]: 2_500_000,
      [`bridge_token_deposited_amount_total{${LABELS}}`]: 9_000_000,
      bridge_batch_duration_seconds_count: 1,
      bridge_batch_duration_seconds_sum: 90,
      bridge_transfer_duration_seconds_count: 1,
      bridge_transfer_duration_seconds_sum: 120,
    });
  });

  it.each(['staking-40003.peggy.json', 'staking-40003.neutral.any-bytes.json'])(
    'cancels the live batch of %s at its timeout',
    (file) => {
      const recorded = recordedState(file);
      const height = externalHeight(file);
      const first = { ...ADDED, ...recorded, [height]: '24060000' };
      const endpoint = bridgePolls();
      endpoint.poll(first, { height: 410_000 });
      endpoint.poll(
        {
          ...first,
          batches: [],
          unbatched_transfers: recorded.batches.flatMap(({ transactions }) => transactions),
          [height]: '24061512',
          last_observed_nonce: later(recorded.last_observed_nonce, 1),
        },
        { height: 410_030 },
      );
      const canceled = Object.entries(endpoint.values()).filter(([series]) => series.includes('batches_canceled'));
      expect(canceled).toEqual([[expect.stringContaining('reason="timeout"'), 1]]);
    },
  );
});
