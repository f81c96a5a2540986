import {
  add,
  address,
  boolean,
  compare,
  dataPart,
  distance,
  divide,
  equal,
  field,
  highest,
  integer,
  isGreater,
  list,
  lowest,
  number,
  subtract,
  sum,
  zero,
  type Rational,
  type SeriesCollector,
} from './exact.js';
import { claimedBatch, claimedValset, claimName, eventNonce } from './reference-claims.js';
import { membersOf, powers, totalPower, valsetsOf } from './reference-signing.js';

export function referenceEvents(state: unknown, out: SeriesCollector): void {
  const observed = (): Rational => number(field(state, 'last_observed_nonce'));
  const attestations = (): readonly (readonly [Rational, unknown])[] =>
    list(field(state, 'attestations')).map((attestation) => [eventNonce(attestation), attestation]);
  const newest = (): Rational | undefined => highest(attestations().map(([nonce]) => nonce));
  const next = (): readonly unknown[] => {
    const nonce = add(observed(), integer(1));
    return attestations().flatMap(([claimed, attestation]) => (equal(claimed, nonce) ? [attestation] : []));
  };

  out.gauge('bridge_newest_attested_nonce', newest);
  out.gauge('bridge_pending_events', () => {
    const [last, top] = [observed(), newest()];
    return top !== undefined && isGreater(top, last) ? subtract(top, last) : zero;
  });
  out.gauge('bridge_conflicting_claims', () => {
    const last = observed();
    const pending = attestations()
      .map(([nonce]) => nonce)
      .filter((nonce) => isGreater(nonce, last));
    const repeated = pending.filter((nonce) => pending.filter((other) => equal(other, nonce)).length > 1);
    return integer(
      repeated.filter((nonce, index) => repeated.findIndex((other) => equal(other, nonce)) === index).length,
    );
  });
  out.gauge('bridge_next_event_first_vote_height', () =>
    lowest(next().map((attestation) => number(field(attestation, 'height')))),
  );
  out.gauge('bridge_next_event_voted_power_ratio', () =>
    highest(votedShares(state, next()).filter((share) => share !== undefined)),
  );
  out.gauge('bridge_next_event_second_claim_power_ratio', () => {
    const claims = next();
    if (claims.length === 0) return undefined;
    if (claims.length === 1) return zero;
    const shares = votedShares(state, claims).filter((share) => share !== undefined);
    return shares.toSorted(compare).at(-2);
  });
}

/** The share of the newest validator set that voted for each attestation; `undefined` without power. */
function votedShares(state: unknown, attestations: readonly unknown[]): readonly (Rational | undefined)[] {
  const rows = list(field(state, 'orchestrator_addresses')).map(
    (row) => [dataPart(field(row, 'sender')), row] as const,
  );
  const valset = valsetsOf(state).newest;
  const power = valset === undefined ? new Map<string, Rational>() : powers(valset);
  const total = valset === undefined ? zero : totalPower(valset);
  return attestations.map((attestation) => {
    const voters = new Set(list(field(attestation, 'votes')).map(dataPart));
    const addresses = [...voters].flatMap((voter) => {
      const row = rows.find(([sender]) => sender === voter)?.[1];
      return row === undefined ? [] : [address(field(row, 'eth_address'))];
    });
    return divide(sum([...new Set(addresses)].map((externalAddress) => power.get(externalAddress) ?? zero)), total);
  });
}

export function referenceIntegrity(state: unknown, out: SeriesCollector): void {
  const lastNonce = (): Rational => number(field(state, 'last_observed_nonce'));
  const attestations = (): readonly (readonly [Rational, unknown])[] =>
    list(field(state, 'attestations')).map((attestation) => [eventNonce(attestation), attestation]);
  const pendingOf = (name: string): readonly unknown[] => {
    const [all, last] = [attestations(), lastNonce()];
    return all
      .filter(([nonce]) => isGreater(nonce, last))
      .map(([, attestation]) => attestation)
      .filter((attestation) => claimName(attestation) === name);
  };
  const storedWith = (nonce: Rational): readonly unknown[] =>
    list(field(state, 'valsets')).filter((valset) => equal(number(field(valset, 'nonce')), nonce));
  const describe = (member: string, power: Rational): string => {
    const { numerator, denominator } = power;
    const divisor = gcd(numerator, denominator);
    return `${member}: ${numerator / divisor}/${denominator / divisor}`;
  };
  const storedMembers = (valset: unknown): string =>
    unique(
      membersOf(valset).map((row) => describe(address(field(row, 'external_address')), number(field(row, 'power')))),
    );

  const kinds: Readonly<Record<string, () => readonly unknown[]>> = {
    lost_claims: () => {
      const last = lastNonce();
      const ofLast = attestations().flatMap(([nonce, attestation]) => (equal(nonce, last) ? [attestation] : []));
      const flags = ofLast.map((attestation) => boolean(field(attestation, 'observed')));
      return flags.includes(true) ? ofLast.filter((_, index) => flags[index] === false) : [];
    },
    valset_claim_mismatch: () => {
      list(field(state, 'valsets'));
      return pendingOf('MsgValsetUpdatedClaim').filter((attestation) => {
        const claim = claimedValset(attestation);
        const stored = storedWith(claim.nonce);
        if (stored.length === 0) return true;
        const members = unique(claim.members().map(([member, power]) => describe(member, power)));
        return stored.map(storedMembers).some((own) => own !== members);
      });
    },
    withdraw_claim_without_batch: () => {
      const batches = list(field(state, 'batches'));
      return pendingOf('MsgWithdrawClaim').filter((attestation) => {
        const claim = claimedBatch(attestation);
        const keys = batches.map(
          (batch) => [number(field(batch, 'batch_nonce')), address(field(batch, 'token_contract'))] as const,
        );
        return !keys.some(([nonce, token]) => equal(nonce, claim.nonce) && token === claim.token);
      });
    },
  };
  const violations = (kind: string, value: () => Rational): void => {
    out.labeledGauge('bridge_integrity_violations', () => [[{ kind }, value()]]);
  };
  for (const [kind, claims] of Object.entries(kinds)) {
    violations(kind, () => integer(claims().length));
    out.labeledGauge('bridge_integrity_violation_power_ratio', () => {
      const counted = claims();
      if (counted.length === 0) return [[{ kind }, zero]];
      const best = highest(votedShares(state, counted).filter((share) => share !== undefined));
      return best === undefined ? [] : [[{ kind }, best]];
    });
  }
  violations('valset_mismatch', () => {
    const observed = field(state, 'last_observed_valset');
    const stored = storedWith(number(field(observed, 'nonce')));
    if (stored.length === 0) return zero;
    const members = storedMembers(observed);
    return integer(stored.map(storedMembers).some((own) => own !== members) ? 1 : 0);
  });
  violations('valset_unknown', () => {
    const nonce = number(field(state, 'last_observed_valset', 'nonce'));
    list(field(state, 'valsets'));
    return integer(!equal(nonce, zero) && storedWith(nonce).length === 0 ? 1 : 0);
  });
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? (a < 0n ? -a : a) : gcd(b, a % b);
}

const unique = (texts: readonly string[]): string => [...new Set(texts)].toSorted().join();

export function referenceDrift(state: unknown, out: SeriesCollector): void {
  out.gauge('bridge_valset_power_drift_ratio', () => {
    const sets = [valsetsOf(state).newest, field(state, 'last_observed_valset')].map((valset) => ({
      power: powers(valset),
      total: totalPower(valset),
    }));
    const addresses = new Set(sets.flatMap(({ power }) => [...power.keys()]));
    if (sets.some(({ power, total }) => power.size === 0 || total.numerator === 0n)) return undefined;
    const shares = (externalAddress: string): readonly Rational[] =>
      sets.map(({ power, total }) => divide(power.get(externalAddress) ?? zero, total) ?? zero);
    return sum(
      [...addresses].map((externalAddress) =>
        distance(shares(externalAddress)[0] ?? zero, shares(externalAddress)[1] ?? zero),
      ),
    );
  });
}

export function referenceAnomalies(state: unknown, out: SeriesCollector): void {
  const anomaly = (name: string, rows: () => number): void => {
    out.labeledGauge('bridge_anomalies', () => [[{ kind: name }, integer(rows())]]);
  };
  const rows = (name: string): readonly unknown[] => list(field(state, name));

  anomaly('orphan_valset_confirms', () => {
    const nonces = valsetsOf(state).all.map((valset) => number(field(valset, 'nonce')));
    const confirms = rows('valset_confirms').map((confirm) => number(field(confirm, 'nonce')));
    return confirms.filter((nonce) => !nonces.some((live) => equal(live, nonce))).length;
  });
  anomaly('orphan_batch_confirms', () => {
    const batches = rows('batches').map(
      (batch) => [number(field(batch, 'batch_nonce')), address(field(batch, 'token_contract'))] as const,
    );
    const confirms = rows('batch_confirms').map(
      (confirm) => [number(field(confirm, 'nonce')), address(field(confirm, 'token_contract'))] as const,
    );
    return confirms.filter(([nonce, token]) => !batches.some((batch) => equal(batch[0], nonce) && batch[1] === token))
      .length;
  });
  anomaly('members_without_orchestrator', () => {
    const known = new Set(rows('orchestrator_addresses').map((row) => address(field(row, 'eth_address'))));
    const { newest } = valsetsOf(state);
    const members = newest === undefined ? [] : membersOf(newest);
    const addresses = new Set(members.map((member) => address(field(member, 'external_address'))));
    return [...addresses].filter((externalAddress) => !known.has(externalAddress)).length;
  });
  anomaly('unknown_voters', () => {
    const senders = new Set(rows('orchestrator_addresses').map((row) => dataPart(field(row, 'sender'))));
    const votes = rows('attestations').flatMap((attestation) => list(field(attestation, 'votes')).map(dataPart));
    return [...new Set(votes)].filter((vote) => !senders.has(vote)).length;
  });
  anomaly('duplicate_orchestrators', () => {
    const keys = rows('orchestrator_addresses').map(
      (row) => [address(field(row, 'eth_address')), dataPart(field(row, 'orchestrator'))] as const,
    );
    return keys.filter(([eth, orchestrator], index) =>
      keys.slice(0, index).some((earlier) => earlier[0] === eth || earlier[1] === orchestrator),
    ).length;
  });
}
