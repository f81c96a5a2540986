import { add, compare, decimal, keyOf, sum, ZERO, type Decimal, type Numeral } from '../../json/decimal.js';
import { once, onceForRow } from '../memoize.js';
import type { Batch, OrchestratorAddress, Valset } from '../../chain/module-state.js';
import { need, rows, type Read } from '../../json/field.js';
import { firstBy, groupBy } from '../grouping.js';
import type { BridgeInput } from './input.js';

/*
 * The joins across the state that several families share.
 */

/** The validator set with the highest nonce, the first of them when the nonce repeats; none when there are no sets. */
export const newestValset = once(({ state }: BridgeInput): Valset | undefined => {
  const valsets = rows(state.valsets).map((valset) => ({ valset, nonce: decimal(need(valset.nonce)) }));
  const [first, ...others] = valsets;
  return others.reduce((newest, other) => (newest && compare(other.nonce, newest.nonce) > 0 ? other : newest), first)
    ?.valset;
});

/**
 * The set whose signatures the contract counts: the last observed one; the newest while none was observed, when its members
 * are there and empty.
 */
export const contractValset = once((input: BridgeInput): Valset | undefined => {
  const observed = need(input.state.last_observed_valset);
  return need(observed.members).length > 0 ? observed : newestValset(input);
});

export function totalPower({ members }: Valset): Decimal {
  return sum(rows(members).map(({ power }) => decimal(need(power))));
}

/** The addresses of a set, each once. */
export function memberAddresses({ members }: Valset): ReadonlySet<string> {
  return new Set(rows(members).map(({ external_address }) => need(external_address)));
}

export const newestAddresses = once((input: BridgeInput): ReadonlySet<string> => {
  const newest = newestValset(input);
  return newest === undefined ? new Set() : memberAddresses(newest);
});

/** Power by address; rows with one address are added up. */
export function powerByAddress({ members }: Valset): ReadonlyMap<string, Decimal> {
  const powers = new Map<string, Decimal>();
  for (const { external_address, power } of rows(members)) {
    const address = need(external_address);
    powers.set(address, add(powers.get(address) ?? ZERO, decimal(need(power))));
  }
  return powers;
}

/** Power of these addresses, of which those without any have none. */
export function powerOf(powers: ReadonlyMap<string, Decimal>, of: readonly string[] | ReadonlySet<string>): Decimal {
  return sum(Array.from(of, (address) => powers.get(address) ?? ZERO));
}

export const newestPowers = once((input: BridgeInput): ReadonlyMap<string, Decimal> => {
  const newest = newestValset(input);
  return newest === undefined ? new Map() : powerByAddress(newest);
});

export const newestTotal = once((input: BridgeInput): Decimal => {
  const newest = newestValset(input);
  return newest === undefined ? ZERO : totalPower(newest);
});

/** Equal nonces, equal keys, however they are written. */
export function nonceKey(nonce: Read<Numeral>): Numeral {
  return keyOf(need(nonce));
}

export const confirmsByValset = once(({ state }: BridgeInput) =>
  groupBy(rows(state.valset_confirms), ({ nonce }) => nonceKey(nonce)),
);

/** Who confirmed a validator set. */
export function valsetSigners(input: BridgeInput, { nonce }: Valset): ReadonlySet<string> {
  const confirms = confirmsByValset(input).get(nonceKey(nonce)) ?? [];
  return addresses(confirms.map(({ eth_address }) => eth_address));
}

/** Batch nonces are counted for all tokens together on some chains and for each token on others: both are the key. */
type ByBatch<T> = ReadonlyMap<Numeral, ReadonlyMap<string, readonly T[]>>;

function byBatch<T>(list: readonly T[], nonce: (row: T) => Read<Numeral>, token: (row: T) => Read<string>): ByBatch<T> {
  const byNonce = groupBy(list, (row) => nonceKey(nonce(row)));
  return new Map(Array.from(byNonce, ([key, rest]) => [key, groupBy(rest, (row) => need(token(row)))]));
}

export const batchesByKey = once(({ state }: BridgeInput) =>
  byBatch(
    rows(state.batches),
    ({ batch_nonce }) => batch_nonce,
    ({ token_contract }) => token_contract,
  ),
);

export const confirmsByBatch = once(({ state }: BridgeInput) =>
  byBatch(
    rows(state.batch_confirms),
    ({ nonce }) => nonce,
    ({ token_contract }) => token_contract,
  ),
);

/** Who confirmed a batch: asked for by several families, and of hundreds of batches. */
export const batchSigners = onceForRow((input: BridgeInput, batch: Batch): ReadonlySet<string> => {
  const [nonce, token] = [nonceKey(batch.batch_nonce), need(batch.token_contract)];
  const confirms = confirmsByBatch(input).get(nonce)?.get(token) ?? [];
  return addresses(confirms.map(({ eth_signer }) => eth_signer));
});

function addresses(reads: readonly Read<string>[]): ReadonlySet<string> {
  return new Set(reads.map(need));
}

/** The validator behind an external address; the first row counts when an address repeats. */
export const orchestratorByAddress = once(({ state }: BridgeInput): ReadonlyMap<string, OrchestratorAddress> =>
  firstBy(rows(state.orchestrator_addresses), ({ eth_address }) => need(eth_address)),
);

/** The validator behind a vote, by the data part that its account and its operator address share. */
export const validatorBySender = once(({ state }: BridgeInput): ReadonlyMap<string, OrchestratorAddress> =>
  firstBy(rows(state.orchestrator_addresses), ({ sender }) => need(sender)),
);

/** Validator sets newer than the one in the contract. */
export const unrelayedValsets = once(({ state }: BridgeInput): readonly Valset[] => {
  const observed = decimal(need(need(state.last_observed_valset).nonce));
  return rows(state.valsets).filter(({ nonce }) => compare(decimal(need(nonce)), observed) > 0);
});
