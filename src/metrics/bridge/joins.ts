import { memoize, memoizePerRow } from '../memoize.js';
import type { Batch, OrchestratorAddress, Valset } from '../../chain/module-state.js';
import { type Field } from '../../json/field.js';
import { firstBy, groupBy } from '../grouping.js';
import type { BridgeInput } from './input.js';
import { add, compare, decimal, numeralKey, sum, ZERO, type Decimal } from '../../chain/decimal.js';
import type { Numeral } from '../../json/numeral.js';
import { required, rows } from '../withdrawal.js';

/*
 * The joins across the state that several families share.
 */

/** The validator set with the highest nonce, the first of them when the nonce repeats; none when there are no sets. */
export const newestValset = memoize(({ state }: BridgeInput): Valset | undefined => {
  const valsets = rows(state.valsets).map((valset) => ({ valset, nonce: decimal(required(valset.nonce)) }));
  const [first, ...others] = valsets;
  return others.reduce((newest, other) => (newest && compare(other.nonce, newest.nonce) > 0 ? other : newest), first)
    ?.valset;
});

/**
 * The set whose signatures the contract counts: the last observed one; the newest while none was observed, when its members
 * are there and empty.
 */
export const contractValset = memoize((input: BridgeInput): Valset | undefined => {
  const observed = required(input.state.last_observed_valset);
  return required(observed.members).length > 0 ? observed : newestValset(input);
});

export function totalPower({ members }: Valset): Decimal {
  return sum(rows(members).map(({ power }) => decimal(required(power))));
}

/** The addresses of a set, each once. */
export function memberAddresses({ members }: Valset): ReadonlySet<string> {
  return new Set(rows(members).map(({ external_address }) => required(external_address)));
}

export const newestMemberAddresses = memoize((input: BridgeInput): ReadonlySet<string> => {
  const newest = newestValset(input);
  return newest === undefined ? new Set() : memberAddresses(newest);
});

/** Power by address; rows with one address are added up. */
export function powerByAddress({ members }: Valset): ReadonlyMap<string, Decimal> {
  const powers = new Map<string, Decimal>();
  for (const { external_address, power } of rows(members)) {
    const address = required(external_address);
    powers.set(address, add(powers.get(address) ?? ZERO, decimal(required(power))));
  }
  return powers;
}

/** Power of these addresses, of which those without any have none. */
export function powerOf(powers: ReadonlyMap<string, Decimal>, of: readonly string[] | ReadonlySet<string>): Decimal {
  return sum(Array.from(of, (address) => powers.get(address) ?? ZERO));
}

export const newestPowers = memoize((input: BridgeInput): ReadonlyMap<string, Decimal> => {
  const newest = newestValset(input);
  return newest === undefined ? new Map() : powerByAddress(newest);
});

export const newestTotalPower = memoize((input: BridgeInput): Decimal => {
  const newest = newestValset(input);
  return newest === undefined ? ZERO : totalPower(newest);
});

/** Equal nonces, equal keys, however they are written. */
export function nonceKey(nonce: Field<Numeral>): Numeral {
  return numeralKey(required(nonce));
}

export const confirmsByValset = memoize(({ state }: BridgeInput) =>
  groupBy(rows(state.valset_confirms), ({ nonce }) => nonceKey(nonce)),
);

/** Who confirmed a validator set. */
export function valsetSigners(input: BridgeInput, { nonce }: Valset): ReadonlySet<string> {
  const confirms = confirmsByValset(input).get(nonceKey(nonce)) ?? [];
  return addresses(confirms.map(({ eth_address }) => eth_address));
}

/** Batch nonces are counted for all tokens together on some chains and for each token on others: both are the key. */
type ByBatch<T> = ReadonlyMap<Numeral, ReadonlyMap<string, readonly T[]>>;

function byBatch<T>(
  list: readonly T[],
  nonce: (row: T) => Field<Numeral>,
  token: (row: T) => Field<string>,
): ByBatch<T> {
  const byNonce = groupBy(list, (row) => nonceKey(nonce(row)));
  return new Map(Array.from(byNonce, ([key, rest]) => [key, groupBy(rest, (row) => required(token(row)))]));
}

export const batchesByKey = memoize(({ state }: BridgeInput) =>
  byBatch(
    rows(state.batches),
    ({ batch_nonce }) => batch_nonce,
    ({ token_contract }) => token_contract,
  ),
);

export const confirmsByBatch = memoize(({ state }: BridgeInput) =>
  byBatch(
    rows(state.batch_confirms),
    ({ nonce }) => nonce,
    ({ token_contract }) => token_contract,
  ),
);

/** Who confirmed a batch: asked for by several families, and of hundreds of batches. */
export const batchSigners = memoizePerRow((input: BridgeInput, batch: Batch): ReadonlySet<string> => {
  const [nonce, token] = [nonceKey(batch.batch_nonce), required(batch.token_contract)];
  const confirms = confirmsByBatch(input).get(nonce)?.get(token) ?? [];
  return addresses(confirms.map(({ eth_signer }) => eth_signer));
});

function addresses(reads: readonly Field<string>[]): ReadonlySet<string> {
  return new Set(reads.map(required));
}

/** The validator behind an external address; the first row counts when an address repeats. */
export const registrationByAddress = memoize(({ state }: BridgeInput): ReadonlyMap<string, OrchestratorAddress> =>
  firstBy(rows(state.orchestrator_addresses), ({ eth_address }) => required(eth_address)),
);

/** The validator behind a vote, by the data part that its account and its operator address share. */
export const registrationBySender = memoize(({ state }: BridgeInput): ReadonlyMap<string, OrchestratorAddress> =>
  firstBy(rows(state.orchestrator_addresses), ({ sender }) => required(sender)),
);

/** Validator sets newer than the one in the contract. */
export const unrelayedValsets = memoize(({ state }: BridgeInput): readonly Valset[] => {
  const observed = decimal(required(required(state.last_observed_valset).nonce));
  return rows(state.valsets).filter(({ nonce }) => compare(decimal(required(nonce)), observed) > 0);
});
