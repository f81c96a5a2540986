import { dataPart } from '../../chain/addresses.js';
import type { OrchestratorAddress } from '../../chain/module-state.js';
import type { ValidatorConfig } from '../../config/config.js';
import { cleanText } from '../../text/format.js';
import { firstBy } from '../grouping.js';
import { memoize } from '../memoize.js';
import { orEmpty, required, rows } from '../required-fields.js';
import type { BridgeInput, WatchedOrchestrator } from './bridge-input.js';

/*
 * The registrations of validators with the bridge, with names and `watch`. A validator has several addresses
 * (orchestrator, account or operator, external), which are compared by their data part.
 */

/** Registrations by external address; the first of equal addresses. */
export const registrationByAddress = memoize(({ state }: BridgeInput): ReadonlyMap<string, OrchestratorAddress> =>
  firstBy(rows(state.orchestrator_addresses), ({ eth_address }) => required(eth_address)),
);

/** Registrations by the data part of the account, which votes contain. */
export const registrationBySender = memoize(({ state }: BridgeInput): ReadonlyMap<string, OrchestratorAddress> =>
  firstBy(rows(state.orchestrator_addresses), ({ sender }) => dataPart(required(sender))),
);

const configuredNames = memoize(
  (validators: readonly ValidatorConfig[]): ReadonlyMap<string, string> =>
    new Map(validators.map(({ address, name }) => [dataPart(address), name])),
);

const watchedKeys = memoize((watch: readonly string[]): ReadonlySet<string> => new Set(watch.map(dataPart)));

/** Orchestrator, account or operator, and external address. */
const ADDRESSES = 3;

/** The addresses by which a registered validator can be configured. Missing and invalid addresses match nothing. */
function listKeys({ orchestrator, sender, eth_address }: OrchestratorAddress): string[] {
  return [orchestrator, sender, eth_address].filter((address) => typeof address === 'string').map(dataPart);
}

/** The configured name, else the name in the staking module, else empty. */
export function validatorName({ names }: BridgeInput, registration: OrchestratorAddress): string {
  const configured = configuredNames(names.configured);
  const key = listKeys(registration).find((address) => configured.has(address));
  if (key !== undefined) return configured.get(key) ?? '';
  const { sender } = registration;
  return (typeof sender === 'string' ? names.staking.get(dataPart(sender)) : undefined) ?? '';
}

/** Pages show at least this much of a name. */
const shownName = (name: string): string => cleanText(name, 32);

/** The shown names of several registrations. */
const sharedNames = memoize((input: BridgeInput): ReadonlySet<string> => {
  const [names, shared] = [new Set<string>(), new Set<string>()];
  for (const registration of rows(input.state.orchestrator_addresses)) {
    const name = shownName(validatorName(input, registration));
    (names.has(name) ? shared : names).add(name);
  }
  return shared;
});

/** Whether another validator has the same shown name: anyone can choose any name. */
export function hasNamesake(input: BridgeInput, registration: OrchestratorAddress): boolean {
  const name = validatorName(input, registration);
  return name !== '' && sharedNames(input).has(shownName(name));
}

const registrationsByKey = memoize(({ state }: BridgeInput): ReadonlyMap<string, readonly OrchestratorAddress[]> => {
  const byKey = new Map<string, OrchestratorAddress[]>();
  for (const registration of rows(state.orchestrator_addresses)) {
    for (const key of new Set(listKeys(registration))) {
      const registrations = byKey.get(key);
      if (registrations === undefined) byKey.set(key, [registration]);
      else registrations.push(registration);
    }
  }
  return byKey;
});

/**
 * The registrations with the address of an entry of `watch`; `undefined` if none has it, but an unreadable address of a
 * registration could be that of the entry.
 */
export function matchingRegistrations(input: BridgeInput, entry: string): readonly OrchestratorAddress[] | undefined {
  return registrationsByKey(input).get(dataPart(entry)) ?? (hasUnreadableAddress(input) ? undefined : []);
}

const hasUnreadableAddress = memoize(({ state }: BridgeInput): boolean =>
  rows(state.orchestrator_addresses).some((registration) => listKeys(registration).length < ADDRESSES),
);

export function isWatched({ settings }: BridgeInput, registration: OrchestratorAddress): boolean {
  const watched = watchedKeys(settings.watch);
  return watched.size > 0 && listKeys(registration).some((address) => watched.has(address));
}

/** The distinct orchestrators of `watch`. Unreadable registrations are left out. */
export const watchedOrchestrators = memoize((input: BridgeInput): readonly WatchedOrchestrator[] => {
  const orchestrators = input.settings.watch.flatMap((entry) => {
    const registered = orEmpty(() => matchingRegistrations(input, entry) ?? []).flatMap((registration) => {
      const { orchestrator, sender } = registration;
      if (typeof orchestrator !== 'string' || typeof sender !== 'string') return [];
      const named = { name: validatorName(input, registration), hasNamesake: hasNamesake(input, registration) };
      return [{ orchestrator: orchestrator.toLowerCase(), sender, ...named }];
    });
    // The hub does not allow an entry with several registrations; their order must not matter.
    return registered.toSorted((a, b) => (a.orchestrator < b.orchestrator ? -1 : 1)).slice(0, 1);
  });
  return Array.from(firstBy(orchestrators, ({ orchestrator }) => dataPart(orchestrator)).values());
});
