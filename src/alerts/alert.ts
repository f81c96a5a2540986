import type { DocumentName } from '../documents.js';
import { ON_TARGET, parenthesized, promDuration, TARGET, unchanged, type RecordingRule } from './promql.js';
import { heightFamilies } from './poll-history.js';
import { withDetails, type Sentence } from './sentences.js';
import { findingIf, OUTDATED_MINUTES, type DatedFindings, type Finding, type PollView } from './view.js';

/*
 * An alert is one object: the rule for Prometheus, how the exporter finds the same condition in a poll, and the texts of both.
 * prometheus/alerts.yml, the inhibitions of prometheus/alertmanager.yml and docs/alerts.md are generated from these objects.
 */

/** `critical` alerts someone at any time, `warning` is for working hours, `info` is for the record. */
export const severities = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof severities)[number];

/**
 * An alert that is not worth a notification while this one fires, for the same target of the same exporter: an inhibition of Alertmanager. On
 * the pages it is listed below this one.
 */
export interface Inhibition {
  readonly alert: string;
  readonly severity?: Severity;
  /** Labels of the inhibited rule. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Labels that must be equal besides those of the target; besides `cluster`, if no running exporter can judge the alert. */
  readonly equal?: readonly string[];
}

/** How a condition is found in one poll, and how long it has to be there. One series of the result is one finding. */
export interface Pattern<Family extends string = string> {
  /** The range of the expression: the finding is in every poll of it, with the same `unchangedValue`. */
  readonly rangeMinutes: number;
  readonly find: (view: PollView<Family>) => readonly Finding[];
  /** What the expression requires only now, and not in the whole range. */
  readonly holdsNow?: ((finding: Finding, view: PollView<Family>) => boolean) | undefined;
}

/** What the pages say about an alert, from the exporter's own memory of recent polls. */
export interface Condition<Family extends string = string> {
  /** `data`: judged in successful polls, and suspended while the data is outdated. `endpoint`: judged after every poll. */
  readonly source: 'data' | 'endpoint';
  /** `undefined` for each document. */
  readonly document: DocumentName | undefined;
  /** Alternatives; one is enough. */
  readonly patterns: readonly Pattern<Family>[];
  /** What is wrong, without the target; made by `withDetails` or `withList`. */
  readonly sentence: (findings: DatedFindings, view: PollView<Family>) => Sentence;
  /** One alert for all findings together, when their values add up to at least this; without it, one alert for each. */
  readonly minimumSum?: number | undefined;
  /** The action with what is known about this incident; without it, the action of the alert. */
  readonly actionFor?: ((findings: DatedFindings, view: PollView<Family>) => string) | undefined;
}

/** What every declaration of an alert states. */
interface Texts<Name extends string> {
  readonly name: Name;
  /** `none` only for the watchdog. */
  readonly severity: Severity | 'none';
  /** PromQL, multi-line. */
  readonly expr: string;
  /** What is wrong, with its numbers: a template of Prometheus that begins with the target if the alert is about one. */
  readonly summary: string;
  /** When it fires and what that means, for annotations and docs/alerts.md. */
  readonly description: string;
  /** What to do first. A template, too. */
  readonly action: string;
}

/** What has a default. */
interface Options {
  /** The group of the rules file. */
  readonly group: string;
  /** Recording rules that the expression or the texts read. */
  readonly recordings: readonly RecordingRule[];
  /** `for` of the rule: tolerates short failures. */
  readonly forMinutes: number;
  /** `keep_firing_for` of the rule: bridges gaps in the data, such as a restart. */
  readonly keepFiringMinutes: number;
  readonly dashboard: string;
  /** Whether the first step is the page /pending of the target. */
  readonly linksToPending: boolean;
  /** Whether the sentence lists the first of several amounts; the table of tokens has all of them. */
  readonly listsAmounts: boolean;
  /** What the validators that it is about are late with, for the table of late validators; `undefined` if it is about nothing of the kind. */
  readonly lateWith: string | undefined;
  readonly inhibits: readonly Inhibition[];
  /** Labels of the rule besides `document`. */
  readonly labels: Readonly<Record<string, string>>;
  /** Whether it inhibits all alerts on the data of its document; a warning only those that are not critical. */
  readonly inhibitsData: boolean;
}

export interface Alert<Name extends string = string> extends Texts<Name>, Options {
  /** The families of the document that the condition reads. */
  readonly families: readonly string[];
  /** `undefined` for an alert that a running exporter cannot judge. */
  readonly condition: Condition | undefined;
}

/** An alert that a running exporter can judge. */
export interface JudgedAlert<Name extends string = string> extends Alert<Name> {
  readonly severity: Severity;
  readonly condition: Condition;
}

const DEFAULTS = {
  group: 'bridge-exporter',
  recordings: [],
  forMinutes: 0,
  keepFiringMinutes: 0,
  dashboard: 'bridge-exporter',
  linksToPending: false,
  listsAmounts: false,
  lateWith: undefined,
  inhibits: [],
  inhibitsData: false,
  labels: {},
  families: [],
} as const;

/** An alert that a running exporter cannot judge, such as its absence. */
export function exporterAlert(alert: Texts<string> & Partial<Options>): Alert {
  return { ...DEFAULTS, ...alert, condition: undefined };
}

type Declaration<Name extends string, Family extends string> = Texts<Name> &
  Partial<Options> & { readonly severity: Severity; readonly families?: readonly Family[] } & Pick<
    Condition<Family>,
    'actionFor' | 'minimumSum'
  > & {
    /** The sentence of the condition. A string is a fact without details. */
    readonly sentence: (findings: DatedFindings, view: PollView<Family>) => Sentence | string;
  } & (
    | (Pick<Pattern<Family>, 'find' | 'holdsNow'> & { readonly rangeMinutes?: number })
    | Pick<Condition<Family>, 'patterns'>
  );

function judgedAlert<Name extends string, Family extends string>(
  source: Condition['source'],
  document: DocumentName | undefined,
  alert: Declaration<Name, Family>,
): JudgedAlert<Name> {
  const { actionFor, minimumSum } = alert;
  const sentence: Condition<Family>['sentence'] = (findings, view) => {
    const own = alert.sentence(findings, view);
    return typeof own === 'string' ? withDetails(own) : own;
  };
  const patterns =
    'patterns' in alert
      ? alert.patterns
      : [{ rangeMinutes: alert.rangeMinutes ?? 0, find: alert.find, holdsNow: alert.holdsNow }];
  return {
    ...DEFAULTS,
    ...alert,
    labels: { ...(document !== undefined && { document }), ...alert.labels },
    summary: `{{ $labels.target }}: ${alert.summary}`,
    condition: { source, document, patterns, sentence, actionFor, minimumSum },
  };
}

const dataOf = {
  module_state: { group: 'bridge', dashboard: 'bridge-overview' },
  external_contract: { group: 'contract', dashboard: 'bridge-overview' },
  rate_limiter_input: { group: 'crosschain', dashboard: 'bridge-cross-chain' },
} as const satisfies Record<DocumentName, Partial<Options>>;

/** An alert on the state of an endpoint: of one document if it is given, else of each. */
export function endpointAlert<const Name extends string, const Family extends string = never>(
  alert: Declaration<Name, Family> & { readonly document?: DocumentName },
): JudgedAlert<Name> {
  const { document } = alert;
  const { dashboard } = document === undefined ? DEFAULTS : dataOf[document];
  return judgedAlert('endpoint', document, { dashboard, ...alert });
}

/** Present while the data of a document is outdated. */
function outdatedRule(document: DocumentName): RecordingRule {
  const height = heightFamilies[document];
  return {
    name: `target:${height}:outdated`,
    // Present while the data is outdated: no successful poll for 10 minutes, which is 20 polls at the
    // default interval and twice the default poll.stale_after, or a hub height that has not changed. Without a height
    // header only the first counts.
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

/** An alert on the data of a document, suspended while the data is outdated. By default, the items behind it are on the page /pending. */
export function dataAlert<const Name extends string, const Family extends string>(
  document: DocumentName,
  alert: Declaration<Name, Family> & { readonly families: readonly Family[] },
): JudgedAlert<Name> {
  const outdated = outdatedRule(document);
  // `unless` binds more tightly than `or`.
  const expr = /^or\b/m.test(alert.expr) ? parenthesized(alert.expr) : alert.expr;
  return judgedAlert('data', document, {
    ...dataOf[document],
    keepFiringMinutes: KEEP_FIRING_MINUTES,
    linksToPending: true,
    ...alert,
    expr: `${expr}\nunless ${ON_TARGET} ${outdated.name}`,
    recordings: [outdated, ...(alert.recordings ?? [])],
  });
}

/** The rule and the pattern of a family without labels that is above a limit. */
export function above<const Family extends string>(family: Family, limit: number) {
  const find = ({ samples }: PollView<Family>): readonly Finding[] => {
    const value = samples.value(family);
    return value === undefined ? [] : findingIf(value > limit, value);
  };
  return { expr: `${family} > ${limit}`, families: [family], find };
}

/** The same for a family that is above the limit in the whole range, while the value of another one does not change. */
export function aboveWhileUnchanged<const Family extends string>(
  family: Family,
  limit: number,
  unchangedFamily: Family,
  rangeMinutes: number,
) {
  const find = ({ samples }: PollView<Family>): readonly Finding[] => {
    const value = samples.value(family);
    const unchangedValue = samples.value(unchangedFamily);
    if (value === undefined || unchangedValue === undefined) return [];
    return findingIf(value > limit, value, unchangedValue);
  };
  const expr = `min_over_time(${family}[${promDuration(rangeMinutes)}]) > ${limit}
and ${unchanged(unchangedFamily, rangeMinutes)}`;
  return { expr, families: [family, unchangedFamily], rangeMinutes, find };
}
