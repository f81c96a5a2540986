import { performance } from 'node:perf_hooks';
import type { Instant } from '../clock.js';
import type { DocumentName, StepContext } from '../document-types.js';
import type { EndpointState } from './endpoint-state.js';
import { step, type Poll } from './step.js';

/* The durations of the phases of a poll. */

export type Phase = 'fetch' | 'decode' | 'derive';

export function secondsSince(started: number): number {
  return (performance.now() - started) / 1000;
}

/** A step whose duration is measured. */
export function timedStep<Name extends DocumentName>(
  before: EndpointState,
  poll: Poll<Name>,
  context: StepContext<Name>,
  at: Instant,
): EndpointState {
  const started = performance.now();
  const after = step(before, poll, context, at);
  const { last } = after;
  if (last?.ok !== true) return after;
  return { ...after, last: { ...last, phaseSeconds: { ...last.phaseSeconds, derive: secondsSince(started) } } };
}
