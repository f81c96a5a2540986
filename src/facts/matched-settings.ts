import { attestationsByNonce, claimContent } from './bridge/events.js';
import type { BridgeInput } from './bridge/bridge-input.js';
import { matchingRegistrations } from './bridge/registrations.js';
import {
  batchedByFeeToken,
  batchedByToken,
  denomByContract,
  unbatchedByFeeToken,
  unbatchedByToken,
} from './bridge/tokens.js';
import type { CrosschainInput } from './crosschain/crosschain-input.js';
import { optional, orElse, orUndefined } from './required-fields.js';
import { cctxsByIndex, chainIdLabel } from './crosschain/cctxs.js';

/*
 * The entries of the configuration that a document matches, each as the text of `settingEntry`. An unreadable list
 * could have any entry, so that all of them count as matched.
 */

/** An entry as `/config` names it. */
export function settingEntry(
  setting: 'tokens' | 'chains' | 'validators' | 'age_limits' | 'ignore.indexes',
  key: string,
): string {
  return `${setting} ${key}`;
}

export function matchedByBridge(input: BridgeInput): readonly string[] {
  const contracts = input.tokens.map(({ contract }) => contract);
  const addresses = input.names.configured.map(({ address }) => address);
  const isRegistered = (address: string): boolean =>
    orUndefined(() => matchingRegistrations(input, address)?.length) !== 0;
  return [
    ...keysIn(contracts, () => tokensOfBridge(input)).map((key) => settingEntry('tokens', key)),
    ...addresses.filter(isRegistered).map((key) => settingEntry('validators', key)),
  ];
}

function tokensOfBridge(input: BridgeInput): ReadonlySet<string | undefined> {
  const waiting = [unbatchedByToken, unbatchedByFeeToken, batchedByToken, batchedByFeeToken];
  const claims = Array.from(attestationsByNonce(input).values()).flat();
  return new Set([
    ...denomByContract(input).keys(),
    ...waiting.flatMap((byToken) => Array.from(byToken(input).keys())),
    ...claims.map((claim) => optional(claimContent(claim).token_contract)),
  ]);
}

/** What is known of a transaction that has left the lists. */
interface Unlisted {
  readonly index: string;
  readonly chainId: string;
  readonly asset?: string | undefined;
}

export function matchedByCrosschain(input: CrosschainInput, unlisted: readonly Unlisted[]): readonly string[] {
  const { settings, tokens } = input;
  const listed = () => [...cctxsByIndex.missed(input).values(), ...cctxsByIndex.pending(input).values()];
  const inbounds = () => listed().map(({ inbound_params }) => optional(inbound_params));
  const indexes = () =>
    new Set([
      ...cctxsByIndex.missed(input).keys(),
      ...cctxsByIndex.pending(input).keys(),
      ...unlisted.map(({ index }) => index),
    ]);
  const chains = () =>
    new Set([
      ...listed().map(chainIdLabel),
      ...inbounds().map((inbound) => optional(inbound?.sender_chain_id)),
      ...unlisted.map(({ chainId }) => chainId),
    ]);
  const assets = () =>
    new Set([...inbounds().map((inbound) => optional(inbound?.asset)), ...unlisted.map(({ asset }) => asset)]);
  const contracts = tokens.map(({ contract }) => contract);
  return [
    ...keysIn(contracts, assets).map((key) => settingEntry('tokens', key)),
    ...keysIn(Object.keys(input.chains), chains).map((key) => settingEntry('chains', key)),
    ...keysIn(Object.keys(settings.age_limits), chains).map((key) => settingEntry('age_limits', key)),
    ...keysIn(settings.ignore.indexes, indexes).map((key) => settingEntry('ignore.indexes', key)),
  ];
}

function keysIn(keys: readonly string[], found: () => ReadonlySet<string | undefined>): readonly string[] {
  if (keys.length === 0) return [];
  return orElse(
    () => {
      const all = found();
      return keys.filter((key) => all.has(key));
    },
    () => keys,
  );
}
