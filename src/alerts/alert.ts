import type { DocumentName } from '../documents.js';
import { indent, ON_TARGET, promDuration, TARGET, type RecordingRule } from './promql.js';
import type { Finding, PollView, DatedFindings } from './view.js';
import type { Severity } from './verdict.js';

/*
 * An alert is one object: the rule for Prometheus, how the exporter finds the same condition in a poll, and the texts of both.
 * prometheus/alerts.yml, the inhibitions of prometheus/alertmanager.yml and docs/alerts.md are generated from these objects.
 */

/** An alert that is not worth a notification while this one fires, for the same target of the same exporter. */
export interface Inhibition {
  readonly alert: string;
  readonly severity?: Severity;
  /** Labels that must be equal besides those of the target. */
  readonly equal?: readonly string[];
}

/** How a condition is found in one poll, and how long it has to be there. One series of the result is one finding. */
export interface Pattern<Family extends string = string> {
  /** The range of the expression: the finding is in every poll of it, with the same `unchangedValue`. */
  readonly rangeMinutes: number;
  readonly find: (view: PollView<Family>) => readonly Finding[];
}

/** What the pages say about an alert, from the exporter's own memory of recent polls. */
export interface Condition<Family extends string = string> {
  /** `data`: judged in successful polls, and suspended while the data is outdated. `endpoint`: judged after every poll. */
  readonly source: 'data' | 'endpoint';
  readonly documents: readonly DocumentName[];
  /** Alternatives; one is enough. */
  readonly patterns: readonly Pattern<Family>[];
  /** One line without the target: what, for how long, how much, who. */
  readonly sentence: (findings: DatedFindings, view: PollView<Family>) => string;
  /** The action with what is known about this incident; without it, the action of the alert. */
  readonly actionFor?: ((findings: DatedFindings, view: PollView<Family>) => string) | undefined;
}

export interface Alert {
  readonly name: string;
  /** `none` only for the watchdog. */
  readonly severity: Severity | 'none';
  /** Groups of the rules file. */
  readonly group: string;
  /** The comment above the rule: why the expression and its limits are as they are. */
  readonly comment: string;
  /** One sentence for docs/alerts.md: when it fires. */
  readonly when: string;
  /** PromQL, multi-line. */
  readonly expr: string;
  /** Recording rules that the expression or the texts read. */
  readonly recordings: readonly RecordingRule[];
  /** `for` of the rule: tolerates short failures. */
  readonly forMinutes: number;
  /** `keep_firing_for` of the rule: bridges gaps in the data, such as a restart. */
  readonly keepFiringMinutes: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Templates of Prometheus; they begin with the target if the alert is about one. */
  readonly summary: string;
  readonly description: string;
  /** What to do first. */
  readonly action: string;
  readonly dashboard: string;
  /** Whether the first step is the page /pending of the target. */
  readonly linksToPending: boolean;
  readonly inhibits: readonly Inhibition[];
  /** Whether it inhibits all alerts on the data of its document. */
  readonly inhibitsData: boolean;
  /** The families of the document that the condition reads. Their samples are kept for the main thread. */
  readonly families: readonly string[];
  /** `undefined` for an alert that a running exporter cannot judge. */
  readonly condition: Condition | undefined;
}

type Texts = Pick<Alert, 'name' | 'severity' | 'comment' | 'when' | 'expr' | 'summary' | 'description' | 'action'>;
type Options = Partial<
  Pick<
    Alert,
    | 'recordings'
    | 'forMinutes'
    | 'keepFiringMinutes'
    | 'group'
    | 'dashboard'
    | 'inhibits'
    | 'inhibitsData'
    | 'linksToPending'
  >
>;

const DEFAULTS = {
  recordings: [],
  forMinutes: 0,
  keepFiringMinutes: 0,
  labels: {},
  dashboard: 'bridge-exporter',
  linksToPending: false,
  inhibits: [],
  inhibitsData: false,
  families: [],
} as const;

/** An alert that a running exporter cannot judge, such as its absence. */
export function exporterAlert(alert: Texts & Options): Alert {
  return { ...DEFAULTS, group: 'bridge-exporter', ...alert, condition: undefined };
}

const ABOUT_TARGET = '{{ $labels.target }}: ';
const ALL_DOCUMENTS: readonly DocumentName[] = ['module_state', 'rate_limiter_input'];

type Declaration<Family extends string> = Texts &
  Options & { readonly families?: readonly Family[] } & Pick<Condition<Family>, 'sentence' | 'actionFor'> &
  ((Pick<Pattern<Family>, 'find'> & { readonly rangeMinutes?: number }) | Pick<Condition<Family>, 'patterns'>);

function conditionOf<Family extends string>(
  source: Condition['source'],
  documents: readonly DocumentName[],
  alert: Declaration<Family>,
): Condition<Family> {
  const { sentence, actionFor } = alert;
  const patterns = 'patterns' in alert ? alert.patterns : [{ rangeMinutes: alert.rangeMinutes ?? 0, find: alert.find }];
  return { source, documents, patterns, sentence, actionFor };
}

/** An alert on the state of an endpoint: of one document if it is given, else of each. */
export function endpointAlert<const Family extends string = never>(
  alert: Declaration<Family> & { readonly document?: DocumentName },
): Alert {
  const { document } = alert;
  return {
    ...DEFAULTS,
    group: 'bridge-exporter',
    ...alert,
    labels: document === undefined ? {} : { document },
    summary: ABOUT_TARGET + alert.summary,
    condition: conditionOf('endpoint', document === undefined ? ALL_DOCUMENTS : [document], alert),
  };
}

/** Data without a successful poll for this long, or with a height that has not changed for this long, is outdated. */
export const OUTDATED_MINUTES = 10;

const dataOf = {
  module_state: { group: 'bridge', height: 'bridge_height', dashboard: 'bridge-overview' },
  rate_limiter_input: { group: 'crosschain', height: 'crosschain_height', dashboard: 'bridge-cross-chain' },
} as const satisfies Record<DocumentName, { group: string; height: string; dashboard: string }>;

/** Present while the data of a document is outdated. */
export function outdatedRule(document: DocumentName): RecordingRule {
  const { height } = dataOf[document];
  return {
    name: `target:${height}:outdated`,
    comment: `Present while the data is outdated: no successful poll for ${OUTDATED_MINUTES * 60} s, which is 20 polls at the default interval and twice the
default poll.stale_after, or a hub height that has not changed. Without a height header only the first counts.`,
    expr: `group by (${TARGET}) (
  time() - bridge_exporter_last_success_timestamp_seconds{document="${document}"} > ${OUTDATED_MINUTES * 60}
  or changes(${height}[${promDuration(OUTDATED_MINUTES)}]) == 0
)`,
  };
}

/**
 * `keep_firing_for` of alerts on data. When the data stays away, another alert fires before it ends: BridgeSnapshotStale,
 * BridgeExporterAbsent or BridgeExporterInvalidValues after 10 minutes, BridgeEndpointNotPolled, BridgeHeightStalled or
 * CrosschainHeightStalled after 15. An incident therefore never resolves because its series disappeared.
 */
const KEEP_FIRING_MINUTES = 20;

/** An alert on the data of a document, suspended while the data is outdated. */
export function dataAlert<const Family extends string>(
  document: DocumentName,
  alert: Declaration<Family> & { readonly families: readonly Family[] },
): Alert {
  const { group, dashboard } = dataOf[document];
  const outdated = outdatedRule(document);
  return {
    ...DEFAULTS,
    group,
    dashboard,
    keepFiringMinutes: KEEP_FIRING_MINUTES,
    ...alert,
    expr: `${hasOr(alert.expr) ? `(\n${indent(alert.expr)}\n)` : alert.expr}\nunless ${ON_TARGET} ${outdated.name}`,
    recordings: [outdated, ...(alert.recordings ?? [])],
    labels: { document },
    summary: ABOUT_TARGET + alert.summary,
    condition: conditionOf('data', [document], alert),
  };
}

/** `unless` binds more tightly than `or`. */
function hasOr(expr: string): boolean {
  return /^or\b/m.test(expr);
}
