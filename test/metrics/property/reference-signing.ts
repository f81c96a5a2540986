import {
  address,
  compare,
  divide,
  equal,
  field,
  highest,
  integer,
  isGreater,
  list,
  lowest,
  number,
  sum,
  type Rational,
  type SeriesCollector,
} from './exact.js';

export interface Valsets {
  readonly all: readonly unknown[];
  /** The validator set with the highest nonce. */
  readonly newest: unknown;
}

export function valsetsOf(state: unknown): Valsets {
  const all = list(field(state, 'valsets'));
  const top = highest(all.map((valset) => number(field(valset, 'nonce'))));
  return { all, newest: all.find((valset) => top !== undefined && equal(number(field(valset, 'nonce')), top)) };
}

export const membersOf = (valset: unknown): readonly unknown[] => list(field(valset, 'members'));

export function totalPower(valset: unknown): Rational {
  return sum(membersOf(valset).map((member) => number(field(member, 'power'))));
}

/** Power by address. The powers of members with the same address are added up. */
export function powers(valset: unknown): ReadonlyMap<string, Rational> {
  const found = new Map<string, Rational>();
  for (const member of membersOf(valset)) {
    const externalAddress = address(field(member, 'external_address'));
    found.set(externalAddress, sum([found.get(externalAddress) ?? integer(0), number(field(member, 'power'))]));
  }
  return found;
}

/** The validator set in the contract: the last observed one, or the newest one if that has no members. */
export function contractValset(state: unknown): unknown {
  const observed = field(state, 'last_observed_valset');
  return membersOf(observed).length > 0 ? observed : valsetsOf(state).newest;
}

/** The signers of the validator set with a nonce. */
export function valsetSigners(state: unknown): (nonce: Rational) => ReadonlySet<string> {
  const confirms = list(field(state, 'valset_confirms')).map(
    (confirm) => [number(field(confirm, 'nonce')), confirm] as const,
  );
  return (nonce) =>
    new Set(
      confirms
        .filter(([confirmed]) => equal(confirmed, nonce))
        .map(([, confirm]) => address(field(confirm, 'eth_address'))),
    );
}

/** The signers of a batch: of confirms with the same nonce and token. */
export function batchSigners(state: unknown): (batch: unknown) => ReadonlySet<string> {
  const confirms = list(field(state, 'batch_confirms')).map((confirm) => ({
    nonce: number(field(confirm, 'nonce')),
    token: address(field(confirm, 'token_contract')),
    confirm,
  }));
  return (batch) => {
    const [nonce, contract] = [number(field(batch, 'batch_nonce')), address(field(batch, 'token_contract'))];
    const ofBatch = confirms.filter((row) => equal(row.nonce, nonce) && row.token === contract);
    return new Set(ofBatch.map(({ confirm }) => address(field(confirm, 'eth_signer'))));
  };
}

export function signedRatio(valset: unknown, signers: ReadonlySet<string>): Rational | undefined {
  if (valset === undefined) return undefined;
  const signed = [...powers(valset)].filter(([member]) => signers.has(member)).map(([, power]) => power);
  return divide(sum(signed), totalPower(valset));
}

function unrelayed(state: unknown): readonly Rational[] {
  const observed = number(field(state, 'last_observed_valset', 'nonce'));
  const nonces = list(field(state, 'valsets')).map((valset) => number(field(valset, 'nonce')));
  return nonces.filter((nonce) => isGreater(nonce, observed));
}

export function referenceSigning(state: unknown, threshold: Rational, out: SeriesCollector): void {
  const defined = (ratios: readonly (Rational | undefined)[]): readonly Rational[] =>
    ratios.filter((ratio) => ratio !== undefined);
  const valsetRatios = (): readonly Rational[] => {
    const valset = contractValset(state);
    list(field(state, 'valset_confirms'));
    const nonces = unrelayed(state);
    if (nonces.length === 0) return [];
    const signers = valsetSigners(state);
    return defined(nonces.map((nonce) => signedRatio(valset, signers(nonce))));
  };
  const batchRatios = (): readonly Rational[] => {
    const valset = contractValset(state);
    list(field(state, 'batch_confirms'));
    const batches = list(field(state, 'batches'));
    if (batches.length === 0) return [];
    const signers = batchSigners(state);
    return defined(batches.map((batch) => signedRatio(valset, signers(batch))));
  };
  const below = (ratios: readonly Rational[]): Rational =>
    integer(ratios.filter((ratio) => compare(ratio, threshold) < 0).length);

  out.gauge('bridge_power_threshold_ratio', () => threshold);
  out.gauge('bridge_unrelayed_valsets', () => integer(unrelayed(state).length));
  out.gauge('bridge_unrelayed_valset_min_signed_power_ratio', () => lowest(valsetRatios()));
  out.gauge('bridge_unrelayed_valsets_below_threshold', () => below(valsetRatios()));
  out.gauge('bridge_newest_valset_signed_power_ratio', () => {
    const { newest } = valsetsOf(state);
    if (newest === undefined) return undefined;
    const nonce = number(field(newest, 'nonce'));
    if (!isGreater(nonce, number(field(state, 'last_observed_valset', 'nonce')))) return undefined;
    return signedRatio(contractValset(state), valsetSigners(state)(nonce));
  });
  out.gauge('bridge_batch_min_signed_power_ratio', () => lowest(batchRatios()));
  out.gauge('bridge_batches_below_threshold', () => below(batchRatios()));
}
