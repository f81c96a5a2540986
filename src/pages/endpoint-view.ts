import type { EndpointMemory } from '../poll/known-endpoint.js';
import type { EndpointUrl } from '../config/urls.js';
import type { DocumentName } from '../documents.js';
import type { PollError } from '../http/failure-reasons.js';
import type { Items } from '../facts/items/items.js';
import { ageSeconds, type Instant } from '../clock.js';
import { exportedSuccess, type EndpointState } from '../poll/endpoint-state.js';
import { itemsOf } from '../poll/items.js';
import type { Endpoint } from '../poll/registry.js';
import { flowView, type FlowView } from './flow.js';
import { nodeView, type NodeView } from './node-view.js';
import { hasStakingNames, validators, validatorsAnswer, validatorsOf } from '../queries/validators.js';
import { isoTime } from './time.js';

/*
 * View models: the state of the endpoints as the pages show it.
 */

/** An endpoint in the JSON of `/pending`, whose keys are fixed, and on both pages. */
export interface EndpointView {
  readonly target: string;
  readonly document: DocumentName;
  /** Whether the last poll succeeded; `null` before the first. */
  readonly up: boolean | null;
  /** When the last successful poll ended, ISO 8601; `null` before the first. */
  readonly asOf: string | null;
  /** Age of the last success. */
  readonly ageSeconds: number | null;
  /** Whether the last success is recent enough to be shown. */
  readonly shown: boolean;
  /** Kept after a recovery. */
  readonly lastFailure: FailureView | null;
  /** `null` unless the last success is shown. */
  readonly items: Items | null;
  /** What was executed, and how fast; `null` for a document without a flow, and unless the last success is shown. */
  readonly flow: FlowView | null;
  /** What the node has answered besides the document. */
  readonly node: NodeView;
}

export interface FailureView {
  readonly at: string;
  readonly ageSeconds: number;
  /** As in `bridge_exporter_poll_failures_total`. */
  readonly reason: keyof EndpointState['failures'];
  readonly message: string;
  /** What to do about it, if more is known than the reason. */
  readonly remedy?: string;
}

export function endpointView(state: EndpointState, now: Instant, memory?: EndpointMemory): EndpointView {
  const { target, document, last, success, failure } = state;
  const shown = exportedSuccess(state, now);
  const items = shown === undefined ? null : (itemsOf(shown.snapshot) ?? null);
  return {
    target,
    document,
    up: last?.ok ?? null,
    asOf: success ? isoTime(success.at.epochSeconds) : null,
    ageSeconds: success ? ageSeconds(success.at, now) : null,
    shown: shown !== undefined,
    lastFailure: failure
      ? { at: isoTime(failure.at.epochSeconds), ageSeconds: ageSeconds(failure.at, now), ...failure.error }
      : null,
    items,
    flow: shown === undefined ? null : flowView(state, memory?.flow, now),
    node: nodeView(state, items, now),
  };
}

/**
 * `withdrawn`: the last success is too old, so its series are not exported. `failing`: the last poll failed; series of an earlier
 * success, if any, are still exported.
 */
export type Availability = 'withdrawn' | 'failing' | 'initial' | 'up';

/** An endpoint on the status page. */
export interface EndpointStatus extends EndpointView {
  readonly state: EndpointState;
  /** Host and port of the node. */
  readonly host: string;
  readonly availability: Availability;
  /** When the series are withdrawn unless a poll succeeds, or were withdrawn; `null` before the first success. */
  readonly withdrawal: { readonly at: string; readonly inSeconds: number } | null;
  /** Fields of the last success whose value has the wrong type. */
  readonly invalidFields: readonly string[];
}

export function endpointStatus(
  state: EndpointState,
  url: EndpointUrl,
  now: Instant,
  memory?: EndpointMemory,
): EndpointStatus {
  const view = endpointView(state, now, memory);
  const inSeconds = view.ageSeconds === null ? null : state.staleAfterMs / 1000 - view.ageSeconds;
  return {
    ...view,
    state,
    host: new URL(url.origin).host,
    availability: availabilityOf(view),
    withdrawal: inSeconds === null ? null : { at: isoTime(now.epochSeconds + inSeconds), inSeconds },
    invalidFields: state.success && view.shown ? Array.from(state.success.snapshot.errors.invalid.keys()) : [],
  };
}

/** The names that the staking module of a target has given to validators. */
export interface NamesView {
  readonly target: string;
  readonly count: number;
  /** When the names were read, ISO 8601; `null` before the first time. */
  readonly readAt: string | null;
  readonly ageSeconds: number | null;
  /** Why the last attempt failed. */
  readonly failure: PollError | null;
}

/** Failing ones first. */
export function namesViews(endpoints: readonly Endpoint[], now: Instant): readonly NamesView[] {
  return endpoints
    .filter(({ job }) => hasStakingNames(job.context))
    .map(({ state: { target, queries } }) => {
      const readAt = validatorsAnswer(queries)?.at;
      return {
        target,
        count: validatorsOf(queries).names.size,
        readAt: readAt ? isoTime(readAt.epochSeconds) : null,
        ageSeconds: readAt ? ageSeconds(readAt, now) : null,
        failure: queries.get(validators.name)?.failure ?? null,
      };
    })
    .toSorted((a, b) => Number(b.failure !== null) - Number(a.failure !== null));
}

function availabilityOf({ up, shown, asOf }: EndpointView): Availability {
  if (up === null) return 'initial';
  if (asOf !== null && !shown) return 'withdrawn';
  return up ? 'up' : 'failing';
}
