import type { NodeStatus } from '../document-types.js';
import { isoTime, wallSeconds, type Moment } from '../clock.js';
import { groupBy } from '../facts/grouping.js';
import { exportedSuccess, freshAnswers, type EndpointState } from '../engine/endpoint-state.js';
import { getItems } from '../engine/poll-body.js';
import type { PollJob } from '../engine/jobs.js';
import { judgeSeverity, type JudgedTarget, type TargetProblem } from '../engine/target-problems.js';
import type { HeadlineNumber } from '../items/headline.js';
import {
  BEHIND_SECONDS,
  CLOCK_BEHIND_SECONDS,
  latestBlock,
  nextUpgrade,
  nodeDelaySeconds,
} from '../queries/node-status.js';
import { durationInWords } from '../text/format.js';
import { dashboardUrl, runbookUrl, type ExternalLinks } from './external-links.js';
import { alertsOfNumber } from './lists.js';
import { validatorViews } from './validator-view.js';

/*
 * The content of the pages as plain data, for HTML and JSON: views of targets and endpoints. The keys of the JSON are
 * fixed; keys can be added.
 */

export type View = Readonly<ReturnType<typeof createView>>;
/** A problem on the pages and in their JSON. */
export type ProblemView = Readonly<ReturnType<typeof problemView>>;
export type TargetView = Readonly<ReturnType<typeof targetView>>;
export type EndpointView = Readonly<ReturnType<typeof endpointView>>;
export type NumberView = ReturnType<typeof numberViews>[number];
export type NodeView = Readonly<ReturnType<typeof nodeView>>;

/** The source of the view of an endpoint. */
export interface ShownEndpoint {
  readonly state: EndpointState;
  readonly job: Pick<PollJob, 'nodes' | 'context'>;
}

/** With a query, also the items that match it, and late validators beside the own ones. */
export function createView(
  shown: readonly ShownEndpoint[],
  problems: readonly JudgedTarget[],
  links: ExternalLinks,
  now: Moment,
  query?: string,
) {
  const byTarget = new Map(problems.map((judged) => [judged.target, judged]));
  const endpoints = shown.map((endpoint) => endpointView(endpoint, now, byTarget.get(endpoint.state.target), query));
  const endpointsByTarget = groupBy(endpoints, ({ target }) => target);
  const targets = problems.map((judged) => targetView(judged, endpointsByTarget.get(judged.target) ?? [], links, now));
  return { generatedAt: isoTime(wallSeconds(now.at, now)), targets, endpoints };
}

function targetView(
  { target, status, unknown, problems, notJudgedHere }: JudgedTarget,
  endpoints: readonly EndpointView[],
  links: ExternalLinks,
  now: Moment,
) {
  // A node or a clock that is behind is a problem only when two judgements agree, but until then the target must not
  // look healthy.
  const behind = status === 'ok' || status === 'info' ? endpoints.flatMap(nodeOrClockBehind) : [];
  return {
    target,
    status: behind.length > 0 ? 'unknown' : status,
    /** Why the target cannot be judged. */
    unknown: [...unknown, ...behind],
    /** The names of problems whose fields an endpoint has never had. */
    notJudgedHere,
    /** Worst first. */
    problems: problems.map((problem) => problemView(problem, links)),
    /** Own validators, and with items late ones; `null` without a bridge that is shown. */
    validators: listValidators(endpoints, problems, now),
  };
}

function problemView(shown: TargetProblem, links: ExternalLinks) {
  const { target, startSeconds, firesAtSeconds, isHidden: _isHidden, ...problem } = shown;
  const isFiring = problem.state === 'firing';
  return {
    ...problem,
    /** ISO 8601. */
    since: isoTime(startSeconds),
    /** The time of firing if it lasts, ISO 8601; `null` while it fires. */
    firesAt: isFiring ? null : isoTime(firesAtSeconds),
    firesInSeconds: isFiring ? null : firesAtSeconds - startSeconds - problem.ageSeconds,
    runbook: runbookUrl(links, problem.alert),
    /** `null` unless `links.dashboards` is configured. */
    dashboard: dashboardUrl(links, problem.alert, target),
  };
}

function listValidators(endpoints: readonly EndpointView[], problems: JudgedTarget['problems'], now: Moment) {
  for (const { headline, items, source } of endpoints) {
    if (headline?.document !== 'module_state') continue;
    const all = items?.document === 'module_state' ? items.validators : headline.validators;
    return validatorViews(all, headline, problems, source, now);
  }
  return null;
}

function nodeOrClockBehind({ document, node: { behindSeconds } }: EndpointView): readonly string[] {
  if (behindSeconds !== null && behindSeconds > BEHIND_SECONDS)
    return [`the node of ${document} is ${durationInWords(behindSeconds)} behind`];
  if (behindSeconds !== null && -behindSeconds > CLOCK_BEHIND_SECONDS)
    return [`the clock of the exporter is ${durationInWords(-behindSeconds)} behind the newest block of ${document}`];
  return [];
}

export function endpointView(source: ShownEndpoint, now: Moment, judged?: JudgedTarget, query?: string) {
  const { state, job } = source;
  const { target, document, lastPoll, lastSuccess, lastFailure } = state;
  const exported = exportedSuccess(state, now.at);
  const items = (query === undefined ? undefined : exported && getItems(exported.snapshot, query)) ?? null;
  const { headline } = exported?.snapshot ?? {};
  const age = lastSuccess ? now.at - lastSuccess.at : null;
  return {
    target,
    document,
    /** Host and port of the node; of several, of the one in use. */
    host: state.nodes?.find(({ isInUse }) => isInUse)?.source ?? readHost(job),
    /** All nodes in order of preference, if there are several; `null` otherwise. */
    nodes:
      state.nodes?.map(({ source: node, isInUse, trouble }) => ({
        source: node,
        isInUse,
        trouble: troubleView(trouble, now),
      })) ?? null,
    availability: judgeAvailability(state, exported !== undefined),
    /** Whether the last poll succeeded; `null` before the first. */
    up: lastPoll?.ok ?? null,
    /** The end of the last successful poll, ISO 8601, and its age; `null` before the first. */
    asOf: lastSuccess ? isoTime(wallSeconds(lastSuccess.at, now)) : null,
    ageSeconds: age,
    /** Whether the last success is recent enough to be shown. */
    shown: exported !== undefined,
    /** Kept after a recovery. The reason is that of `bridge_exporter_poll_failures_total`. */
    lastFailure: lastFailure
      ? { at: isoTime(wallSeconds(lastFailure.at, now)), ageSeconds: now.at - lastFailure.at, ...lastFailure.error }
      : null,
    /** Fields of the last success whose value has the wrong type. */
    invalidFields: exported === undefined ? [] : Array.from(exported.snapshot.errors.invalid.keys()),
    node: nodeView(state, now),
    /** The numbers of the backlog; `null` unless the last success is shown. */
    backlog: exported === undefined ? null : numberViews(judged ?? { problems: [] }, headline?.numbers ?? []),
    /** `null` unless the last success is shown, and without the body of the document. */
    items,
    /** Not part of the JSON. */
    headline,
    source,
  };
}

const LABELS: Readonly<Record<HeadlineNumber['list'], string>> = {
  tokens: 'Waiting transfers',
  claims: 'Pending events',
  valsets: 'Unrelayed validator sets',
  missed: 'Missed cctxs',
  pending: 'Pending cctxs',
};

/** The shown numbers of an endpoint, each as severe as the worst firing alert about its lists. */
function numberViews(judged: Pick<JudgedTarget, 'problems'>, numbers: readonly HeadlineNumber[]) {
  return numbers.flatMap(({ list, count, parts, oldestSeconds = null }) => {
    const severity = judgeSeverity(judged, alertsOfNumber(list)) ?? null;
    // Not shown without an alert: validator sets, relayed with the next batch, and the usual 0 missed transactions.
    if (severity === null && (list === 'valsets' || (list === 'missed' && count === 0))) return [];
    return [{ list, label: LABELS[list], count, parts, oldestSeconds, severity }];
  });
}

function readHost({ nodes: [node] }: ShownEndpoint['job']): string {
  return node === undefined ? '' : new URL(node.url.origin).host;
}

/** `null` for a node that is usable. */
function troubleView(trouble: NodeStatus['trouble'], now: Moment) {
  if (trouble === undefined) return null;
  const { since, ...rest } = trouble;
  return {
    ...rest,
    since: isoTime(wallSeconds(since, now)),
    lastsSeconds: now.at - since,
  };
}

/**
 * `withdrawn`: the last success is too old, so its series are not exported. `failing`: the last poll failed; series of
 * an earlier success, if any, are still exported.
 */
export type Availability = 'withdrawn' | 'failing' | 'initial' | 'up';

function judgeAvailability({ lastPoll, lastSuccess }: EndpointState, isExported: boolean): Availability {
  if (lastPoll === undefined) return 'initial';
  if (lastSuccess !== undefined && !isExported) return 'withdrawn';
  return lastPoll.ok ? 'up' : 'failing';
}

function nodeView(state: EndpointState, now: Moment) {
  const answers = freshAnswers(state, now.at);
  const block = latestBlock.getAnswer(answers);
  const plan = nextUpgrade(answers, state.lastSuccess?.snapshot.headline?.blockTimeMs) ?? null;
  return {
    /** Time of its newest block, ISO 8601; `null` without an answer. */
    blockTime: block === undefined ? null : isoTime(block.epochSeconds),
    /** The age of that block when the node sent it; negative if it was in the future. */
    behindSeconds: nodeDelaySeconds(answers, now) ?? null,
    /** The planned upgrade of the hub; `null` without a plan, `at` also until a block time is measured. */
    upgrade: plan && {
      name: plan.name,
      height: String(plan.height),
      at: plan.epochSeconds === undefined ? null : isoTime(plan.epochSeconds),
    },
  };
}

export function toJson<Shown extends View>(view: Shown, { withItems }: { readonly withItems: boolean }) {
  return {
    ...view,
    endpoints: view.endpoints.map(({ source: _source, headline: _headline, items, ...endpoint }) => ({
      ...endpoint,
      ...(withItems && { items }),
    })),
  };
}
