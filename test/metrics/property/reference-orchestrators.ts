import {
  address,
  compare,
  field,
  flag,
  key,
  list,
  lowest,
  number,
  optionalNumber,
  optionalText,
  over,
  plus,
  same,
  whole,
  zero,
  type Collected,
  type Exact,
} from './exact.js';
import { eventNonce } from './reference-claims.js';
import { batchSigners, membersOf, powers, totalPower, valsetSigners, valsetsOf } from './reference-signing.js';

type Json = unknown;

interface Orchestrator {
  readonly who: string;
  readonly row: Json;
  readonly labels: Readonly<Record<string, string>>;
}

/** Members of the newest valset with an orchestrator row of their address, of which the first counts. */
function orchestratorsOf(state: Json, watch: readonly string[]): readonly Orchestrator[] {
  const rows = list(field(state, 'orchestrator_addresses')).map(
    (row) => [address(field(row, 'eth_address')), row] as const,
  );
  const { newest } = valsetsOf(state);
  const members = newest === undefined ? [] : membersOf(newest);
  const watched = new Set(watch.map(key));
  return [...new Set(members.map((member) => address(field(member, 'external_address'))))].flatMap((who) => {
    const row = rows.find(([its]) => its === who)?.[1];
    if (row === undefined) return [];
    const orchestrator = field(row, 'orchestrator');
    const shown = (optionalText(orchestrator) ?? '').toLowerCase();
    if (watch.length > 0 && !watched.has(key(orchestrator))) return [];
    return [{ who, row, labels: { orchestrator: shown, external_address: who } }];
  });
}

export function referenceOrchestrators(
  state: Json,
  { height, watch }: { readonly height: Exact | undefined; readonly watch: readonly string[] },
  out: Collected,
): void {
  const each = (name: string, prepare: () => (orchestrator: Orchestrator) => Exact | undefined): void => {
    out.labelled(name, () => {
      const orchestrators = orchestratorsOf(state, watch);
      const value = prepare();
      return orchestrators.flatMap((one) => {
        const exact = value(one);
        return exact === undefined ? [] : [[one.labels, exact]];
      });
    });
  };

  const window = (): Exact | undefined => optionalNumber(field(state, 'params', 'signed_valsets_window'));
  const deadline = (valset: Json): Exact | undefined => {
    const blocks = window();
    return blocks && plus(number(field(valset, 'height')), blocks);
  };
  const isOwed = (valset: Json): boolean => {
    if (height === undefined || window() === undefined) return true;
    const last = deadline(valset);
    return last !== undefined && compare(last, height) >= 0;
  };
  /** The valsets it is a member of and has not confirmed, while their deadline is not over. */
  const missingValsets = (): ((one: Orchestrator) => readonly Json[]) => {
    list(field(state, 'valset_confirms'));
    window();
    const owed = list(field(state, 'valsets')).filter(isOwed);
    const confirmed = owed.length === 0 ? undefined : valsetSigners(state);
    const valsets = owed.map((valset) => ({
      valset,
      members: membersOf(valset).map((member) => address(field(member, 'external_address'))),
      signers: confirmed?.(number(field(valset, 'nonce'))),
    }));
    return ({ who }) =>
      valsets.flatMap(({ valset, members, signers }) => (members.includes(who) && !signers?.has(who) ? [valset] : []));
  };

  each('bridge_orchestrator_power_ratio', () => {
    const { newest } = valsetsOf(state);
    if (newest === undefined) return () => undefined;
    const [power, total] = [powers(newest), totalPower(newest)];
    return ({ who }) => over(power.get(who) ?? zero, total);
  });
  each('bridge_orchestrator_missing_valset_confirms', () => {
    const missing = missingValsets();
    return (one) => whole(missing(one).length);
  });
  each('bridge_orchestrator_confirm_deadline_height', () => {
    const missing = missingValsets();
    return (one) =>
      lowest(
        missing(one)
          .map(deadline)
          .filter((last) => last !== undefined),
      );
  });
  each('bridge_orchestrator_missing_batch_confirms', () => {
    list(field(state, 'batch_confirms'));
    const batches = list(field(state, 'batches'));
    const confirmed = batches.length === 0 ? [] : batches.map(batchSigners(state));
    return ({ who }) => whole(confirmed.filter((signers) => !signers.has(who)).length);
  });
  each('bridge_orchestrator_missing_votes', () => {
    const observed = lastObserved(state);
    const votes = new Set(observed.flatMap((attestation) => list(field(attestation, 'votes')).map(key)));
    return ({ row }) => {
      const sender = key(field(row, 'sender'));
      return observed.length === 0 ? undefined : whole(votes.has(sender) ? 0 : 1);
    };
  });
}

/** Observed attestations of the last observed event nonce. */
export function lastObserved(state: Json): readonly Json[] {
  const nonce = number(field(state, 'last_observed_nonce'));
  return list(field(state, 'attestations'))
    .map((attestation) => [eventNonce(attestation), attestation] as const)
    .filter(([its, attestation]) => same(its, nonce) && flag(field(attestation, 'observed')))
    .map(([, attestation]) => attestation);
}
