import type { StepContext } from '../document-types.js';
import type { FamilyHeader } from '../metrics/family.js';
import { cctxOutcome } from './cctx-outcome.js';
import { chainParams, crosschainFlags, pendingNonces, signersKey } from './chain-switches.js';
import { latestBlock, syncing, upgradePlan } from './node-status.js';
import { contractQueries } from './contract-queries.js';
import type { NodeQuery } from './query.js';
import { initialQueryState, type QueryStates } from './query-state.js';
import { validators } from './validators.js';
import { signingInfo, slashingParams } from './signed-blocks.js';
import { claimPosition, orchestratorBalance, stakingStatus } from './watched-validators.js';

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
  crosschainFlags,
  signersKey,
  pendingNonces,
  chainParams,
  cctxOutcome,
  ...contractQueries,
];

/** The families of all queries, in the order of the exposition. */
export const nodeQueryFamilies: readonly FamilyHeader[] = nodeQueries.flatMap(({ families }) => families);

/** The states of the enabled queries, as in `before` where it has them. */
export function queryStatesOf(options: StepContext, before: QueryStates = new Map()): QueryStates {
  const enabled = nodeQueries.filter(({ isEnabled }) => isEnabled(options));
  return new Map(enabled.map((query) => [query.name, before.get(query.name) ?? initialQueryState(query)]));
}
