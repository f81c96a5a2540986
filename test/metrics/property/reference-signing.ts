import {
  above,
  address,
  compare,
  field,
  highest,
  list,
  lowest,
  number,
  over,
  same,
  sum,
  whole,
  type Collected,
  type Exact,
} from './exact.js';

type Json = unknown;

export interface Valsets {
  readonly all: readonly Json[];
  /** The valset with the highest nonce. */
  readonly newest: Json;
}

export function valsetsOf(state: Json): Valsets {
  const all = list(field(state, 'valsets'));
  const top = highest(all.map((valset) => number(field(valset, 'nonce'))));
  return { all, newest: all.find((valset) => top !== undefined && same(number(field(valset, 'nonce')), top)) };
}

export const membersOf = (valset: Json): readonly Json[] => list(field(valset, 'members'));

export function totalPower(valset: Json): Exact {
  return sum(membersOf(valset).map((member) => number(field(member, 'power'))));
}

/** Address → power; members with one address are added up. */
export function powers(valset: Json): ReadonlyMap<string, Exact> {
  const found = new Map<string, Exact>();
  for (const member of membersOf(valset)) {
    const who = address(field(member, 'external_address'));
    found.set(who, sum([found.get(who) ?? whole(0), number(field(member, 'power'))]));
  }
  return found;
}

/** `L`: the set in the contract as far as the hub knows; `undefined` when there is no valset at all. */
function relayedSet(state: Json): Json {
  const observed = field(state, 'last_observed_valset');
  return membersOf(observed).length > 0 ? observed : valsetsOf(state).newest;
}

/** Who confirmed the valset of this nonce. */
export function valsetSigners(state: Json): (nonce: Exact) => ReadonlySet<string> {
  const confirms = list(field(state, 'valset_confirms')).map(
    (confirm) => [number(field(confirm, 'nonce')), confirm] as const,
  );
  return (nonce) =>
    new Set(confirms.filter(([its]) => same(its, nonce)).map(([, confirm]) => address(field(confirm, 'eth_address'))));
}

/** Who confirmed this batch: same nonce and same token. */
export function batchSigners(state: Json): (batch: Json) => ReadonlySet<string> {
  const confirms = list(field(state, 'batch_confirms')).map((confirm) => ({
    nonce: number(field(confirm, 'nonce')),
    token: address(field(confirm, 'token_contract')),
    confirm,
  }));
  return (batch) => {
    const [nonce, contract] = [number(field(batch, 'batch_nonce')), address(field(batch, 'token_contract'))];
    const own = confirms.filter((row) => same(row.nonce, nonce) && row.token === contract);
    return new Set(own.map(({ confirm }) => address(field(confirm, 'eth_signer'))));
  };
}

function signedRatio(signedBy: Json, signers: ReadonlySet<string>): Exact | undefined {
  if (signedBy === undefined) return undefined;
  const signed = [...powers(signedBy)].filter(([member]) => signers.has(member)).map(([, power]) => power);
  return over(sum(signed), totalPower(signedBy));
}

function unrelayed(state: Json): readonly Exact[] {
  const observed = number(field(state, 'last_observed_valset', 'nonce'));
  const nonces = list(field(state, 'valsets')).map((valset) => number(field(valset, 'nonce')));
  return nonces.filter((nonce) => above(nonce, observed));
}

export function referenceSigning(state: Json, threshold: Exact, out: Collected): void {
  const present = (ratios: readonly (Exact | undefined)[]): readonly Exact[] =>
    ratios.filter((ratio) => ratio !== undefined);
  const valsetRatios = (): readonly Exact[] => {
    const signedBy = relayedSet(state);
    list(field(state, 'valset_confirms'));
    const waiting = unrelayed(state);
    if (waiting.length === 0) return [];
    const signers = valsetSigners(state);
    return present(waiting.map((nonce) => signedRatio(signedBy, signers(nonce))));
  };
  const batchRatios = (): readonly Exact[] => {
    const signedBy = relayedSet(state);
    list(field(state, 'batch_confirms'));
    const batches = list(field(state, 'batches'));
    if (batches.length === 0) return [];
    const signers = batchSigners(state);
    return present(batches.map((batch) => signedRatio(signedBy, signers(batch))));
  };
  const below = (ratios: readonly Exact[]): Exact =>
    whole(ratios.filter((ratio) => compare(ratio, threshold) < 0).length);

  out.single('bridge_power_threshold_ratio', () => threshold);
  out.single('bridge_unrelayed_valsets', () => whole(unrelayed(state).length));
  out.single('bridge_unrelayed_valset_min_signed_power_ratio', () => lowest(valsetRatios()));
  out.single('bridge_unrelayed_valsets_below_threshold', () => below(valsetRatios()));
  out.single('bridge_batch_min_signed_power_ratio', () => lowest(batchRatios()));
  out.single('bridge_batches_below_threshold', () => below(batchRatios()));
}
