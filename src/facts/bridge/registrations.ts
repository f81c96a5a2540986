import { dataPart } from '../../chain/addresses.js';
import type { OrchestratorAddress } from '../../chain/module-state.js';
import type { ValidatorConfig } from '../../config/config.js';
import { cleanText } from '../../text/untrusted-text.js';
import { firstBy } from '../grouping.js';
import { memoize } from '../memoize.js';
import { orEmpty, required, rows } from '../required-fields.js';
import type { BridgeInput } from './input.js';

/*
 * The registration of a validator with the bridge, its name, and whether it is watched. A validator has several addresses
 * (orchestrator, account or operator, external); names and watched validators are compared by their data part.
 */

/** Registrations of orchestrators by external address; the first one of equals. */
export const registrationByAddress = memoize(({ state }: BridgeInput): ReadonlyMap<string, OrchestratorAddress> =>
  firstBy(rows(state.orchestrator_addresses), ({ eth_address }) => required(eth_address)),
);

/** Registrations of orchestrators by the data part of the validator address, which votes contain. */
export const registrationBySender = memoize(({ state }: BridgeInput): ReadonlyMap<string, OrchestratorAddress> =>
  firstBy(rows(state.orchestrator_addresses), ({ sender }) => dataPart(required(sender))),
);

const configuredNames = memoize(
  (validators: readonly ValidatorConfig[]): ReadonlyMap<string, string> =>
    new Map(validators.map(({ address, name }) => [dataPart(address), name])),
);

const watchedKeys = memoize((watch: readonly string[]): ReadonlySet<string> => new Set(watch.map(dataPart)));

/** The addresses of a registered validator by which it can be configured. Missing and invalid ones match nothing. */
function keysOf({ orchestrator, sender, eth_address }: OrchestratorAddress): string[] {
  return [orchestrator, sender, eth_address].filter((address) => typeof address === 'string').map(dataPart);
}

/** The configured name, else that of the staking module, else empty. */
export function validatorName({ names }: BridgeInput, registration: OrchestratorAddress): string {
  const configured = configuredNames(names.configured);
  const key = keysOf(registration).find((address) => configured.has(address));
  if (key !== undefined) return configured.get(key) ?? '';
  const { sender } = registration;
  return (typeof sender === 'string' ? names.staking.get(dataPart(sender)) : undefined) ?? '';
}

/** What pages show of a name at least. */
const shownName = (name: string): string => cleanText(name, 32);

/** The shown names that several registrations have. */
const sharedNames = memoize((input: BridgeInput): ReadonlySet<string> => {
  const [once, shared] = [new Set<string>(), new Set<string>()];
  for (const registration of rows(input.state.orchestrator_addresses)) {
    const name = shownName(validatorName(input, registration));
    (once.has(name) ? shared : once).add(name);
  }
  return shared;
});

/** Whether another validator has the same name, or one that looks the same: anyone can choose any name. */
export function hasNamesake(input: BridgeInput, registration: OrchestratorAddress): boolean {
  const name = validatorName(input, registration);
  return name !== '' && sharedNames(input).has(shownName(name));
}

const registrationsByKey = memoize(({ state }: BridgeInput): ReadonlyMap<string, readonly OrchestratorAddress[]> => {
  const byKey = new Map<string, OrchestratorAddress[]>();
  for (const registration of rows(state.orchestrator_addresses)) {
    for (const key of new Set(keysOf(registration))) {
      const known = byKey.get(key);
      if (known === undefined) byKey.set(key, [registration]);
      else known.push(registration);
    }
  }
  return byKey;
});

/** The registrations that an entry of `watch` names, by any of their addresses. */
export function matchingRegistrations(input: BridgeInput, entry: string): readonly OrchestratorAddress[] {
  return registrationsByKey(input).get(dataPart(entry)) ?? [];
}

export function isWatched({ settings }: BridgeInput, registration: OrchestratorAddress): boolean {
  const watched = watchedKeys(settings.watch);
  return watched.size > 0 && keysOf(registration).some((address) => watched.has(address));
}

/** The orchestrator of an entry of `watch`, as it is registered with the bridge. */
export interface WatchedOrchestrator {
  readonly orchestrator: string;
  /** The account of the validator. */
  readonly sender: string;
  /** Empty without one. */
  readonly name: string;
  readonly hasNamesake: boolean;
}

/** The registration of each entry of `watch`, each orchestrator once. Unreadable registrations are left out. */
export const watchedOrchestrators = memoize((input: BridgeInput): readonly WatchedOrchestrator[] => {
  const all = input.settings.watch.flatMap((entry) => {
    const registered = orEmpty(() => matchingRegistrations(input, entry)).flatMap((registration) => {
      const { orchestrator, sender } = registration;
      if (typeof orchestrator !== 'string' || typeof sender !== 'string') return [];
      const named = { name: validatorName(input, registration), hasNamesake: hasNamesake(input, registration) };
      return [{ orchestrator: orchestrator.toLowerCase(), sender, ...named }];
    });
    // An entry with several registrations, which the hub does not allow, has one of them whatever their order.
    return registered.toSorted((a, b) => (a.orchestrator < b.orchestrator ? -1 : 1)).slice(0, 1);
  });
  return Array.from(firstBy(all, ({ orchestrator }) => dataPart(orchestrator)).values());
});
