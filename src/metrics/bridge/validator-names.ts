import { dataPart } from '../../chain/field-shapes.js';
import type { OrchestratorAddress } from '../../chain/module-state.js';
import type { ValidatorConfig } from '../../config/config.js';
import { memoize } from '../memoize.js';
import type { BridgeInput } from './input.js';

/*
 * Who a validator is for people: its name, and whether it is watched. A validator has several addresses (orchestrator, account or
 * operator, external); all are compared by their data part.
 */

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

export function isWatched({ settings }: BridgeInput, registration: OrchestratorAddress): boolean {
  const watched = watchedKeys(settings.watch);
  return watched.size > 0 && keysOf(registration).some((address) => watched.has(address));
}
