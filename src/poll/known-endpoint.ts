import { NO_FLOW_HISTORY, type FlowHistory } from '../flow/flow-history.js';
import { NO_PROBLEMS, type ProblemMemory } from '../problems/memory.js';
import type { EndpointState } from './endpoint-state.js';

/** What is remembered of the polls of an endpoint besides its state. Each poll replaces it as a whole. */
export interface EndpointMemory {
  readonly problems: ProblemMemory;
  readonly flow: FlowHistory;
}

/** The memory before the first poll. */
export const initialMemory: EndpointMemory = { problems: NO_PROBLEMS, flow: NO_FLOW_HISTORY };

/** What is known of an endpoint: what its polls have found, and what is remembered of them. */
export interface KnownEndpoint {
  readonly state: EndpointState;
  readonly memory: EndpointMemory;
}
