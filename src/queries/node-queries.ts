import type { FamilyHeader } from '../metrics/family.js';
import { cctxOutcome } from './cctx-outcome.js';
import { chainParams, crosschainFlags, pendingNonces, signersKey } from './chain-switches.js';
import type { NodeQuery } from './query.js';
import { latestBlock, syncing } from './node-status.js';
import { validators } from './validators.js';
import { claimPosition, orchestratorBalance, stakingStatus } from './watched-validators.js';

/** All queries, in the order of the exposition. */
export const nodeQueries: readonly NodeQuery[] = [
  validators,
  latestBlock,
  syncing,
  stakingStatus,
  claimPosition,
  orchestratorBalance,
  crosschainFlags,
  signersKey,
  pendingNonces,
  chainParams,
  cctxOutcome,
];

/** The families of all queries, in the order of the exposition. */
export const nodeQueryFamilies: readonly FamilyHeader[] = nodeQueries.flatMap(({ families }) => families);

const byName: ReadonlyMap<string, NodeQuery> = new Map(nodeQueries.map((query) => [query.name, query]));

export function nodeQueryOf(name: string): NodeQuery {
  const query = byName.get(name);
  if (query === undefined) throw new Error(`unknown node query ${name}`);
  return query;
}
