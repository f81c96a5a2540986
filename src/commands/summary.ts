import { severities, type Severity } from '../alerts/alert.js';
import { verdictsOfOnePoll, type Verdict } from '../alerts/judge.js';
import { initialMemory, memoryAfter, type JudgedEndpoint } from '../alerts/memory.js';
import type { ReportSettings } from '../cli/flags.js';
import type { Instant } from '../clock.js';
import type { EndpointState } from '../poll/endpoint-state.js';

/* What is wrong, by one poll of each endpoint, in the sentences of the status page. */

/** More lines are for the status page. */
const MAX_LINES = 10;

/** An endpoint before and after its only poll. */
interface PolledEndpoint {
  readonly before: EndpointState;
  readonly after: EndpointState;
}

export interface Summary {
  /** Empty unless the summary is wanted. */
  readonly lines: readonly string[];
  /** Which verdict `--fail-on` names; `undefined` if there is none. */
  readonly failure: string | undefined;
}

export type Summarize = (endpoints: readonly PolledEndpoint[], now: Instant) => Summary;

export function createSummarize({ summary: isWanted, failOn }: ReportSettings, isTerminal: boolean): Summarize {
  return (endpoints, now) => {
    const verdicts = verdictsOfFirstPolls(endpoints, now);
    const worst = failOn === undefined ? undefined : worstFrom(verdicts, failOn);
    return {
      lines: (isWanted ?? isTerminal) ? summaryLines(verdicts, polledTargets(endpoints)) : [],
      failure: worst && `${worst.target} is ${worst.severity} (--fail-on=${failOn}): ${worst.summary}`,
    };
  };
}

/** The targets whose polls have all succeeded. */
function polledTargets(endpoints: readonly PolledEndpoint[]): readonly string[] {
  const states = endpoints.map(({ after }) => after);
  const failing = new Set(states.flatMap(({ success, target }) => (success === undefined ? [target] : [])));
  return [...new Set(states.map(({ target }) => target))].filter((target) => !failing.has(target));
}

function verdictsOfFirstPolls(endpoints: readonly PolledEndpoint[], now: Instant): readonly Verdict[] {
  const judged = endpoints.map(({ before, after }): JudgedEndpoint => ({
    state: after,
    memory: memoryAfter({ state: before, memory: initialMemory }, after),
  }));
  return verdictsOfOnePoll(judged, now);
}

/** Worst first, then the targets without a verdict. */
function summaryLines(verdicts: readonly Verdict[], targets: readonly string[]): readonly string[] {
  // What is only for the record and may end soon is no problem.
  const relevant = verdicts.filter(({ state, severity }) => state === 'firing' || severity !== 'info');
  const lines = relevant.map(({ target, severity, state, summary }) =>
    state === 'firing'
      ? `${target}: ${severity}: ${summary}`
      : `${target}: ${severity} if it lasts: ${undated(summary)}`,
  );
  const withoutVerdict = targets.filter((target) => relevant.every((verdict) => verdict.target !== target));
  const shown = [...lines.slice(0, MAX_LINES), ...withoutVerdict.map((target) => `${target}: no problem`)];
  return lines.length > MAX_LINES ? [...shown, `and ${lines.length - MAX_LINES} more`] : shown;
}

/** One poll does not know how long something has lasted. */
function undated(summary: string): string {
  return summary.replace(' for at least 0 s', '');
}

/** The worst verdict that holds with this severity or a higher one. Only what the data prove to last long enough holds. */
function worstFrom(verdicts: readonly Verdict[], severity: Severity): Verdict | undefined {
  return verdicts.find(
    (verdict) => verdict.state === 'firing' && severities.indexOf(verdict.severity) <= severities.indexOf(severity),
  );
}
