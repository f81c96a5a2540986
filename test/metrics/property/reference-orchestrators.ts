import {
  add,
  address,
  boolean,
  compare,
  dataPart,
  divide,
  equal,
  field,
  highest,
  integer,
  isObject,
  list,
  lowest,
  number,
  optionalNumber,
  optionalString,
  orUndefined,
  Withdrawn,
  zero,
  type Rational,
  type SeriesCollector,
} from './exact.js';
import { eventNonce } from './reference-claims.js';
import type { TimedDocument } from './reference-times.js';
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
    readonly documents: readonly TimedDocument[];
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

  const activity = (document: unknown): readonly (readonly [string, boolean])[] => {
    if (watch.length === 0) return [];
    const rows = list(field(document, 'orchestrator_addresses'));
    if (!rows.every(isObject)) throw new Withdrawn('a row that is not an object');
    const { newest } = valsetsOf(document);
    const members = newest === undefined ? [] : membersOf(newest);
    const addresses = members.map((member) => address(field(member, 'external_address')));
    if (addresses.length === 0) return [];
    return watch.flatMap((entry): (readonly [string, boolean])[] => {
      const matching = rows.filter((row) =>
        ['orchestrator', 'sender', 'eth_address']
          .map((name) => field(row, name))
          .some((text) => typeof text === 'string' && keyOf(text) === keyOf(entry)),
      );
      if (matching.length === 0) return [];
      // Any of them decides, so one that is read after a match does not matter.
      for (const row of matching) if (addresses.includes(address(field(row, 'eth_address')))) return [[entry, true]];
      return [[entry, false]];
    });
  };
  out.labeledGauge('bridge_watched_validator_active', () =>
    activity(state).map(([entry, isActive]) => [{ address: entry }, integer(isActive ? 1 : 0)]),
  );
  out.labeledGauge('bridge_watched_validator_last_active_timestamp_seconds', () => {
    const times = options.documents.flatMap(({ state: document, atMs }) =>
      (orUndefined(() => activity(document)) ?? []).flatMap(([entry, isActive]) => (isActive ? [{ entry, atMs }] : [])),
    );
    return watch.flatMap((entry) => {
      const last = times.findLast((time) => time.entry === entry);
      return last === undefined
        ? []
        : [[{ address: entry }, { numerator: 1_700_000_000_000n + BigInt(last.atMs), denominator: 1000n }]];
    });
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
  /** The nonce of the newest validator set without an address. */
  const lastAbsences = (): ((externalAddress: string) => Rational | undefined) => {
    const all = list(field(state, 'valsets')).map((valset) => ({
      nonce: number(field(valset, 'nonce')),
      members: membersOf(valset).map((member) => address(field(member, 'external_address'))),
    }));
    return (externalAddress) =>
      highest(all.filter(({ members }) => !members.includes(externalAddress)).map(({ nonce }) => nonce));
  };
  /** The validator sets that the orchestrator has not confirmed and whose deadline has not passed. */
  const missingValsets = (): ((orchestrator: Orchestrator) => readonly unknown[]) => {
    list(field(state, 'valset_confirms'));
    window();
    const unexpired = list(field(state, 'valsets')).filter(isUnexpired);
    const absence = lastAbsences();
    const confirmed = unexpired.length === 0 ? undefined : valsetSigners(state);
    const valsets = unexpired.map((valset) => ({
      valset,
      nonce: number(field(valset, 'nonce')),
      members: membersOf(valset).map((member) => address(field(member, 'external_address'))),
      signers: confirmed?.(number(field(valset, 'nonce'))),
    }));
    return ({ externalAddress }) => {
      const since = absence(externalAddress);
      return valsets.flatMap(({ valset, nonce, members, signers }) =>
        (since === undefined || compare(nonce, since) > 0) &&
        members.includes(externalAddress) &&
        !signers?.has(externalAddress)
          ? [valset]
          : [],
      );
    };
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
  each('bridge_orchestrator_batch_confirm_deadline_height', () => {
    list(field(state, 'batch_confirms'));
    const batches = list(field(state, 'batches'));
    const confirmed = batches.length === 0 ? undefined : batchSigners(state);
    const signed = batches.map((batch) => ({ batch, signers: confirmed?.(batch) }));
    const blocks = optionalNumber(field(state, 'params', 'signed_batches_window'));
    return ({ externalAddress }) => {
      const unsigned = signed
        .filter(({ signers }) => !signers?.has(externalAddress))
        .map(({ batch }) => number(field(batch, 'block')));
      if (blocks === undefined || unsigned.length === 0) return undefined;
      const since = lastAbsences()(externalAddress);
      return lowest(
        unsigned.filter((block) => since === undefined || compare(block, since) > 0).map((block) => add(block, blocks)),
      );
    };
  });

  const votesFor = (attestations: readonly unknown[]): ReadonlySet<string> =>
    new Set(attestations.flatMap((attestation) => list(field(attestation, 'votes')).map(dataPart)));
  const claimsOf = (nonce: Rational): readonly unknown[] =>
    list(field(state, 'attestations'))
      .map((attestation) => [eventNonce(attestation), attestation] as const)
      .filter(([claimed]) => equal(claimed, nonce))
      .map(([, attestation]) => attestation);
  const lastNonce = (): Rational => number(field(state, 'last_observed_nonce'));

  each('bridge_orchestrator_missing_votes', () => {
    const observed = lastObserved(state);
    if (observed.length === 0) return () => undefined;
    const votes = votesFor(claimsOf(lastNonce()));
    return ({ row }) => integer(votes.has(dataPart(field(row, 'sender'))) ? 0 : 1);
  });
  each('bridge_orchestrator_dissenting_votes', () => {
    if (lastObserved(state).length === 0) return () => undefined;
    const lost = claimsOf(lastNonce()).filter((attestation) => !boolean(field(attestation, 'observed')));
    const votes = votesFor(lost);
    if (votes.size === 0) return () => zero;
    return ({ row }) => integer(votes.has(dataPart(field(row, 'sender'))) ? 1 : 0);
  });
  each('bridge_orchestrator_missing_next_votes', () => {
    const claims = claimsOf(add(lastNonce(), integer(1)));
    if (claims.length === 0) return () => undefined;
    const votes = votesFor(claims);
    return ({ row }) => integer(votes.has(dataPart(field(row, 'sender'))) ? 0 : 1);
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
