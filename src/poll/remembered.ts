import type { Instant } from '../clock.js';
import { restartedBridge } from '../flow/bridge-flow.js';
import { restartedCrosschain } from '../flow/crosschain-flow.js';
import {
  knownDocument,
  type EndpointKey,
  initialMemory,
  type EndpointMemory,
  type KnownEndpoint,
} from './endpoint-state.js';
import type { KnownDocument } from './step.js';

/*
 * What is remembered of an endpoint when its polls begin anew: in another process, or after a reload has changed how it is polled. The first
 * poll continues as if there had been a gap. Counters and what the next answers have anyway begin anew.
 */

export interface Remembered extends EndpointKey {
  /** The last poll. */
  readonly polledAt: Instant;
  /** `undefined` before the first successful poll. */
  readonly known: KnownDocument | undefined;
  readonly memory: EndpointMemory;
}

/** `undefined` before the first poll of this process. */
export function rememberedOf({ state, memory }: KnownEndpoint): Remembered | undefined {
  const { target, document, last } = state;
  if (last === undefined) return undefined;
  const known = knownDocument(state);
  return {
    target,
    document,
    polledAt: last.at,
    known: known && afterRestart(known),
    memory: { ...initialMemory, problems: memory.problems },
  };
}

function afterRestart(known: KnownDocument): KnownDocument {
  const { identity, height } = known;
  switch (known.document) {
    case 'module_state': {
      const { document, observations, flow } = known;
      const kept = observations && { ...observations, watched: [], hubCoinDenom: undefined, contractFacts: undefined };
      return { document, identity, height, observations: kept, flow: restartedBridge(flow) };
    }
    case 'rate_limiter_input': {
      const { document, observations, flow } = known;
      return { document, identity, height, observations, flow: restartedCrosschain(flow) };
    }
    case 'external_contract':
      return { document: known.document, identity, height, observations: undefined, flow: undefined };
  }
}

/** An endpoint without a poll, with what is remembered of it. */
export function withRemembered<Before extends KnownEndpoint>(
  before: Before,
  remembered: Remembered | undefined,
): Before {
  if (remembered === undefined) return before;
  const { known: restored, memory } = remembered;
  return { ...before, state: { ...before.state, restored }, memory };
}
