import { ageSeconds, type Instant } from '../clock.js';
import type { DocumentName } from '../documents.js';
import { groupBy } from '../facts/grouping.js';
import type { Items } from '../facts/items/items.js';
import { searchCctxs, type SearchResult } from '../facts/items/search.js';
import type { PollError } from '../http/failure-reasons.js';
import { exportedSuccess, type EndpointState } from '../poll/endpoint-state.js';
import { itemsOf, keptInput } from '../poll/items.js';
import type { Endpoint } from '../poll/registry.js';
import type { TargetVerdicts } from '../poll/verdicts.js';
import { latestBlock, syncing } from '../queries/node-status.js';
import { withoutStaleAnswers } from '../queries/query-state.js';
import { hasStakingNames, validators, validatorsAnswer, validatorsOf } from '../queries/validators.js';
import { backlogStatistics, flowView, type FlowView, type StatisticView } from './backlog.js';
import type { ExternalLinks } from './external-links.js';
import { endedProblems, type EndedView } from './ended.js';
import { targetView, type TargetView, type VerdictView } from './target-view.js';
import { isoTime } from './time.js';
import { validatorViews, type ValidatorView } from './validator-view.js';

/*
 * What the pages show, as plain data: one view of each target and of its endpoints, for HTML and JSON. The keys of the JSON are fixed; new
 * ones can be added.
 */

export interface View {
  readonly generatedAt: string;
  readonly targets: readonly TargetPageView[];
  readonly endpoints: readonly EndpointView[];
}

/** What `/pending` shows. */
export interface PendingView extends View {
  /** The cross-chain transactions of the target that match `?q=`; `null` without it, for several targets, and without their lists. */
  readonly search: SearchResult | null;
}

export interface TargetPageView extends TargetView {
  /** The watched validators, then those that are late to sign or vote; `null` without a bridge whose items are shown. */
  readonly validators: readonly ValidatorView[] | null;
  /** The problems that have ended within a week, the newest first. */
  readonly ended: readonly EndedView[];
}

/**
 * `withdrawn`: the last success is too old, so its series are not exported. `failing`: the last poll failed; series of an earlier
 * success, if any, are still exported.
 */
export type Availability = 'withdrawn' | 'failing' | 'initial' | 'up';

export interface EndpointView {
  readonly target: string;
  readonly document: DocumentName;
  /** Host and port of the node. */
  readonly host: string;
  readonly availability: Availability;
  /** Whether the last poll succeeded; `null` before the first. */
  readonly up: boolean | null;
  /** When the last successful poll ended, ISO 8601; `null` before the first. */
  readonly asOf: string | null;
  /** Age of the last success. */
  readonly ageSeconds: number | null;
  /** Whether the last success is recent enough to be shown. */
  readonly shown: boolean;
  /** When the series are withdrawn unless a poll succeeds, or were withdrawn; `null` before the first success. */
  readonly withdrawal: { readonly at: string; readonly inSeconds: number } | null;
  /** Kept after a recovery. */
  readonly lastFailure: FailureView | null;
  /** Fields of the last success whose value has the wrong type. */
  readonly invalidFields: readonly string[];
  /** What was executed, and how fast; `null` for a document without a flow, and unless the last success is shown. */
  readonly flow: FlowView | null;
  /** What the node has answered besides the document. */
  readonly node: NodeView;
  /** `null` unless the last success is shown. */
  readonly items: Items | null;
  /** Not part of the JSON. */
  readonly state: EndpointState;
}

interface FailureView {
  readonly at: string;
  readonly ageSeconds: number;
  /** As in `bridge_exporter_poll_failures_total`. */
  readonly reason: keyof EndpointState['failures'];
  readonly message: string;
  /** What to do about it, if more is known than the reason. */
  readonly remedy?: string;
}

export interface NodeView {
  /** Time of its newest block, ISO 8601; `null` if the node does not say. */
  readonly blockTime: string | null;
  /** How old that block was when the node sent it. */
  readonly behindSeconds: number | null;
  readonly syncing: boolean | null;
}

/** What an endpoint is shown by. */
export type ShownEndpoint = Pick<Endpoint, 'state' | 'memory'> & {
  readonly job: Pick<Endpoint['job'], 'url' | 'context'>;
};

export function viewOf(
  shown: readonly ShownEndpoint[],
  verdicts: readonly TargetVerdicts[],
  links: ExternalLinks,
  now: Instant,
): View {
  const endpoints = shown.map((endpoint) => endpointView(endpoint, now));
  const byTarget = groupBy(endpoints, ({ target }) => target);
  const shownByTarget = groupBy(shown, ({ state }) => state.target);
  const targets = verdicts.map((own): TargetPageView => {
    const view = targetView(own, byTarget.get(own.target) ?? [], links);
    const ofTarget = shownByTarget.get(own.target) ?? [];
    const bridge = ofTarget.find(({ state }) => state.document === 'module_state');
    const items = byTarget.get(own.target)?.find(({ document }) => document === 'module_state')?.items;
    return {
      ...view,
      validators:
        bridge === undefined || items?.document !== 'module_state' ? null : validatorViews(items, view, bridge, now),
      ended: endedProblems(ofTarget, now),
    };
  });
  return { generatedAt: isoTime(now.epochSeconds), targets, endpoints };
}

/** The view of all targets, or of the one with a name; `undefined` if there is no such target. */
export function pendingView(
  all: readonly ShownEndpoint[],
  verdicts: readonly TargetVerdicts[],
  links: ExternalLinks,
  now: Instant,
  { target, query }: { readonly target?: string | undefined; readonly query?: string | undefined } = {},
): PendingView | undefined {
  const isSelected = (own: { readonly target: string }): boolean => target === undefined || own.target === target;
  const shown = all.filter(({ state }) => isSelected(state));
  if (target !== undefined && shown.length === 0) return undefined;
  const view = viewOf(shown, verdicts.filter(isSelected), links, now);
  const search = query === undefined || view.targets.length !== 1 ? null : searchIn(shown, query, now);
  return { ...view, search };
}

function searchIn(shown: readonly ShownEndpoint[], query: string, now: Instant): SearchResult | null {
  const state = shown.find((own) => own.state.document === 'rate_limiter_input')?.state;
  const snapshot = state && exportedSuccess(state, now)?.snapshot;
  const input = snapshot?.document === 'rate_limiter_input' ? keptInput(snapshot) : undefined;
  return input === undefined ? null : searchCctxs(input, query);
}

export function endpointView({ state, job, memory }: ShownEndpoint, now: Instant): EndpointView {
  const { target, document, last, success, failure, staleAfterMs } = state;
  const exported = exportedSuccess(state, now);
  const up = last?.ok ?? null;
  const age = success ? ageSeconds(success.at, now) : null;
  const inSeconds = age === null ? null : staleAfterMs / 1000 - age;
  const isWithdrawn = success !== undefined && exported === undefined;
  return {
    target,
    document,
    host: new URL(job.url.origin).host,
    availability: up === null ? 'initial' : isWithdrawn ? 'withdrawn' : up ? 'up' : 'failing',
    up,
    asOf: success ? isoTime(success.at.epochSeconds) : null,
    ageSeconds: age,
    shown: exported !== undefined,
    withdrawal: inSeconds === null ? null : { at: isoTime(now.epochSeconds + inSeconds), inSeconds },
    lastFailure: failure
      ? { at: isoTime(failure.at.epochSeconds), ageSeconds: ageSeconds(failure.at, now), ...failure.error }
      : null,
    invalidFields: exported === undefined ? [] : Array.from(exported.snapshot.errors.invalid.keys()),
    flow: exported === undefined ? null : flowView(state, memory.flow, now),
    node: nodeView(state, now),
    items: exported === undefined ? null : (itemsOf(exported.snapshot) ?? null),
    state,
  };
}

function nodeView({ queries, staleAfterMs }: EndpointState, now: Instant): NodeView {
  const answers = withoutStaleAnswers(queries, staleAfterMs, now);
  const [block] = latestBlock.valuesOf(answers).get('') ?? [];
  const askedAt = queries.get(latestBlock.name)?.answers.get('')?.at;
  const [status] = syncing.valuesOf(answers).get('') ?? [];
  return {
    blockTime: block === undefined ? null : isoTime(block.epochSeconds),
    behindSeconds:
      block === undefined || askedAt === undefined ? null : Math.max(0, askedAt.epochSeconds - block.epochSeconds),
    syncing: status?.isSyncing ?? null,
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
export function namesViews(endpoints: readonly ShownEndpoint[], now: Instant): readonly NamesView[] {
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

/** The JSON of a view. Sentences are in it only as text, `summary`, and the items only on `/pending`. */
export type Json<Shown extends View> = Omit<Shown, 'targets' | 'endpoints'> & {
  readonly targets: readonly (Omit<TargetPageView, 'verdicts'> & {
    readonly verdicts: readonly Omit<VerdictView, 'sentence'>[];
  })[];
  readonly endpoints: readonly (Omit<EndpointView, 'items' | 'state'> & {
    readonly items?: Items | null;
    /** The numbers of the pages; `null` unless the last success is shown. */
    readonly backlog: readonly StatisticView[] | null;
  })[];
};

export function jsonOf<Shown extends View>(view: Shown, { withItems }: { readonly withItems: boolean }): Json<Shown> {
  const targets = new Map(view.targets.map((own) => [own.target, own]));
  return {
    ...view,
    targets: view.targets.map((own) => ({
      ...own,
      verdicts: own.verdicts.map(({ sentence: _sentence, ...verdict }) => verdict),
    })),
    endpoints: view.endpoints.map(({ state: _state, items, ...endpoint }) => {
      const target = targets.get(endpoint.target);
      return {
        ...endpoint,
        backlog:
          target === undefined || items === null
            ? null
            : backlogStatistics(target, { ...endpoint, items }, Date.parse(view.generatedAt)),
        ...(withItems && { items }),
      };
    }),
  };
}
