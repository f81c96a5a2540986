import { z } from 'zod';
import { decimal, toDecimalString } from '../chain/decimal.js';
import type { Instant } from '../clock.js';
import type { ContractCall } from '../queries/contract-calls.js';
import type { ContractExchange } from '../queries/contract-document.js';
import { asDecimalString, parseDecimal, type DecimalString, type Numeral } from '../chain/numeral.js';
import type { ContractFacts } from '../facts/contract/facts.js';

/*
 * What the answers of a contract were compared with: the module state of the moment and the answers of the hub, which need not be recorded.
 * The key `hub` of the header. Numbers are decimal strings.
 */

const numeral = z.custom<DecimalString>(
  (value) => typeof value === 'string' && typeof parseDecimal(value) === 'string',
);

const recordedHub = z.object({
  /** How long before the answers the module state was received. */
  age_ms: z.number(),
  height: numeral.optional(),
  contract: z.string(),
  chain_id: z.string(),
  power_threshold: numeral,
  last_observed_nonce: numeral.optional(),
  newest_valset_nonce: numeral.optional(),
  last_batch_nonce: numeral.optional(),
  external_block_ms: z.number().optional(),
  /** The tokens with a live batch. */
  batch_tokens: z.array(z.object({ contract: z.string(), denom: z.string() })).readonly(),
  /** What the hub owes in the tokens with `backing`. */
  backing: z.array(
    z.object({
      contract: z.string(),
      unbatched: numeral.optional(),
      batches: z.array(z.object({ nonce: numeral.optional(), amount: numeral })).optional(),
    }),
  ),
  /** Unix seconds of the block of the module state. */
  block_seconds: z.number().optional(),
  /** By denom; absent unless the hub was asked. */
  supplies: z.record(z.string(), numeral).optional(),
});

export type RecordedHub = z.infer<typeof recordedHub>;

const contractCalls = z.array(z.object({ id: z.number(), to: z.string(), data: z.string(), block: z.string() }));

export function encodeHub({ facts, hub }: ContractExchange, at: Instant): RecordedHub {
  const supplies = Array.from(hub?.supplies ?? []).flatMap(([denom, supply]) =>
    supply === undefined ? [] : [[denom, asDecimalString(String(supply))] as const],
  );
  return {
    age_ms: at.monotonicMs - facts.at.monotonicMs,
    height: encodeNumeral(facts.height),
    contract: facts.contract,
    chain_id: facts.chainId,
    power_threshold: asDecimalString(facts.powerThreshold),
    last_observed_nonce: encodeNumeral(facts.lastObservedNonce),
    newest_valset_nonce: encodeNumeral(facts.newestValsetNonce),
    last_batch_nonce: encodeNumeral(facts.lastBatchNonce),
    external_block_ms: facts.externalBlockMs,
    batch_tokens: facts.batchTokens,
    backing: facts.backing.map(({ contract, unbatched, batches }) => ({
      contract,
      unbatched: unbatched && toDecimalString(unbatched),
      batches: batches?.map(({ nonce, amount }) => ({ nonce: encodeNumeral(nonce), amount: toDecimalString(amount) })),
    })),
    ...(hub && { block_seconds: hub.blockSeconds, supplies: Object.fromEntries(supplies) }),
  };
}

function encodeNumeral(value: Numeral | undefined): DecimalString | undefined {
  return value === undefined ? undefined : asDecimalString(String(value));
}

/** The facts and the answers of the hub, by the clocks of a replay. */
export function decodeHub(recorded: RecordedHub, at: Instant): Omit<ContractExchange, 'calls'> {
  const { age_ms: ageMs, block_seconds: blockSeconds, supplies } = recorded;
  const facts: ContractFacts = {
    at: { epochSeconds: at.epochSeconds - ageMs / 1000, monotonicMs: at.monotonicMs - ageMs },
    height: recorded.height,
    contract: recorded.contract,
    chainId: recorded.chain_id,
    powerThreshold: recorded.power_threshold,
    lastObservedNonce: recorded.last_observed_nonce,
    newestValsetNonce: recorded.newest_valset_nonce,
    lastBatchNonce: recorded.last_batch_nonce,
    externalBlockMs: recorded.external_block_ms,
    batchTokens: recorded.batch_tokens,
    backing: recorded.backing.map(({ contract, unbatched, batches }) => ({
      contract,
      unbatched: unbatched && decimal(unbatched),
      batches: batches?.map(({ nonce, amount }) => ({ nonce, amount: decimal(amount) })),
    })),
  };
  return { facts, ...(supplies && { hub: { blockSeconds, supplies: new Map(Object.entries(supplies)) } }) };
}

/** Reads the keys of a contract in a header. Throws if they are something else. */
export function parseContractKeys(header: { readonly calls?: unknown; readonly hub?: unknown }): {
  readonly calls?: readonly ContractCall[];
  readonly hub?: RecordedHub;
} {
  const calls = contractCalls.optional().safeParse(header.calls);
  if (!calls.success) throw new Error('calls of the header is not a list of calls with id, to, data and block');
  const hub = recordedHub.optional().safeParse(header.hub);
  if (!hub.success) throw new Error('hub of the header has missing or invalid values');
  return { ...(calls.data && { calls: calls.data }), ...(hub.data && { hub: hub.data }) };
}
