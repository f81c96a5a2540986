import { describe, expect, it } from 'vitest';
import { judgedFamilies } from '../../src/metrics/judged-families.js';
import type { Condition } from '../../src/verdicts/condition.js';
import { conditions } from '../../src/verdicts/conditions.js';
import { STALE_SECONDS } from '../../src/verdicts/endpoint-conditions.js';
import { inhibitions, type AlertMatcher } from '../../src/verdicts/inhibitions.js';
import { OUTDATED_MINUTES } from '../../src/verdicts/poll-history.js';
import { metricsInRules } from '../alerts/promtool.js';
import { ALERTS_WITHOUT_VERDICT } from '../alerts/verdict-comparison.js';
import { parsePromql } from '../dashboards/promql.js';
import { alertRules, rules, type Rule } from '../support/alert-rules.js';
import { readProjectYaml } from '../support/project-files.js';

/* The conditions and prometheus/alerts.yml state the same numbers. */

const nameOf = (alert: string | undefined, severity: string | undefined): string => `${alert} (${severity})`;
const judgedRules = alertRules.filter(({ alert }) => !ALERTS_WITHOUT_VERDICT.includes(alert));
const cases = judgedRules.map((rule) => ({ name: nameOf(rule.alert, rule.labels?.['severity']), rule }));

function conditionOf({ alert, labels }: Rule): Condition {
  const found = conditions.filter((own) => own.alert === alert && own.severity === labels?.['severity']);
  const [condition] = found;
  if (condition === undefined || found.length !== 1) throw new Error(`${alert} has ${found.length} conditions`);
  return condition;
}

const MINUTES: Readonly<Record<string, number>> = { m: 1, h: 60, d: 24 * 60 };

function minutesOf(duration: string | undefined): number {
  if (duration === undefined) return 0;
  const [, count, unit = ''] = /^(\d+)([mhd])$/.exec(duration) ?? [];
  const minutes = Number(count) * (MINUTES[unit] ?? NaN);
  if (Number.isNaN(minutes)) throw new Error(`${duration} is not a duration`);
  return minutes;
}

/** An expression without the names of validators, which have no influence on whether an alert fires, and without strings. */
function conditionPart({ expr }: Rule): string {
  return String(expr)
    .replaceAll(/group by \([^)]*\) \(last_over_time\(\{__name__=~"bridge_orchestrator_[^"]*"\}\[2h\]\)\)/g, '')
    .replaceAll(/"[^"]*"/g, '""');
}

/** The numbers of an expression but 0 and 1, which stand for nothing, any and one. */
function thresholdsOf(rule: Rule): number[] {
  const text = conditionPart(rule).replaceAll(/\d+[mhd]\b/g, '');
  const numbers = Array.from(text.matchAll(/(?<![\w.])\d+(?:\.\d+)?(?![\w.])/g), ([number]) => Number(number));
  return sortedSet(numbers.filter((number) => number !== 0 && number !== 1));
}

function rangesOf(rule: Rule): number[] {
  return sortedSet(Array.from(conditionPart(rule).matchAll(/\b\d+[mhd]\b/g), ([duration]) => minutesOf(duration)));
}

function sortedSet(numbers: readonly number[]): number[] {
  return Array.from(new Set(numbers)).toSorted((a, b) => a - b);
}

/** A range of a rule that only the samples of Prometheus need: a gap in the scrapes must not make an old series look new. */
const SCRAPE_RANGES: Readonly<Record<string, number>> = { BridgeExporterInvalidValues: 60 };

describe('the conditions of verdicts', () => {
  it('are one for each alert about a target and severity, and no others', () => {
    const names = conditions.map(({ alert, severity }) => nameOf(alert, severity));
    expect(names.toSorted()).toEqual(cases.map(({ name }) => name).toSorted());
    const all = new Set(alertRules.map(({ alert }) => alert));
    expect(ALERTS_WITHOUT_VERDICT.filter((alert) => !all.has(alert))).toEqual([]);
  });

  it.each(cases)('$name has the durations of the alert', ({ rule }) => {
    const { forMinutes, keepMinutes, patterns, rangesMinutes } = conditionOf(rule);
    expect({ forMinutes, keepMinutes }).toEqual({
      forMinutes: minutesOf(rule.for),
      keepMinutes: minutesOf(rule.keep_firing_for),
    });
    const ranges = [...patterns.map(({ rangeMinutes }) => rangeMinutes), ...rangesMinutes];
    const expected = rangesOf(rule).filter((minutes) => minutes !== SCRAPE_RANGES[rule.alert]);
    expect(sortedSet(ranges.filter((minutes) => minutes > 0))).toEqual(expected);
  });

  it.each(cases)('$name has the thresholds of the alert', ({ rule }) => {
    expect(sortedSet(conditionOf(rule).thresholds)).toEqual(thresholdsOf(rule));
  });

  it.each(cases)('$name is judged for the documents of the alert', ({ rule }) => {
    const { document } = rule.labels ?? {};
    const expected = document === undefined ? ['module_state', 'rate_limiter_input'] : [document];
    expect(conditionOf(rule).documents).toEqual(expected);
  });

  it.each(cases)('$name is suspended while the data is outdated if the alert is', ({ rule }) => {
    const isSuspended = /unless on \([^)]*\) target:\w+:outdated/.test(String(rule.expr));
    expect(conditionOf(rule).source).toBe(isSuspended ? 'samples' : 'polls');
  });

  it.each(['target:bridge_height:outdated', 'target:crosschain_height:outdated'])(
    'are suspended like the alerts that use %s',
    (name) => {
      const rule = rules.find(({ record }) => record === name);
      expect(rule && [thresholdsOf(rule), rangesOf(rule)]).toEqual([[STALE_SECONDS], [OUTDATED_MINUTES]]);
    },
  );

  it('read families that the alerts read, and block times for texts', () => {
    const ofChain = Array.from(metricsInRules).filter((name) => !/^(?:bridge_exporter|process)_/.test(name));
    expect(judgedFamilies.toSorted()).toEqual([...ofChain, 'bridge_params_average_block_time_seconds'].toSorted());
  });

  it('parse as PromQL, so that the numbers above are those of expressions', () => {
    for (const { expr } of judgedRules) expect(parsePromql(String(expr)).selectors).not.toEqual([]);
  });
});

interface InhibitRule {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal: readonly string[];
}

/** The labels of an exporter and of an endpoint, which the verdicts of one endpoint have in common. */
const ENDPOINT_LABELS = new Set(['cluster', 'namespace', 'job', 'instance', 'target', 'document']);

function matchersOf({ alert, severity }: AlertMatcher): string[] {
  return [
    ...(alert === undefined ? [] : [`alertname = ${alert}`]),
    ...(severity === undefined ? [] : [`severity = ${severity}`]),
  ];
}

describe('the inhibitions of verdicts', () => {
  it('are those of Alertmanager between alerts of one endpoint', () => {
    const { inhibit_rules } = readProjectYaml('prometheus/alertmanager.yml') as {
      inhibit_rules: readonly InhibitRule[];
    };
    const ofEndpoint = inhibit_rules.filter(
      ({ source_matchers }) =>
        !source_matchers.includes('alertname = BridgeExporterAbsent') &&
        // An endpoint that is down inhibits alerts about its data, but not verdicts about its last data.
        !source_matchers.some((matcher) => matcher.includes('BridgeEndpointDown')),
    );
    const expected = ofEndpoint.map(({ source_matchers, target_matchers, equal }) => ({
      source: source_matchers,
      target: target_matchers,
      equal: equal.filter((label) => !ENDPOINT_LABELS.has(label)),
    }));
    const own = inhibitions.map(({ source, target, equal }) => ({
      source: matchersOf(source),
      target: matchersOf(target),
      equal,
    }));
    expect(own).toEqual(expected);
  });
});
