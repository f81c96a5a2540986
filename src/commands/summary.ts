import { severities, type Severity } from '../alerts/alert.js';
import { verdictsOfOnePoll, type Verdict } from '../alerts/judge.js';
import type { KnownEndpoint } from '../alerts/endpoint-memory.js';
import { sentenceText } from '../alerts/sentences.js';
import type { SummaryOptions } from '../cli/options.js';
import type { Instant } from '../clock.js';

/* What is wrong, by one poll of each endpoint, in the sentences of the status page. */

/** More lines are for the status page. */
const MAX_LINES = 10;

export interface Summary {
  /** Empty unless the summary is wanted. */
  readonly lines: readonly string[];
  /** Which verdict `--fail-on` names; `undefined` if there is none. */
  readonly failure: string | undefined;
}

export type Summarize = (endpoints: readonly KnownEndpoint[], now: Instant) => Summary;

export function createSummarize({ summary: isWanted, failOn }: SummaryOptions, isTerminal: boolean): Summarize {
  return (endpoints, now) => {
    const verdicts = verdictsOfOnePoll(endpoints, now).filter(({ inhibitedBy }) => inhibitedBy === null);
    const worst = failOn === undefined ? undefined : worstFrom(verdicts, failOn);
    return {
      lines: (isWanted ?? isTerminal) ? summaryLines(verdicts, polledTargets(endpoints)) : [],
      failure: worst && `${worst.target} is ${worst.severity} (--fail-on=${failOn}): ${sentenceText(worst.sentence)}`,
    };
  };
}

/** The targets whose polls have all succeeded. */
function polledTargets(endpoints: readonly KnownEndpoint[]): readonly string[] {
  const states = endpoints.map(({ state }) => state);
  const failing = new Set(states.flatMap(({ success, target }) => (success === undefined ? [target] : [])));
  return [...new Set(states.map(({ target }) => target))].filter((target) => !failing.has(target));
}

/** What one poll proves, worst first; then what holds now, but for an unknown time; then the targets without either. */
function summaryLines(verdicts: readonly Verdict[], targets: readonly string[]): readonly string[] {
  const firing = verdicts.filter(({ state }) => state === 'firing');
  // What is only for the record and may end soon is no problem.
  const notJudged = verdicts.filter(({ state, severity }) => state !== 'firing' && severity !== 'info');
  const lines = firing.map(({ target, severity, sentence }) => `${target}: ${severity}: ${sentenceText(sentence)}`);
  const more = lines.length > MAX_LINES ? [`and ${lines.length - MAX_LINES} more`] : [];
  const withoutVerdict = targets.filter((target) => ![...firing, ...notJudged].some((own) => own.target === target));
  return [
    ...lines.slice(0, MAX_LINES),
    ...more,
    ...Array.from(new Set(notJudged.map(({ target }) => target))).map((target) => {
      const own = notJudged.filter((verdict) => verdict.target === target);
      return `${target}: not judged by one poll: ${namesOf(own)}`;
    }),
    ...withoutVerdict.map((target) => `${target}: no problem`),
  ];
}

/** "BridgeBacklogStuck (critical), BridgeBacklogHigh (warning)": each alert once, with its worst severity. */
function namesOf(verdicts: readonly Verdict[]): string {
  const worstFirst = verdicts.toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity));
  const once = worstFirst.filter(
    ({ alert }, index) => index === worstFirst.findIndex((verdict) => verdict.alert === alert),
  );
  return once.map(({ alert, severity }) => `${alert} (${severity})`).join(', ');
}

/** The worst verdict that holds with this severity or a higher one. Only what the data prove to last long enough holds. */
function worstFrom(verdicts: readonly Verdict[], severity: Severity): Verdict | undefined {
  return verdicts.find(
    (verdict) => verdict.state === 'firing' && severities.indexOf(verdict.severity) <= severities.indexOf(severity),
  );
}
