import { decimal, toDecimalString } from '../chain/decimal.js';
import type { Instant } from '../clock.js';
import type { ContractCall } from '../external/calls.js';
import type { ContractExchange } from '../external/contract-document.js';
import { parseDecimal, type DecimalString, type Numeral } from '../json/numeral.js';
import type { ContractFacts } from '../metrics/contract/facts.js';
import type { HubReading } from '../metrics/contract/reading.js';
import { isMapping } from '../settings/value-types.js';

/*
 * What the answers of a contract were compared with: the module state of the moment and the answers of the hub, which need not be recorded.
 * The key `hub` of the header. Numbers are decimal strings.
 */

export interface RecordedHub {
  /** How long before the answers the module state was received. */
  readonly age_ms: number;
  readonly height?: string | undefined;
  readonly contract: string;
  readonly chain_id: string;
  readonly power_threshold: string;
  readonly last_observed_nonce?: string | undefined;
  readonly newest_valset_nonce?: string | undefined;
  readonly last_batch_nonce?: string | undefined;
  readonly external_block_ms?: number | undefined;
  /** The tokens with a live batch. */
  readonly batch_tokens: readonly { readonly contract: string; readonly denom: string }[];
  /** What the hub owes in the tokens with `backing`. */
  readonly backing: readonly {
    readonly contract: string;
    readonly unbatched?: string | undefined;
    readonly batches?: readonly { readonly nonce?: string | undefined; readonly amount: string }[] | undefined;
  }[];
  /** Unix seconds of the block of the module state. */
  readonly block_seconds?: number | undefined;
  /** By denom; absent unless the hub was asked. */
  readonly supplies?: Readonly<Record<string, string>> | undefined;
}

export function encodeHub({ facts, hub }: ContractExchange, at: Instant): RecordedHub {
  const supplies = Array.from(hub?.supplies ?? []).flatMap(([denom, supply]) =>
    supply === undefined ? [] : [[denom, String(supply)] as const],
  );
  return {
    age_ms: at.monotonicMs - facts.at.monotonicMs,
    height: encodeNumeral(facts.height),
    contract: facts.contract,
    chain_id: facts.chainId,
    power_threshold: facts.powerThreshold,
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

function encodeNumeral(value: Numeral | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

/** The facts and the answers of the hub, by the clocks of a replay. */
export function decodeHub(recorded: RecordedHub, at: Instant): Omit<ContractExchange, 'calls'> {
  const { age_ms: ageMs, block_seconds: blockSeconds, supplies } = recorded;
  const facts: ContractFacts = {
    at: { epochSeconds: at.epochSeconds - ageMs / 1000, monotonicMs: at.monotonicMs - ageMs },
    height: decodeNumeral(recorded.height),
    contract: recorded.contract,
    chainId: recorded.chain_id,
    powerThreshold: recorded.power_threshold,
    lastObservedNonce: decodeNumeral(recorded.last_observed_nonce),
    newestValsetNonce: decodeNumeral(recorded.newest_valset_nonce),
    lastBatchNonce: decodeNumeral(recorded.last_batch_nonce),
    externalBlockMs: recorded.external_block_ms,
    batchTokens: recorded.batch_tokens,
    backing: recorded.backing.map(({ contract, unbatched, batches }) => ({
      contract,
      unbatched: unbatched === undefined ? undefined : decimal(requireNumeral(unbatched)),
      batches: batches?.map(({ nonce, amount }) => ({
        nonce: decodeNumeral(nonce),
        amount: decimal(requireNumeral(amount)),
      })),
    })),
  };
  const hub: HubReading | undefined = supplies && {
    blockSeconds,
    supplies: new Map(Object.entries(supplies).map(([denom, supply]) => [denom, requireNumeral(supply)])),
  };
  return { facts, ...(hub && { hub }) };
}

function decodeNumeral(text: string | undefined): Numeral | undefined {
  return text === undefined ? undefined : requireNumeral(text);
}

function requireNumeral(text: string): DecimalString {
  const numeral = parseDecimal(text);
  if (typeof numeral !== 'string') throw new Error(`${JSON.stringify(text)} is not a decimal number`);
  return numeral;
}

type Check = (value: unknown) => boolean;

const isString: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => typeof value === 'number';
const isNumeral: Check = (value) => typeof value === 'string' && typeof parseDecimal(value) === 'string';
const isOptional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const isObject =
  (keys: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isMapping(value) && Object.entries(keys).every(([key, check]) => check(value[key]));

const isCallList = isListOf(isObject({ id: isNumber, to: isString, data: isString, block: isString }));

const isRecordedHub = isObject({
  age_ms: isNumber,
  height: isOptional(isNumeral),
  contract: isString,
  chain_id: isString,
  power_threshold: isNumeral,
  last_observed_nonce: isOptional(isNumeral),
  newest_valset_nonce: isOptional(isNumeral),
  last_batch_nonce: isOptional(isNumeral),
  external_block_ms: isOptional(isNumber),
  batch_tokens: isListOf(isObject({ contract: isString, denom: isString })),
  backing: isListOf(
    isObject({
      contract: isString,
      unbatched: isOptional(isNumeral),
      batches: isOptional(isListOf(isObject({ nonce: isOptional(isNumeral), amount: isNumeral }))),
    }),
  ),
  block_seconds: isOptional(isNumber),
  supplies: isOptional((value) => isMapping(value) && Object.values(value).every(isNumeral)),
});

/** Reads the keys of a contract in a header. Throws if they are something else. */
export function parseContractKeys({ calls, hub }: { readonly calls?: unknown; readonly hub?: unknown }): {
  readonly calls?: readonly ContractCall[];
  readonly hub?: RecordedHub;
} {
  if (calls !== undefined && !isCallList(calls))
    throw new Error('calls of the header is not a list of calls with id, to, data and block');
  if (hub !== undefined && !isRecordedHub(hub)) throw new Error('hub of the header has missing or invalid values');
  // Checked above, key by key.
  return {
    ...(calls !== undefined && { calls: calls as readonly ContractCall[] }),
    ...(hub !== undefined && { hub: hub as RecordedHub }),
  };
}
