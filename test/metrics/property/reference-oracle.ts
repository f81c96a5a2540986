import {
  add,
  address,
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
import { eventNonce } from './reference-claims.js';
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
  out.gauge('bridge_next_event_voted_power_ratio', () => {
    const rows = list(field(state, 'orchestrator_addresses')).map(
      (row) => [dataPart(field(row, 'sender')), row] as const,
    );
    const valset = valsetsOf(state).newest;
    if (valset === undefined) return undefined;
    const [power, total] = [powers(valset), totalPower(valset)];
    const ratios = next().map((attestation) => {
      const voters = new Set(list(field(attestation, 'votes')).map(dataPart));
      const addresses = [...voters].flatMap((voter) => {
        const row = rows.find(([sender]) => sender === voter)?.[1];
        return row === undefined ? [] : [address(field(row, 'eth_address'))];
      });
      return divide(sum([...new Set(addresses)].map((externalAddress) => power.get(externalAddress) ?? zero)), total);
    });
    return highest(ratios.filter((ratio) => ratio !== undefined));
  });
}

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
