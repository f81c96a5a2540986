import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { initialState, type EndpointState } from '../../src/engine/endpoint-state.js';
import { failure } from '../../src/http/failure-reasons.js';
import { createModel } from '../../src/simulator/model.js';
import { pollOf } from '../support/polls.js';
import { bridgeContext, crosschainContext } from '../support/snapshots.js';
import { step } from '../support/steps.js';

/** `structuredClone` for states, which have functions. */
function copyOf(value: unknown): unknown {
  if (value instanceof Map) return new Map(Array.from(value, ([key, entry]) => [key, copyOf(entry)]));
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== 'object' || value === null || value instanceof Set) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, copyOf(entry)]));
}

/** `toEqual`, which takes seconds for all states. */
function expectEqual(value: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(value, expected)) expect(value).toEqual(expected);
}

it.each([
  ['module_state', bridgeContext()],
  ['rate_limiter_input', crosschainContext()],
] as const)('the step of a %s returns the same for the same poll, and changes nothing else', (document, context) => {
  const startTime = 1_790_000_000;
  const model = createModel({ seed: 5, scenario: 'healthy', startTime, blockTimeMs: 6_000 });
  let state: EndpointState = initialState(context, startTime);
  for (let poll = 0; poll < 10; poll += 1) {
    if (poll === 4) model.setScenario('stuck');
    const at = { at: startTime + poll * 60, clockOffset: 0 };
    const json = document === 'module_state' ? model.moduleState() : model.rateLimiterInput({ window: 500n });
    const result =
      poll % 4 === 3
        ? { outcome: failure('timeout', 'slow'), phaseSeconds: {} }
        : pollOf(context, json, { at, height: String(poll === 5 ? 1 : model.height) });
    const copy = copyOf(state);
    const after = step(state, result, context, at);
    expectEqual(copyOf(state), copy);
    expectEqual(step(state, result, context, at), after);
    state = after;
    model.advanceTime(60_000);
  }
  expect(state.polls).toBe(10);
});
