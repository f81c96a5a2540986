import { memoize, memoizePerRow } from '../memoize.js';
import type { Batch, Valset } from '../../chain/module-state.js';
import { gauge, doubleOf } from '../family.js';
import type { BridgeFamily, BridgeInput } from './input.js';
import {
  batchSigners,
  contractValset,
  powerByAddress,
  powerOf,
  totalPower,
  unrelayedValsets,
  valsetSigners,
} from './joins.js';
import { compare, decimal, lowest, multiply, ratio, ZERO, type Decimal } from '../../chain/decimal.js';
import { required, rows } from '../withdrawal.js';
import { trustedDigits } from '../../json/numeral.js';

const CONTRACT_VALSET_FIELDS = [
  'state.last_observed_valset.members',
  'state.last_observed_valset.members[].power',
  'state.last_observed_valset.members[].external_address',
  'state.valsets',
  'state.valsets[].nonce',
  'state.valsets[].members',
  'state.valsets[].members[].power',
  'state.valsets[].members[].external_address',
] as const;

const VALSET_FIELDS = [
  ...CONTRACT_VALSET_FIELDS,
  'state.last_observed_valset.nonce',
  'state.valset_confirms',
  'state.valset_confirms[].nonce',
  'state.valset_confirms[].eth_address',
] as const;

const BATCH_FIELDS = [
  ...CONTRACT_VALSET_FIELDS,
  'state.batches',
  'state.batches[].batch_nonce',
  'state.batches[].token_contract',
  'state.batch_confirms',
  'state.batch_confirms[].nonce',
  'state.batch_confirms[].token_contract',
  'state.batch_confirms[].eth_signer',
] as const;

/** Power of the contract's set, by address and in all, and how much of it has to sign. */
const contractPower = memoize((input: BridgeInput) => {
  const valset = contractValset(input);
  if (valset === undefined) return undefined;
  const total = totalPower(valset);
  const needed = multiply(decimal(trustedDigits(input.settings.powerThreshold)), total);
  return { byAddress: powerByAddress(valset), total, needed };
});

/** Signed power beside the power of the contract's set; absent when there is no such set or it has no power. */
export interface SignedPower {
  readonly signed: Decimal;
  readonly total: Decimal;
  readonly needed: Decimal;
}

function signedPower(input: BridgeInput, signers: ReadonlySet<string>): SignedPower | undefined {
  const power = contractPower(input);
  if (power === undefined || compare(power.total, ZERO) === 0) return undefined;
  return { signed: powerOf(power.byAddress, signers), total: power.total, needed: power.needed };
}

export function valsetSignedPower(input: BridgeInput, valset: Valset): SignedPower | undefined {
  return signedPower(input, valsetSigners(input, valset));
}

export const batchSignedPower = memoizePerRow((input: BridgeInput, batch: Batch): SignedPower | undefined =>
  signedPower(input, batchSigners(input, batch)),
);

const ofUnrelayed = memoize((input: BridgeInput) => {
  required(input.state.valset_confirms);
  return signedPowers(input, unrelayedValsets(input), valsetSignedPower);
});

const ofBatches = memoize((input: BridgeInput) => {
  required(input.state.batch_confirms);
  return signedPowers(input, rows(input.state.batches), batchSignedPower);
});

/** Asks for the set of the contract even when nothing waits: without it, that nothing is below the threshold is not known. */
function signedPowers<T>(
  input: BridgeInput,
  list: readonly T[],
  power: (input: BridgeInput, row: T) => SignedPower | undefined,
): readonly SignedPower[] {
  contractValset(input);
  return list.map((row) => power(input, row)).filter((signed) => signed !== undefined);
}

/** All have the same total, so the lowest signed power is the lowest ratio. */
function lowestRatio(powers: readonly SignedPower[]): number | undefined {
  const signed = lowest(powers.map((power) => power.signed));
  const [first] = powers;
  return signed && first && ratio(signed, first.total);
}

/** Whether too little power has signed for anyone to relay it. */
export function isBelowThreshold({ signed, needed }: SignedPower): boolean {
  return compare(signed, needed) < 0;
}

export function valsetsBelowThreshold(input: BridgeInput): number {
  return ofUnrelayed(input).filter(isBelowThreshold).length;
}

export function batchesBelowThreshold(input: BridgeInput): number {
  return ofBatches(input).filter(isBelowThreshold).length;
}

/** Whether what waits for signatures has enough of them, by the set whose signatures the contract counts. */
export const signingFamilies: readonly BridgeFamily[] = [
  gauge({
    name: 'bridge_unrelayed_valsets',
    help: 'Validator sets newer than the one in the contract.',
    unit: 'validator sets',
    reads: ['state.valsets', 'state.valsets[].nonce', 'state.last_observed_valset.nonce'],
    value: (input) => unrelayedValsets(input).length,
  }),
  gauge({
    name: 'bridge_unrelayed_valset_min_signed_power_ratio',
    help: 'Signed share of the power of the set in the contract, of the unrelayed validator set that has least; absent when none is unrelayed.',
    unit: 'ratio, 0 to 1',
    reads: VALSET_FIELDS,
    value: (input) => lowestRatio(ofUnrelayed(input)),
  }),
  gauge({
    name: 'bridge_unrelayed_valsets_below_threshold',
    help: 'Unrelayed validator sets whose signed share is below the configured threshold: no one can relay them.',
    unit: 'validator sets',
    reads: VALSET_FIELDS,
    value: valsetsBelowThreshold,
  }),
  gauge({
    name: 'bridge_batch_min_signed_power_ratio',
    help: 'Signed share of the power of the set in the contract, of the live batch that has least; absent when there is no batch.',
    unit: 'ratio, 0 to 1',
    reads: BATCH_FIELDS,
    value: (input) => lowestRatio(ofBatches(input)),
  }),
  gauge({
    name: 'bridge_batches_below_threshold',
    help: 'Live batches whose signed share is below the configured threshold: no one can relay them.',
    unit: 'batches',
    reads: BATCH_FIELDS,
    value: batchesBelowThreshold,
  }),
  gauge({
    name: 'bridge_power_threshold_ratio',
    help: 'Share of power that the contract asks for, as configured.',
    unit: 'ratio, 0 to 1',
    reads: ['configuration power_threshold'],
    value: ({ settings }) => doubleOf(trustedDigits(settings.powerThreshold)),
  }),
];
