import { dataPart } from '../../chain/field-shapes.js';
import { add, compare, decimal, numeralKey, sum, ZERO, type Decimal } from '../../chain/decimal.js';
import type { Batch, OrchestratorAddress, Valset } from '../../chain/module-state.js';
import { type Field } from '../../json/field.js';
import type { Numeral } from '../../json/numeral.js';
import { firstBy, groupBy } from '../grouping.js';
import { memoize, memoizePerRow } from '../memoize.js';
import { required, rows } from '../required-fields.js';
import type { BridgeInput } from './input.js';

/*
 * The joins across the state that several families share.
 */

/** The validator set with the highest nonce, the first one of equals; `undefined` when the state has none. */
export const newestValset = memoize(({ state }: BridgeInput): Valset | undefined => {
  const valsets = rows(state.valsets).map((valset) => ({ valset, nonce: decimal(required(valset.nonce)) }));
  const [first, ...others] = valsets;
  return others.reduce((newest, other) => (newest && compare(other.nonce, newest.nonce) > 0 ? other : newest), first)
    ?.valset;
});

/**
 * The validator set in the contract, whose signatures the contract verifies: the last observed one, or the newest one while the
 * last observed one has no members, because none was observed.
 */
export const contractValset = memoize((input: BridgeInput): Valset | undefined => {
  const observed = required(input.state.last_observed_valset);
  return required(observed.members).length > 0 ? observed : newestValset(input);
});

export function totalPower({ members }: Valset): Decimal {
  return sum(rows(members).map(({ power }) => decimal(required(power))));
}

/** The distinct addresses of a validator set. */
export function memberAddresses({ members }: Valset): ReadonlySet<string> {
  return new Set(rows(members).map(({ external_address }) => required(external_address)));
}

export const newestMemberAddresses = memoize((input: BridgeInput): ReadonlySet<string> => {
  const newest = newestValset(input);
  return newest === undefined ? new Set() : memberAddresses(newest);
});

/** Power by address; rows with the same address are added up. */
export function powerByAddress({ members }: Valset): ReadonlyMap<string, Decimal> {
  const powers = new Map<string, Decimal>();
  for (const { external_address, power } of rows(members)) {
    const address = required(external_address);
    powers.set(address, add(powers.get(address) ?? ZERO, decimal(required(power))));
  }
  return powers;
}

/** Total power of some addresses. An address that is not a member has none. */
export function powerOf(powers: ReadonlyMap<string, Decimal>, members: Iterable<string>): Decimal {
  return sum(Array.from(members, (address) => powers.get(address) ?? ZERO));
}

export const newestPowers = memoize((input: BridgeInput): ReadonlyMap<string, Decimal> => {
  const newest = newestValset(input);
  return newest === undefined ? new Map() : powerByAddress(newest);
});

export const newestTotalPower = memoize((input: BridgeInput): Decimal => {
  const newest = newestValset(input);
  return newest === undefined ? ZERO : totalPower(newest);
});

/** A Map key that is the same for equal nonces, however they are written. */
export function nonceKey(nonce: Field<Numeral>): Numeral {
  return numeralKey(required(nonce));
}

export const confirmsByValset = memoize(({ state }: BridgeInput) =>
  groupBy(rows(state.valset_confirms), ({ nonce }) => nonceKey(nonce)),
);

/** The external addresses that signed a validator set. */
export function valsetSigners(input: BridgeInput, { nonce }: Valset): ReadonlySet<string> {
  const confirms = confirmsByValset(input).get(nonceKey(nonce)) ?? [];
  return addresses(confirms.map(({ eth_address }) => eth_address));
}

/** Rows by batch nonce and token contract: some chains number the batches of each token separately. */
type ByBatch<T> = ReadonlyMap<Numeral, ReadonlyMap<string, readonly T[]>>;

function byBatch<T>(
  list: readonly T[],
  nonce: (row: T) => Field<Numeral>,
  token: (row: T) => Field<string>,
): ByBatch<T> {
  const byNonce = groupBy(list, (row) => nonceKey(nonce(row)));
  return new Map(Array.from(byNonce, ([key, ofNonce]) => [key, groupBy(ofNonce, (row) => required(token(row)))]));
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

/** The external addresses that signed a batch. */
export const batchSigners = memoizePerRow((input: BridgeInput, batch: Batch): ReadonlySet<string> => {
  const [nonce, token] = [nonceKey(batch.batch_nonce), required(batch.token_contract)];
  const confirms = confirmsByBatch(input).get(nonce)?.get(token) ?? [];
  return addresses(confirms.map(({ eth_signer }) => eth_signer));
});

function addresses(fields: readonly Field<string>[]): ReadonlySet<string> {
  return new Set(fields.map(required));
}

/** Registrations of orchestrators by external address; the first one of equals. */
export const registrationByAddress = memoize(({ state }: BridgeInput): ReadonlyMap<string, OrchestratorAddress> =>
  firstBy(rows(state.orchestrator_addresses), ({ eth_address }) => required(eth_address)),
);

/** Registrations of orchestrators by the data part of the validator address, which votes contain. */
export const registrationBySender = memoize(({ state }: BridgeInput): ReadonlyMap<string, OrchestratorAddress> =>
  firstBy(rows(state.orchestrator_addresses), ({ sender }) => dataPart(required(sender))),
);

/** Validator sets that are newer than the one in the contract. */
export const unrelayedValsets = memoize(({ state }: BridgeInput): readonly Valset[] => {
  const observed = decimal(required(required(state.last_observed_valset).nonce));
  return rows(state.valsets).filter(({ nonce }) => compare(decimal(required(nonce)), observed) > 0);
});
