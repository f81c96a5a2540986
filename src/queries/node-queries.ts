import type { StepContext } from '../document-types.js';
import type { FamilyHeader } from '../metrics/family.js';
import { contractQueries } from './contract-queries.js';
import { crosschainQueries } from './crosschain-queries.js';
import { latestBlock, syncing, upgradePlan } from './node-status.js';
import { initialQueryState, type NodeQuery, type QueryStates } from './query.js';
import {
  claimPosition,
  orchestratorBalance,
  signingInfo,
  slashingParams,
  stakingStatus,
  validators,
} from './validator-queries.js';

/** All queries, in the order of the exposition. */
export const nodeQueries: readonly NodeQuery[] = [
  validators,
  latestBlock,
  syncing,
  upgradePlan,
  stakingStatus,
  claimPosition,
  orchestratorBalance,
  signingInfo,
  slashingParams,
  ...crosschainQueries,
  ...contractQueries,
];

export const nodeQueryFamilies: readonly FamilyHeader[] = nodeQueries.flatMap(({ families }) => families);

/** The states of the enabled queries, as in `before` where it has them. */
export function enabledQueries(options: StepContext, before: QueryStates = new Map()): QueryStates {
  const enabled = nodeQueries.filter(({ isEnabled }) => isEnabled(options));
  return new Map(enabled.map((query) => [query.name, before.get(query.name) ?? initialQueryState(query)]));
}
