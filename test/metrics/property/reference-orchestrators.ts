import {
  add,
  address,
  boolean,
  compare,
  dataPart,
  divide,
  equal,
  field,
  integer,
  list,
  lowest,
  number,
  optionalNumber,
  optionalString,
  zero,
  type Rational,
  type SeriesCollector,
} from './exact.js';
import { eventNonce } from './reference-claims.js';
import { batchSigners, membersOf, powers, totalPower, valsetSigners, valsetsOf } from './reference-signing.js';

interface Orchestrator {
  readonly externalAddress: string;
  readonly row: unknown;
  readonly labels: Readonly<Record<string, string>>;
}

/** Members of the newest validator set with the first orchestrator row of their address. */
function orchestratorsOf(state: unknown, watch: readonly string[]): readonly Orchestrator[] {
  const rows = list(field(state, 'orchestrator_addresses')).map(
    (row) => [address(field(row, 'eth_address')), row] as const,
  );
  const { newest } = valsetsOf(state);
  const members = newest === undefined ? [] : membersOf(newest);
  const watched = new Set(watch.map(dataPart));
  return [...new Set(members.map((member) => address(field(member, 'external_address'))))].flatMap(
    (externalAddress) => {
      const row = rows.find(([rowAddress]) => rowAddress === externalAddress)?.[1];
      if (row === undefined) return [];
      const orchestrator = field(row, 'orchestrator');
      const label = (optionalString(orchestrator) ?? '').toLowerCase();
      if (watch.length > 0 && !watched.has(dataPart(orchestrator))) return [];
      return [{ externalAddress, row, labels: { orchestrator: label, external_address: externalAddress } }];
    },
  );
}

export function referenceOrchestrators(
  state: unknown,
  { height, watch }: { readonly height: Rational | undefined; readonly watch: readonly string[] },
  out: SeriesCollector,
): void {
  const each = (name: string, prepare: () => (orchestrator: Orchestrator) => Rational | undefined): void => {
    out.labelledGauge(name, () => {
      const orchestrators = orchestratorsOf(state, watch);
      const value = prepare();
      return orchestrators.flatMap((orchestrator) => {
        const result = value(orchestrator);
        return result === undefined ? [] : [[orchestrator.labels, result]];
      });
    });
  };

  const window = (): Rational | undefined => optionalNumber(field(state, 'params', 'signed_valsets_window'));
  const deadline = (valset: unknown): Rational | undefined => {
    const blocks = window();
    return blocks && add(number(field(valset, 'height')), blocks);
  };
  const isUnexpired = (valset: unknown): boolean => {
    if (height === undefined || window() === undefined) return true;
    const last = deadline(valset);
    return last !== undefined && compare(last, height) >= 0;
  };
  /** The validator sets that the orchestrator has not confirmed and whose deadline has not passed. */
  const missingValsets = (): ((orchestrator: Orchestrator) => readonly unknown[]) => {
    list(field(state, 'valset_confirms'));
    window();
    const unexpired = list(field(state, 'valsets')).filter(isUnexpired);
    const confirmed = unexpired.length === 0 ? undefined : valsetSigners(state);
    const valsets = unexpired.map((valset) => ({
      valset,
      members: membersOf(valset).map((member) => address(field(member, 'external_address'))),
      signers: confirmed?.(number(field(valset, 'nonce'))),
    }));
    return ({ externalAddress }) =>
      valsets.flatMap(({ valset, members, signers }) =>
        members.includes(externalAddress) && !signers?.has(externalAddress) ? [valset] : [],
      );
  };

  each('bridge_orchestrator_power_ratio', () => {
    const { newest } = valsetsOf(state);
    if (newest === undefined) return () => undefined;
    const [power, total] = [powers(newest), totalPower(newest)];
    return ({ externalAddress }) => divide(power.get(externalAddress) ?? zero, total);
  });
  each('bridge_orchestrator_missing_valset_confirms', () => {
    const missing = missingValsets();
    return (orchestrator) => integer(missing(orchestrator).length);
  });
  each('bridge_orchestrator_confirm_deadline_height', () => {
    const missing = missingValsets();
    return (orchestrator) =>
      lowest(
        missing(orchestrator)
          .map(deadline)
          .filter((last) => last !== undefined),
      );
  });
  each('bridge_orchestrator_missing_batch_confirms', () => {
    list(field(state, 'batch_confirms'));
    const batches = list(field(state, 'batches'));
    const confirmed = batches.length === 0 ? [] : batches.map(batchSigners(state));
    return ({ externalAddress }) => integer(confirmed.filter((signers) => !signers.has(externalAddress)).length);
  });
  each('bridge_orchestrator_missing_votes', () => {
    const observed = lastObserved(state);
    const votes = new Set(observed.flatMap((attestation) => list(field(attestation, 'votes')).map(dataPart)));
    return ({ row }) => {
      const sender = dataPart(field(row, 'sender'));
      return observed.length === 0 ? undefined : integer(votes.has(sender) ? 0 : 1);
    };
  });
}

/** Observed attestations of the last observed event nonce. */
export function lastObserved(state: unknown): readonly unknown[] {
  const nonce = number(field(state, 'last_observed_nonce'));
  return list(field(state, 'attestations'))
    .map((attestation) => [eventNonce(attestation), attestation] as const)
    .filter(([claimed, attestation]) => equal(claimed, nonce) && boolean(field(attestation, 'observed')))
    .map(([, attestation]) => attestation);
}
