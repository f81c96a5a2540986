import { severities, type Severity } from '../problems/problem.js';
import { verdictsOf, type Verdict } from '../problems/verdicts.js';
import type { KnownEndpoint } from '../poll/known-endpoint.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import { sentenceText } from '../problems/sentence.js';
import type { SummaryOptions } from '../cli/options.js';
import type { Instant } from '../clock.js';
import { duration } from '../text/format.js';

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
    const states = endpoints.map(({ state }) => state);
    const targets = verdictsOf(states, now);
    const verdicts = targets.flatMap((own) => own.verdicts).filter(({ inhibitedBy }) => inhibitedBy === null);
    const worst = failOn === undefined ? undefined : worstFrom(verdicts, failOn);
    return {
      lines: (isWanted ?? isTerminal) ? summaryLines(verdicts, polledTargets(states)) : [],
      failure: worst && `${worst.target} is ${worst.severity} (--fail-on=${failOn}): ${sentenceText(worst.sentence)}`,
    };
  };
}

/** The targets whose polls have all succeeded. */
function polledTargets(states: readonly EndpointState[]): readonly string[] {
  const failing = new Set(states.flatMap(({ success, target }) => (success === undefined ? [target] : [])));
  return [...new Set(states.map(({ target }) => target))].filter((target) => !failing.has(target));
}

/** What one poll proves, worst first, or that nothing is wrong; then what may become an alert. */
function summaryLines(verdicts: readonly Verdict[], targets: readonly string[]): readonly string[] {
  const firing = verdicts.filter(({ state }) => state === 'firing');
  const pending = verdicts.filter(({ state }) => state !== 'firing');
  const lines = firing.map(({ target, severity, sentence }) => `${target}: ${severity}: ${sentenceText(sentence)}`);
  const more = lines.length > MAX_LINES ? [`and ${lines.length - MAX_LINES} more`] : [];
  return [
    ...lines.slice(0, MAX_LINES),
    ...more,
    ...targets
      .filter((target) => !firing.some((own) => own.target === target))
      .map((target) => `${target}: no problem`),
    ...pending.slice(0, MAX_LINES).map(pendingLine),
  ];
}

function pendingLine({ target, severity, sentence, ageSeconds, startSeconds, firesAtSeconds }: Verdict): string {
  const left = duration(firesAtSeconds - startSeconds - ageSeconds);
  return `${target}: building up, ${severity} in ${left}: ${sentenceText(sentence)}`;
}

/** The worst verdict that holds with this severity or a higher one. Only what the data prove to last long enough holds. */
function worstFrom(verdicts: readonly Verdict[], severity: Severity): Verdict | undefined {
  return verdicts.find(
    (verdict) => verdict.state === 'firing' && severities.indexOf(verdict.severity) <= severities.indexOf(severity),
  );
}
