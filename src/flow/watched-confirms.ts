import { dataPart } from '../chain/addresses.js';
import { compare, highest, numeralKey } from '../chain/decimal.js';
import type { OrchestratorAddress } from '../chain/module-state.js';
import type { Numeral } from '../json/numeral.js';
import { eventAttestations, voters } from '../metrics/bridge/events.js';
import type { BridgeInput } from '../metrics/bridge/input.js';
import { matchingRegistrations, validatorName } from '../metrics/bridge/registrations.js';
import { batchSigners, valsetSigners } from '../metrics/bridge/signing.js';
import { toLabelValue } from '../metrics/family.js';
import { groupBy } from '../metrics/grouping.js';
import { optional, orElse, required, rows } from '../metrics/required-fields.js';
import { batchKey } from './bridge-document.js';
import { EMPTY_HISTOGRAM, observe, type Histogram } from './histogram.js';

/*
 * How long watched validators take to confirm: from the first document with a batch, a validator set or the claim of an event to the first
 * one with their signature or vote. What was there before has no duration, nor what is gone before they confirm it.
 */

export const confirmKinds = ['batch', 'valset', 'vote'] as const;
type ConfirmKind = (typeof confirmKinds)[number];

export interface WatchedConfirms {
  /** In the order of `watch`, then those whose registration has changed: a counter does not disappear. */
  readonly validators: readonly ConfirmingValidator[];
  /** `undefined` for a kind that could not be read. */
  readonly pending: Readonly<Record<ConfirmKind, PendingConfirms | undefined>>;
}

interface ConfirmingValidator {
  readonly orchestrator: string;
  readonly name: string;
  readonly delays: Readonly<Record<ConfirmKind, Histogram>>;
}

interface PendingConfirms {
  /** The highest nonce so far. What is above is new. */
  readonly highest: Numeral | undefined;
  readonly items: readonly PendingItem[];
}

/** Something that some of the watched validators have not confirmed. */
interface PendingItem {
  readonly key: string;
  /** On the monotonic clock. */
  readonly seenAtMs: number;
  /** The orchestrators that have not confirmed it. */
  readonly missing: readonly string[];
}

const NOTHING_PENDING = { batch: undefined, valset: undefined, vote: undefined };

export const NO_CONFIRMS: WatchedConfirms = { validators: [], pending: NOTHING_PENDING };

/** Many more than there are of any kind. The others have no duration. */
const MAX_PENDING = 1_000;

interface Watched {
  readonly orchestrator: string;
  readonly name: string;
  readonly registration: OrchestratorAddress;
}

/** Something to confirm in a document. */
interface Confirmable {
  readonly key: string;
  readonly nonce: Numeral;
  readonly isConfirmedBy: (registration: OrchestratorAddress) => boolean;
}

/** `isContinued`: nothing was missed since the last document. */
export function trackConfirms(before: WatchedConfirms, input: BridgeInput, isContinued: boolean): WatchedConfirms {
  if (input.settings.watch.length === 0) return NO_CONFIRMS;
  return orElse(
    () => confirmsAfter(before, input, isContinued),
    () => ({ ...before, pending: NOTHING_PENDING }),
  );
}

function confirmsAfter(before: WatchedConfirms, input: BridgeInput, isContinued: boolean): WatchedConfirms {
  const watched = watchedValidators(input);
  const steps = {
    batch: step(isContinued ? before.pending.batch : undefined, () => batches(input), watched, input),
    valset: step(isContinued ? before.pending.valset : undefined, () => valsets(input), watched, input),
    vote: step(isContinued ? before.pending.vote : undefined, () => claimedEvents(input), watched, input),
  };
  const known = new Map(before.validators.map((validator) => [validator.orchestrator, validator]));
  const delaysOf = (orchestrator: string, kind: ConfirmKind): Histogram =>
    observe(
      known.get(orchestrator)?.delays[kind] ?? EMPTY_HISTOGRAM,
      steps[kind].delays.filter((delay) => delay.orchestrator === orchestrator).map(({ seconds }) => seconds),
    );
  const present = new Set(watched.map(({ orchestrator }) => orchestrator));
  const former = before.validators.filter(({ orchestrator }) => !present.has(orchestrator));
  const current = watched.map(({ orchestrator, name }) => ({
    orchestrator,
    name,
    delays: {
      batch: delaysOf(orchestrator, 'batch'),
      valset: delaysOf(orchestrator, 'valset'),
      vote: delaysOf(orchestrator, 'vote'),
    },
  }));
  return {
    validators: [...current, ...former].slice(0, maxValidators(input)),
    pending: { batch: steps.batch.pending, valset: steps.valset.pending, vote: steps.vote.pending },
  };
}

/** Every entry has one registration, which can change. */
function maxValidators({ settings }: BridgeInput): number {
  return 2 * settings.watch.length;
}

/** The registered ones, each once. */
function watchedValidators(input: BridgeInput): readonly Watched[] {
  const all = input.settings.watch.flatMap((entry) =>
    matchingRegistrations(input, entry).map((registration): [string, Watched] => {
      const orchestrator = toLabelValue(optional(registration.orchestrator) ?? '');
      return [orchestrator, { orchestrator, name: toLabelValue(validatorName(input, registration)), registration }];
    }),
  );
  return Array.from(new Map(all).values()).slice(0, maxValidators(input));
}

interface Step {
  readonly pending: PendingConfirms | undefined;
  readonly delays: readonly { readonly orchestrator: string; readonly seconds: number }[];
}

/** What is confirmed by this document; nothing without what was pending before. */
function step(
  before: PendingConfirms | undefined,
  read: () => readonly Confirmable[],
  watched: readonly Watched[],
  { at: { monotonicMs } }: BridgeInput,
): Step {
  const current = orElse<readonly Confirmable[] | undefined>(read, () => undefined);
  if (current === undefined) return { pending: undefined, delays: [] };
  const highestNow = highest([before?.highest, ...current.map(({ nonce }) => nonce)]);
  if (before === undefined) return { pending: { highest: highestNow, items: [] }, delays: [] };
  const known = new Map(before.items.map((item) => [item.key, item]));
  const isNew = ({ nonce }: Confirmable): boolean => before.highest === undefined || compare(nonce, before.highest) > 0;
  const everybody = watched.map(({ orchestrator }) => orchestrator);
  const checked = current
    .flatMap((one) => {
      const item = known.get(one.key) ?? (isNew(one) ? { seenAtMs: monotonicMs, missing: everybody } : undefined);
      return item === undefined ? [] : [{ one, item }];
    })
    .slice(0, MAX_PENDING)
    .map(({ one, item: { seenAtMs, missing } }) => {
      const awaited = watched.filter(({ orchestrator }) => missing.includes(orchestrator));
      const confirmed = awaited.filter(({ registration }) => one.isConfirmedBy(registration));
      return { key: one.key, seenAtMs, awaited, confirmed };
    });
  return {
    pending: {
      highest: highestNow,
      items: checked
        .map(({ key, seenAtMs, awaited, confirmed }) => ({
          key,
          seenAtMs,
          missing: awaited.filter((one) => !confirmed.includes(one)).map(({ orchestrator }) => orchestrator),
        }))
        .filter(({ missing }) => missing.length > 0),
    },
    delays: checked.flatMap(({ seenAtMs, confirmed }) =>
      confirmed.map(({ orchestrator }) => ({ orchestrator, seconds: (monotonicMs - seenAtMs) / 1000 })),
    ),
  };
}

function batches(input: BridgeInput): readonly Confirmable[] {
  required(input.state.batch_confirms);
  return rows(input.state.batches).map((batch) => {
    const nonce = required(batch.batch_nonce);
    return {
      key: batchKey(numeralKey(nonce), required(batch.token_contract)),
      nonce,
      isConfirmedBy: ({ eth_address }) => batchSigners(input, batch).has(required(eth_address)),
    };
  });
}

function valsets(input: BridgeInput): readonly Confirmable[] {
  required(input.state.valset_confirms);
  return rows(input.state.valsets).map((valset) => {
    const nonce = required(valset.nonce);
    return {
      key: String(numeralKey(nonce)),
      nonce,
      isConfirmedBy: ({ eth_address }) => valsetSigners(input, valset).has(required(eth_address)),
    };
  });
}

/** The events with a claim: those that are not observed, and the last observed one. */
function claimedEvents(input: BridgeInput): readonly Confirmable[] {
  const byNonce = groupBy(eventAttestations(input), ({ nonce }) => numeralKey(nonce));
  return Array.from(byNonce, ([nonce, claims]) => ({
    key: String(nonce),
    nonce,
    isConfirmedBy: ({ sender }) => {
      const validator = dataPart(required(sender));
      return claims.some(({ attestation }) => voters(attestation).includes(validator));
    },
  }));
}
