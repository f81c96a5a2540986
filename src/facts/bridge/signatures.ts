import { lowest, multiply, ratio, type Numeral } from '../../chain/numeral.js';
import type { Batch, Valset } from '../../chain/module-state.js';
import type { Field } from '../../chain/fields.js';
import { groupBy } from '../grouping.js';
import { memoize, memoizePerRow } from '../memoize.js';
import { orNull, required, rows, withdrawWithout } from '../required-fields.js';
import type { BridgeInput } from './bridge-input.js';
import { contractLabel } from './tokens.js';
import {
  contractValset,
  findMissing,
  newestValset,
  powerByAddress,
  sumPower,
  totalPower,
  unrelayedValsets,
  type Members,
} from './valsets.js';

/* The signatures of batches and validator sets, with the power of the signers, and missing signatures. */

const signedNonce = ({ nonce }: { readonly nonce: Field<Numeral> }): Numeral => required(nonce);

export const confirmsByValset = memoize(({ state }: BridgeInput) => groupBy(rows(state.valset_confirms), signedNonce));

const valsetSigner = ({ eth_address }: { readonly eth_address: Field<string> }): string => required(eth_address);

/** The external addresses that signed a validator set. */
export const valsetSigners = memoizePerRow((input: BridgeInput, { nonce }: Valset): ReadonlySet<string> => {
  const confirms = confirmsByValset(input).get(required(nonce)) ?? [];
  return new Set(confirms.map(valsetSigner));
});

/** Identifies a batch: some chains number the batches of each token separately. */
export function batchKey(nonce: Field<Numeral>, contract: Field<string>): string {
  return `${required(nonce)} ${contractLabel(contract)}`;
}

export const readBatchKey = ({ batch_nonce, token_contract }: Batch): string => batchKey(batch_nonce, token_contract);

export const batchesByKey = memoize(({ state }: BridgeInput) => groupBy(rows(state.batches), readBatchKey));

export const confirmsByBatch = memoize(({ state }: BridgeInput) =>
  groupBy(rows(state.batch_confirms), ({ nonce, token_contract }) => batchKey(nonce, token_contract)),
);

const batchSigner = ({ eth_signer }: { readonly eth_signer: Field<string> }): string => required(eth_signer);

/** The external addresses that signed a batch. */
export const batchSigners = memoizePerRow((input: BridgeInput, batch: Batch): ReadonlySet<string> => {
  const confirms = confirmsByBatch(input).get(readBatchKey(batch)) ?? [];
  return new Set(confirms.map(batchSigner));
});

/** The validator set in the contract with its total power; `undefined` without power. */
export const contractPower = memoize((input: BridgeInput) => {
  const valset = contractValset(input);
  if (valset === undefined) return undefined;
  const total = totalPower(valset);
  if (total === 0n) return undefined;
  return { valset, total };
});

/** The signed power of a batch or validator set, by the powers of the validator set in the contract. */
interface SignedPower {
  readonly signed: Numeral;
  readonly total: Numeral;
  /** Whether the contract would reject the batch or validator set for lack of signatures. */
  readonly isBelowThreshold: boolean;
}

function signedPower(input: BridgeInput, signers: ReadonlySet<string>): SignedPower | undefined {
  const power = contractPower(input);
  if (power === undefined) return undefined;
  const { total, valset } = power;
  const signed = sumPower(powerByAddress(valset), signers);
  // All digits of the threshold count.
  const [whole = '', fraction = ''] = input.settings.power_threshold.split('.');
  const [units, scale] = [BigInt(whole + fraction), 10n ** BigInt(fraction.length)];
  return { signed, total, isBelowThreshold: multiply(signed, scale) < multiply(total, units) };
}

export function valsetSignedPower(input: BridgeInput, valset: Valset): SignedPower | undefined {
  return signedPower(input, valsetSigners(input, valset));
}

const batchSignedPower = memoizePerRow((input: BridgeInput, batch: Batch): SignedPower | undefined =>
  signedPower(input, batchSigners(input, batch)),
);

/** The signed powers of the unrelayed validator sets. */
export const unrelayedValsetPowers = memoize((input: BridgeInput) => {
  // Without the list of signatures, the signed power is unknown even if there is no unrelayed validator set.
  withdrawWithout(input.state.valset_confirms);
  contractValset(input);
  return unrelayedValsets(input).flatMap((valset) => valsetSignedPower(input, valset) ?? []);
});

/**
 * Withdraws the family when the signatures of batches or the validator set in the contract are unknown. Then the signed
 * power is unknown even if there is no batch.
 */
export function requireSigningInput(input: BridgeInput): void {
  withdrawWithout(input.state.batch_confirms);
  contractValset(input);
}

export const batchPowers = memoize((input: BridgeInput) => {
  requireSigningInput(input);
  return rows(input.state.batches).flatMap((batch) => batchSignedPower(input, batch) ?? []);
});

/** The signed share of the power of the validator set in the contract. */
export function signedShare(power: SignedPower | undefined): number | undefined {
  return power && ratio(power.signed, power.total);
}

export function lowestSignedShare(powers: readonly SignedPower[]): number | undefined {
  return lowest(powers.map(signedShare));
}

/** The signed power of the newest validator set, if it is unrelayed. Older sets need not be relayed any more. */
export function newestUnrelayedPower(input: BridgeInput): SignedPower | undefined {
  const newest = newestValset(input);
  if (newest === undefined || !unrelayedValsets(input).includes(newest)) return undefined;
  return valsetSignedPower(input, newest);
}

export function countValsetsBelowThreshold(input: BridgeInput): number {
  return unrelayedValsetPowers(input).filter((power) => power.isBelowThreshold).length;
}

/** The live batches whose signed power is below the threshold. */
export const batchesBelowThreshold = memoize((input: BridgeInput): readonly Batch[] => {
  requireSigningInput(input);
  return rows(input.state.batches).filter((batch) => isBatchSigned(input, batch) === false);
});

/** Whether enough power has signed a batch; `undefined` when the validator set in the contract has no power. */
export function isBatchSigned(input: BridgeInput, batch: Batch): boolean | undefined {
  const power = batchSignedPower(input, batch);
  return power && !power.isBelowThreshold;
}

export type Signatures = ReturnType<typeof signatures>;

/** The signatures of a batch as they are listed; `missing` has members of the newest validator set. */
export function batchSignatures(input: BridgeInput, batch: Batch) {
  return signatures(
    () => batchSignedPower(input, batch),
    () => findMissing(input, newestValset(input), batchSigners(input, batch)),
  );
}

/** The signatures of a validator set as they are listed; `missing` has its members. */
export function valsetSignatures(input: BridgeInput, valset: Valset) {
  return signatures(
    () => valsetSignedPower(input, valset),
    () => findMissing(input, valset, valsetSigners(input, valset)),
  );
}

function signatures(power: () => SignedPower | undefined, missing: () => Members | undefined) {
  const signed = orNull(power);
  return {
    /** Signed share of the power of the validator set in the contract, 0 to 1. */
    signedPowerRatio: signed && orNull(() => signedShare(signed)),
    belowThreshold: signed && signed.isBelowThreshold,
    missing: orNull(missing),
  };
}
