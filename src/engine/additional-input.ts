import { wallSeconds, type Instant, type Moment } from '../clock.js';
import type { DocumentName, AdditionalInput, StepContext } from '../document-types.js';
import type { ContractReading } from '../facts/contract/reading.js';
import { lookaheads, readCctxAnswers } from '../queries/crosschain-queries.js';
import { contractAnswers } from '../queries/contract-queries.js';
import { BEHIND_SECONDS, isNodeBehind, latestBlock } from '../queries/node-status.js';
import type { QueryContext } from '../queries/query.js';
import { hasStakingNames, knownValidators } from '../queries/validator-queries.js';
import {
  exportedSuccess,
  freshAnswers,
  freshNewAnswers,
  isDocument,
  lastDocument,
  readPast,
  type EndpointState,
} from './endpoint-state.js';
import type { DocumentRequest } from './source.js';

/* What a poll uses besides its document: the answers to queries, and the other documents of the target. */

/** Returns the endpoint of another document of the target. */
type FindSibling = (document: DocumentName) => EndpointState | undefined;

export function documentRequest(
  { document }: StepContext,
  state: EndpointState,
  findSibling: FindSibling,
): DocumentRequest {
  const { nodes } = state;
  const servedPath = state.lastSuccess?.servedPath;
  const { identity, height } = lastDocument(state) ?? {};
  if (document !== 'external_contract') return { servedPath, identity, height, nodes };
  return { nodes, hubSide: readPast('module_state', findSibling('module_state')?.lastSuccess?.snapshot)?.hubSide };
}

/** The input from which, besides a document, its facts and problems are derived. */
export function readAdditionalInput(
  context: StepContext,
  state: EndpointState,
  findSibling: FindSibling,
  now: Moment,
): AdditionalInput {
  switch (context.document) {
    case 'module_state': {
      const reading = currentReading(findSibling('external_contract'), now);
      return {
        ...(hasStakingNames(context) && { names: knownValidators(state.queries).names }),
        externalHeight: reading?.height,
        isNodeBehind: isNodeBehind(freshAnswers(state, now.at), now),
      };
    }
    case 'rate_limiter_input': {
      const answered = freshAnswers(state, now.at);
      return {
        lookaheads: lookaheads.getAnswer(answered),
        isNodeBehind: isNodeBehind(answered, now),
        ...readCctxAnswers(freshNewAnswers(state, now.at)),
      };
    }
    case 'external_contract': {
      const bridge = findSibling('module_state');
      const hubSide = readPast('module_state', bridge?.lastSuccess?.snapshot)?.hubSide;
      if (bridge === undefined || hubSide === undefined) return {};
      const hubBlock = latestBlock.getAnswer(freshAnswers(bridge, now.at));
      return { hubSide, hubBlock, ...contractAnswers(freshAnswers(state, now.at), hubSide.contract) };
    }
  }
}

/**
 * The last reading of a contract; `undefined` without a recent one, and while its node has only old blocks of the
 * external chain.
 */
function currentReading(contract: EndpointState | undefined, now: Moment): ContractReading | undefined {
  const reading = readPast('external_contract', contract && exportedSuccess(contract, now.at)?.snapshot);
  return reading !== undefined && wallSeconds(now.at, now) - reading.blockSeconds <= BEHIND_SECONDS
    ? reading
    : undefined;
}

/** What queries are made and rendered with; `undefined` before the first successful poll. */
export function queryContext<Name extends DocumentName>(
  context: StepContext<Name>,
  state: EndpointState,
  now: Instant,
): QueryContext<Name> | undefined {
  const { lastSuccess, queries } = state;
  if (lastSuccess === undefined || !isDocument(context.document, lastSuccess.snapshot)) return undefined;
  const { past, flow } = lastSuccess.snapshot;
  const { operators } = knownValidators(queries);
  const answers = freshAnswers(state, now);
  return { ...context, dialect: lastSuccess.servedPath?.dialect, past, flow, operators, answers };
}
