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

/** The names of validators: by any of their addresses, and by the data part of the operator address. */
export interface NamesReference {
  readonly configured: readonly { readonly address: string; readonly name: string }[];
  readonly staking: ReadonlyMap<string, string>;
}

/** What the addresses of one validator have in common; addresses of the external chain only in their own form. */
function keyOf(text: string): string {
  return /^0x/i.test(text) ? text.toLowerCase() : dataPart(text);
}

interface Orchestrator {
  readonly externalAddress: string;
  readonly row: unknown;
  readonly labels: { readonly orchestrator: string; readonly external_address: string };
}

/** Members of the newest validator set with the first orchestrator row of their address. */
function orchestratorsOf(state: unknown): readonly Orchestrator[] {
  const rows = list(field(state, 'orchestrator_addresses')).map(
    (row) => [address(field(row, 'eth_address')), row] as const,
  );
  const { newest } = valsetsOf(state);
  const members = newest === undefined ? [] : membersOf(newest);
  return [...new Set(members.map((member) => address(field(member, 'external_address'))))].flatMap(
    (externalAddress) => {
      const row = rows.find(([rowAddress]) => rowAddress === externalAddress)?.[1];
      if (row === undefined) return [];
      const orchestrator = field(row, 'orchestrator');
      const label = (optionalString(orchestrator) ?? '').toLowerCase();
      return [{ externalAddress, row, labels: { orchestrator: label, external_address: externalAddress } }];
    },
  );
}

export function referenceOrchestrators(
  state: unknown,
  options: {
    readonly height: Rational | undefined;
    readonly watch?: readonly string[];
    readonly validators?: NamesReference;
  },
  out: SeriesCollector,
): void {
  const { height, watch = [], validators = { configured: [], staking: new Map() } } = options;
  out.labeledGauge('bridge_orchestrator_info', () =>
    orchestratorsOf(state).map(({ row, labels, externalAddress }) => {
      const sender = optionalString(field(row, 'sender'));
      const addresses = [labels.orchestrator, sender, externalAddress].filter((text) => text !== undefined);
      const isSame = (configured: string): boolean => addresses.some((text) => keyOf(text) === keyOf(configured));
      const configured = addresses
        .map((text) => validators.configured.findLast((validator) => keyOf(validator.address) === keyOf(text)))
        .find((validator) => validator !== undefined);
      const name = configured?.name ?? (sender === undefined ? undefined : validators.staking.get(keyOf(sender))) ?? '';
      const watched = String(watch.some(isSame));
      return [{ ...labels, validator: (sender ?? '').toLowerCase(), name, watched }, integer(1)];
    }),
  );

  out.labeledGauge('bridge_watched_validator_active', () => {
    if (watch.length === 0) return [];
    const orchestrators = orchestratorsOf(state);
    const { newest } = valsetsOf(state);
    if (newest === undefined || membersOf(newest).length === 0) return [];
    const active = new Set(
      orchestrators.flatMap(({ row, externalAddress }) => [
        keyOf(address(field(row, 'orchestrator'))),
        keyOf(address(field(row, 'sender'))),
        keyOf(externalAddress),
      ]),
    );
    return watch.map((entry) => [{ address: entry }, integer(active.has(keyOf(entry)) ? 1 : 0)]);
  });

  const each = (name: string, prepare: () => (orchestrator: Orchestrator) => Rational | undefined): void => {
    out.labeledGauge(name, () => {
      const orchestrators = orchestratorsOf(state);
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
