import type * as abi from './contract-abi.js';

type Abi = typeof abi;

let loaded: Abi | undefined;

/** Loads the ABI library. Nothing else imports it, so that an exporter without `external` does not load it. */
export async function loadAbi(): Promise<Abi> {
  loaded ??= await import('./contract-abi.js');
  return loaded;
}

/** The ABI library, after `loadAbi`. */
export function loadedAbi(): Abi {
  if (loaded === undefined) throw new Error('the ABI library is not loaded');
  return loaded;
}
