import type { Instant } from '../clock.js';
import { OUTDATED_MS } from '../config/config.js';
import type { DocumentName } from '../document-types.js';
import { chooseRemedy, type FailureReason, type PollError } from '../http/failure-reasons.js';
import type { RenderedFamily } from '../metrics/text-format.js';
import { count, durationInWords, list, percent } from '../text/format.js';
import type { PresentProblem, UnjudgedProblem } from './subjects.js';
import { isEnabled, type Found, type Problem, type ProblemSettings } from './problem.js';
import { joinTexts, labelTexts } from './sentence.js';

/*
 * Problems of the polls of a document. They need no memory, because they are found in the state of the endpoint. They
 * are judged when they are shown, because some begin by time alone. The first poll without the problem ends it.
 */

/** The state of an endpoint, as far as its polls are judged by it. */
interface PollEvidence {
  readonly document: DocumentName;
  readonly addedAt: Instant;
  readonly polls: number;
  readonly lastPoll?: {
    readonly at: Instant;
    readonly ok: boolean;
    readonly bodyBytes: number | undefined;
    readonly nearLimitSince?: Instant | undefined;
  };
  readonly lastFailure?: {
    readonly since: Instant;
    readonly misconfiguredSince: Instant | undefined;
    readonly error: PollError;
  };
  readonly lastSuccess?: {
    readonly at: Instant;
    readonly droppedSince?: Instant | undefined;
    readonly snapshot: {
      readonly renderedFamilies: readonly RenderedFamily[];
      readonly errors: { readonly missing: Iterable<string>; readonly invalid: ReadonlyMap<string, number> };
    };
  };
  readonly maxBodyBytes: number;
  readonly staleAfterMs: number;
  readonly problemSettings?: ProblemSettings | undefined;
}

interface PollMoment {
  readonly at: Instant;
  /** See `DocumentDefinition.isOptional`. */
  readonly isOptional: boolean;
  /** Whether the node has never served the document, and serves another document of the target. */
  readonly isNotServed: boolean;
  /** The problems that cannot be judged in the exported document. */
  readonly unjudged: readonly UnjudgedProblem[];
}

export type PollProblemName =
  | 'BridgeSnapshotStale'
  | 'BridgeProblemUnjudged'
  | 'BridgeEndpointMisconfigured'
  | 'BridgeEndpointDown'
  | 'BridgeResponseNearLimit'
  | 'BridgeExporterSeriesDropped';

/** A problem of the polls of any document. */
export interface PollProblem extends Omit<Problem, 'name' | 'document' | 'find' | 'mark' | 'together' | 'dashboard'> {
  readonly name: PollProblemName;
  readonly find: (
    poll: PollEvidence,
    moment: PollMoment,
  ) => (Pick<Found, 'subject' | 'summary' | 'details' | 'action'> & { readonly start: Instant }) | undefined;
}

/** Without a successful poll for so long, nothing that is known of a document is current. */
export const OUTDATED_SECONDS = OUTDATED_MS / 1000;
/** Share of `poll.max_body_size` from which on a response is near it. */
export const SIZE_RATIO = 0.8;

export const misconfiguredReasons: ReadonlySet<FailureReason> = new Set(['bad_request', 'unauthorized']);
const sizeReasons: ReadonlySet<FailureReason> = new Set(['too_large', 'response_too_large_upstream']);

/** A problem is shown from this share of its limit on. On a healthy bridge, most problems end earlier. */
export const PENDING_SHARE = 1 / 3;

/** How to turn off the polls of a document. */
const TURN_OFF: Readonly<Record<DocumentName, string>> = {
  module_state: 'remove BRIDGE_URL, or bridge from the target',
  external_contract: 'remove external from the target',
  rate_limiter_input: 'remove CROSSCHAIN_URL, or crosschain from the target',
};

/**
 * Since when polls have not succeeded. Two polls are never further apart than `stale_after`, unless the machine was
 * suspended: that is no failure, and polls can fail only afterwards.
 */
function withoutSuccessSince(poll: PollEvidence): Instant {
  const { addedAt, lastSuccess, staleAfterMs } = poll;
  const since = presentFailure(poll)?.since;
  if (lastSuccess === undefined) return addedAt;
  return since !== undefined && (since - lastSuccess.at) * 1000 > staleAfterMs ? since : lastSuccess.at;
}

/** "no poll of module_state succeeds". */
function withoutSuccess({ document, polls, lastSuccess }: PollEvidence): string {
  if (polls === 0) return `${document} is not polled`;
  return `no poll of ${document} ${lastSuccess === undefined ? 'has succeeded since the endpoint was added' : 'succeeds'}`;
}

/** "no poll of module_state succeeds, for 18 min". */
export function withoutSuccessFor(poll: PollEvidence, now: Instant): string {
  return `${withoutSuccess(poll)}, for ${durationInWords(now - (poll.lastSuccess?.at ?? poll.addedAt))}`;
}

/** The failure of the last poll. */
function presentFailure({ lastPoll, lastFailure }: PollEvidence) {
  return lastPoll?.ok === false ? lastFailure : undefined;
}

const snapshotStale: PollProblem = {
  name: 'BridgeSnapshotStale',
  severity: 'critical',
  afterMinutes: OUTDATED_SECONDS / 60,
  description: 'No exporter has polled the document successfully for 10 minutes, or since the endpoint was added.',
  action: 'Check the node and the connection to it. Until a poll succeeds, this part of the bridge is not monitored.',
  find: (poll, { at, isOptional, isNotServed }) => {
    if (isOptional || isNotServed) return undefined;
    const since = withoutSuccessSince(poll);
    const failure = presentFailure(poll);
    // After a suspension of the machine, the next poll is due at once. BridgeEndpointNotPolled fires when polls have
    // stopped.
    const isFailing = failure !== undefined || poll.polls === 0;
    if (!isFailing || at - since < OUTDATED_SECONDS * PENDING_SHARE) return undefined;
    return {
      start: since,
      summary: withoutSuccess(poll),
      details: [failure?.error.message ?? ''],
      action: failure && chooseRemedy(failure.error),
    };
  },
  inhibits: [
    { problem: 'BridgeEndpointDown', equal: ['document'] },
    { problem: 'BridgeEndpointMisconfigured', equal: ['document'] },
    { problem: 'BridgeResponseNearLimit', equal: ['document'] },
    { problem: 'BridgeExporterSeriesDropped', equal: ['document'] },
    { problem: 'BridgeProblemUnjudged', equal: ['document'] },
  ],
  inhibitsDocument: true,
};

const misconfigured: PollProblem = {
  name: 'BridgeEndpointMisconfigured',
  severity: 'warning',
  afterMinutes: 3,
  description: 'Polls fail with reason `bad_request` or `unauthorized`.',
  action:
    'Read the last failure on the status page. Correct the configuration or the credentials, or let a proxy in front of the node accept this machine.',
  find: (poll, { isNotServed }) => {
    const failure = presentFailure(poll);
    if (isNotServed || failure?.misconfiguredSince === undefined) return undefined;
    return {
      start: failure.misconfiguredSince,
      summary: `${poll.document} is misconfigured`,
      details: [failure.error.message],
      action: chooseRemedy(failure.error),
    };
  },
  inhibits: [{ problem: 'BridgeEndpointDown', equal: ['document'] }],
  inhibitsDocument: true,
};

const down: PollProblem = {
  name: 'BridgeEndpointDown',
  severity: 'warning',
  afterMinutes: 3,
  description:
    'Polls of the document fail. With `kind="not_served"`, the node has never served this document, but serves another one of the target.',
  action: 'Check the node and the connection to it. The status page shows the last failure with its reason.',
  find: (poll, { isNotServed }) => {
    const failure = presentFailure(poll);
    if (failure === undefined) return undefined;
    const { document } = poll;
    const { since, error } = failure;
    const details = [error.message];
    if (!isNotServed)
      return { start: since, summary: `polls of ${document} fail`, details, action: chooseRemedy(error) };
    return {
      subject: { kind: 'not_served' },
      start: withoutSuccessSince(poll),
      summary: `the node does not serve ${document}`,
      details,
      action: `If the node is not meant to serve it, ${TURN_OFF[document]}. Otherwise correct the URL, the dialect or the credentials.`,
    };
  },
  inhibitsDocument: true,
};

const nearLimit: PollProblem = {
  name: 'BridgeResponseNearLimit',
  severity: 'warning',
  afterMinutes: 5,
  description:
    'A response is larger than 80 % of `poll.max_body_size`, or was refused for its size, here or by the node.',
  action: 'Raise poll.max_body_size or the limit of the node, then reduce the backlog.',
  find: (poll) => {
    const { document, lastPoll, maxBodyBytes } = poll;
    const error = presentFailure(poll)?.error;
    if (lastPoll === undefined || !isNearSizeLimit(error, lastPoll.bodyBytes, maxBodyBytes)) return undefined;
    const isRefused = error !== undefined && sizeReasons.has(error.reason);
    return {
      start: lastPoll.nearLimitSince ?? lastPoll.at,
      summary: isRefused
        ? `a response of ${document} is refused for its size`
        : `the response of ${document} is near its size limit`,
      details: [isRefused ? error.message : `${percent((lastPoll.bodyBytes ?? 0) / maxBodyBytes)} of the limit`],
    };
  },
};

const seriesDropped: PollProblem = {
  name: 'BridgeExporterSeriesDropped',
  severity: 'warning',
  afterMinutes: 15,
  description: 'A metric has more series than `limits.max_series_per_family`.',
  action: 'Raise limits.max_series_per_family.',
  find: ({ lastSuccess, document }) => {
    const dropped = (lastSuccess?.snapshot.renderedFamilies ?? []).filter(hasDroppedSeries);
    if (lastSuccess === undefined || dropped.length === 0) return undefined;
    return {
      start: lastSuccess.droppedSince ?? lastSuccess.at,
      summary: `metrics of ${document} exceed limits.max_series_per_family`,
      details: [list(dropped.map(({ name }) => name))],
    };
  },
};

const COMPARE_FIELDS =
  'Compare the fields that the status page names with the response of the node; bridge_exporter_invalid_values_total counts values of a wrong type.';

/** The problem that other problems of the document cannot be judged. */
function unjudged(severity: 'critical' | 'warning', texts: Pick<Problem, 'description' | 'action'>): PollProblem {
  const isCritical = severity === 'critical';
  return {
    name: 'BridgeProblemUnjudged',
    severity,
    afterMinutes: 10,
    ...texts,
    find: (poll, moment) => {
      const sameSeverity = moment.unjudged.filter((each) => (each.severity === 'critical') === isCritical);
      const [first] = sameSeverity;
      if (first === undefined) return undefined;
      const names = Array.from(new Set(sameSeverity.map(({ problem }) => problem.name)));
      const others = names.length === 1 ? '' : ` and ${count(names.length - 1, 'other problem')}`;
      return {
        start: Math.min(...sameSeverity.map(({ since }) => since)),
        summary: `${first.problem.name}${others} of ${poll.document} cannot be judged${isCritical ? ' any more' : ''}`,
        details: [unreadableFields(poll), `not judged: ${list(names)}`],
      };
    },
  };
}

/** Such as "missing: state.batches; invalid values of state.valsets", of the last document. */
function unreadableFields({ lastSuccess }: PollEvidence): string {
  const { missing = [], invalid = new Map<string, number>() } = lastSuccess?.snapshot.errors ?? {};
  const measureDepth = (path: string): number => path.split('.').length;
  // Shallow fields first: a missing list, such as state.batches, matters more than a parameter.
  const absent = Array.from(missing).toSorted((a, b) => measureDepth(a) - measureDepth(b));
  const wrong = Array.from(invalid.keys());
  return joinTexts(
    '; ',
    absent.length === 0 ? '' : `missing: ${list(absent)}`,
    wrong.length === 0 ? '' : `invalid values of ${list(wrong)}`,
  );
}

/** Worst first, causes before their consequences. */
export const pollProblems: readonly PollProblem[] = [
  snapshotStale,
  unjudged('critical', {
    description:
      'A critical problem was present and cannot be judged now: a field is missing or invalid, or a query is not answered.',
    action: `Act as if the critical problem were still present. ${COMPARE_FIELDS}`,
  }),
  misconfigured,
  down,
  nearLimit,
  seriesDropped,
  unjudged('warning', {
    description:
      'A problem could be judged before and cannot be judged now: a field is missing or invalid, or a query is not answered.',
    action: COMPARE_FIELDS,
  }),
];

/** Whether a response was rejected for its size, or nearly would have been. */
export function isNearSizeLimit(error: PollError | undefined, bodyBytes = 0, maxBodyBytes: number): boolean {
  return (error !== undefined && sizeReasons.has(error.reason)) || bodyBytes / maxBodyBytes > SIZE_RATIO;
}

export function hasDroppedSeries({ dropped = 0 }: RenderedFamily): boolean {
  return dropped > 0;
}

/** The problems of the polls of a document at a point in time, worst first. */
export function presentPollProblems(poll: PollEvidence, moment: PollMoment): readonly PresentProblem[] {
  return pollProblems.flatMap((problem) => findPresent(problem, poll, moment));
}

function findPresent(problem: PollProblem, poll: PollEvidence, moment: PollMoment): readonly PresentProblem[] {
  const { problemSettings = {} } = poll;
  const found = isEnabled({ ...problem, document: poll.document }, problemSettings)
    ? problem.find(poll, moment)
    : undefined;
  if (found === undefined) return [];
  const { start, summary, subject = {}, details = [], action = problem.action } = found;
  const texts = { ...labelTexts(summary, action), details: joinTexts('; ', ...details) };
  const times = { startAt: start, presentAt: start, lastFoundAt: moment.at };
  return [{ problem, subject, ...times, isProven: true, isMissing: false, ...texts, validators: [] }];
}
