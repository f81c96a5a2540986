import {
  above,
  address,
  distance,
  field,
  highest,
  key,
  list,
  lowest,
  minus,
  number,
  over,
  plus,
  same,
  sum,
  whole,
  zero,
  type Collected,
  type Exact,
} from './exact.js';
import { eventNonce } from './reference-claims.js';
import { membersOf, powers, totalPower, valsetsOf } from './reference-signing.js';

type Json = unknown;

export function referenceEvents(state: Json, out: Collected): void {
  const observed = (): Exact => number(field(state, 'last_observed_nonce'));
  const attestations = (): readonly (readonly [Exact, Json])[] =>
    list(field(state, 'attestations')).map((attestation) => [eventNonce(attestation), attestation]);
  const newest = (): Exact | undefined => highest(attestations().map(([nonce]) => nonce));
  const next = (): readonly Json[] => {
    const nonce = plus(observed(), whole(1));
    return attestations().flatMap(([its, attestation]) => (same(its, nonce) ? [attestation] : []));
  };

  out.single('bridge_newest_attested_nonce', newest);
  out.single('bridge_pending_events', () => {
    const [last, top] = [observed(), newest()];
    return top !== undefined && above(top, last) ? minus(top, last) : zero;
  });
  out.single('bridge_conflicting_claims', () => {
    const last = observed();
    const pending = attestations()
      .map(([nonce]) => nonce)
      .filter((nonce) => above(nonce, last));
    const repeated = pending.filter((nonce) => pending.filter((other) => same(other, nonce)).length > 1);
    return whole(repeated.filter((nonce, at) => repeated.findIndex((other) => same(other, nonce)) === at).length);
  });
  out.single('bridge_next_event_first_vote_height', () =>
    lowest(next().map((attestation) => number(field(attestation, 'height')))),
  );
  out.single('bridge_next_event_voted_power_ratio', () => {
    const rows = list(field(state, 'orchestrator_addresses')).map((row) => [key(field(row, 'sender')), row] as const);
    const valset = valsetsOf(state).newest;
    if (valset === undefined) return undefined;
    const [power, total] = [powers(valset), totalPower(valset)];
    const ratios = next().map((attestation) => {
      const voters = new Set(list(field(attestation, 'votes')).map(key));
      const addresses = [...voters].flatMap((voter) => {
        const row = rows.find(([sender]) => sender === voter)?.[1];
        return row === undefined ? [] : [address(field(row, 'eth_address'))];
      });
      return over(sum([...new Set(addresses)].map((who) => power.get(who) ?? zero)), total);
    });
    return highest(ratios.filter((ratio) => ratio !== undefined));
  });
}

export function referenceDrift(state: Json, out: Collected): void {
  out.single('bridge_valset_power_drift_ratio', () => {
    const sets = [valsetsOf(state).newest, field(state, 'last_observed_valset')].map((valset) => ({
      power: powers(valset),
      total: totalPower(valset),
    }));
    const addresses = new Set(sets.flatMap(({ power }) => [...power.keys()]));
    if (sets.some(({ power, total }) => power.size === 0 || total.n === 0n)) return undefined;
    const share = (who: string): readonly Exact[] =>
      sets.map(({ power, total }) => over(power.get(who) ?? zero, total) ?? zero);
    return sum([...addresses].map((who) => distance(share(who)[0] ?? zero, share(who)[1] ?? zero)));
  });
}

export function referenceAnomalies(state: Json, out: Collected): void {
  const kind = (name: string, rows: () => number): void => {
    out.labelled('bridge_anomalies', () => [[{ kind: name }, whole(rows())]]);
  };
  const rows = (name: string): readonly Json[] => list(field(state, name));

  kind('orphan_valset_confirms', () => {
    const nonces = valsetsOf(state).all.map((valset) => number(field(valset, 'nonce')));
    const confirms = rows('valset_confirms').map((confirm) => number(field(confirm, 'nonce')));
    return confirms.filter((nonce) => !nonces.some((one) => same(one, nonce))).length;
  });
  kind('orphan_batch_confirms', () => {
    const batches = rows('batches').map(
      (batch) => [number(field(batch, 'batch_nonce')), address(field(batch, 'token_contract'))] as const,
    );
    const confirms = rows('batch_confirms').map(
      (confirm) => [number(field(confirm, 'nonce')), address(field(confirm, 'token_contract'))] as const,
    );
    return confirms.filter(([nonce, token]) => !batches.some((batch) => same(batch[0], nonce) && batch[1] === token))
      .length;
  });
  kind('members_without_orchestrator', () => {
    const known = new Set(rows('orchestrator_addresses').map((row) => address(field(row, 'eth_address'))));
    const { newest } = valsetsOf(state);
    const members = newest === undefined ? [] : membersOf(newest);
    const addresses = new Set(members.map((member) => address(field(member, 'external_address'))));
    return [...addresses].filter((who) => !known.has(who)).length;
  });
  kind('unknown_voters', () => {
    const senders = new Set(rows('orchestrator_addresses').map((row) => key(field(row, 'sender'))));
    const votes = rows('attestations').flatMap((attestation) => list(field(attestation, 'votes')).map(key));
    return [...new Set(votes)].filter((vote) => !senders.has(vote)).length;
  });
  kind('duplicate_orchestrators', () => {
    const keys = rows('orchestrator_addresses').map(
      (row) => [address(field(row, 'eth_address')), key(field(row, 'orchestrator'))] as const,
    );
    return keys.filter(([eth, orchestrator], at) =>
      keys.slice(0, at).some((earlier) => earlier[0] === eth || earlier[1] === orchestrator),
    ).length;
  });
}
