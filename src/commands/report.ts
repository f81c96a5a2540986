import { severities, type Severity } from '../alerts/alert.js';
import type { KnownEndpoint } from '../alerts/endpoint-memory.js';
import { verdictsOfOnePoll, type Verdict } from '../alerts/judge.js';
import { sentenceText } from '../alerts/sentences.js';
import type { SummaryOptions } from '../cli/options.js';
import { clock, type Instant } from '../clock.js';
import { documents } from '../documents.js';
import { renderEndpoints } from '../exposition/metrics-page.js';
import { remedyOf } from '../http/failure-reasons.js';
import type { StepContext } from '../poll/step.js';
import { count } from '../text/format.js';
import { type CommandContext, type ExitCode, printWarnings } from './context.js';

/* The output of `once` and `replay`, which read every document once. */

/** An endpoint after its only poll. */
export interface ReadEndpoint extends KnownEndpoint {
  readonly context: StepContext;
}

const plurals = { poll: 'polls', 'recorded body': 'recorded bodies' } as const;

const FILE_REMEDY = 'Check that it is the unchanged body of a response, and of the document that the flag names.';

/** Prints the metrics of the documents that could be read, and the reasons of the others. Recorded bodies have no summary. */
export function printDocuments(
  context: CommandContext,
  endpoints: readonly ReadEndpoint[],
  warnings: readonly string[],
  noun: keyof typeof plurals,
  options: SummaryOptions = { summary: false },
): ExitCode {
  const now = clock();
  const states = endpoints.map(({ state }) => state);
  context.print(renderEndpoints(states, 'text', now));
  // Failures first: a warning about the same endpoint is most likely a consequence.
  let failures = 0;
  for (const { target, document, last, failure } of states) {
    if (last?.ok === true || failure === undefined) continue;
    if (!documents[document].isOptional) failures += 1;
    const { error } = failure;
    const { reason, message } = error;
    const remedy = noun === 'poll' || reason === 'too_large' ? remedyOf(error, document) : FILE_REMEDY;
    context.printError(`${target} ${document}: ${reason}: ${message}`);
    context.printError(`  ${remedy}`);
  }
  const { lines, failure: verdict } = summarize(endpoints, now, options);
  if (options.summary ?? context.isTerminal) for (const line of lines) context.printError(line);
  printWarnings(context, warnings);
  if (verdict !== undefined) {
    context.printError(`exit 3: ${verdict}`);
    return 3;
  }
  if (failures === 0) return 0;
  context.printError(`exit 1: ${failures} of ${count(endpoints.length, noun, plurals[noun])} failed`);
  return 1;
}

/** A warning if addresses of `bridge.watch` are in no validator. `name` is the target or the file. */
export function inactiveWatched(name: string, { context: options, state }: ReadEndpoint): string[] {
  const seriesOf = (family: string) => state.success?.snapshot.families.find((own) => own.name === family);
  // Without it, the members of the validator set are unknown.
  if (options.document !== 'module_state' || seriesOf('bridge_orchestrator_info') === undefined) return [];
  const entries = seriesOf('bridge_watched_validator_active')?.samples ?? [];
  const active = new Set(entries.filter(({ value }) => value === 1).map(({ labels }) => labels['address']));
  const inactive = options.settings.watch.filter((address) => !active.has(address));
  if (inactive.length === 0) return [];
  return [`${name}: no member of the newest validator set has an address of bridge.watch: ${inactive.join(', ')}`];
}

/** More lines are for the status page. */
const MAX_LINES = 10;

export interface Summary {
  readonly lines: readonly string[];
  /** Which verdict `--fail-on` names; `undefined` if there is none. */
  readonly failure: string | undefined;
}

/** What is wrong, by one poll of each endpoint, in the sentences of the status page. */
export function summarize(endpoints: readonly KnownEndpoint[], now: Instant, { failOn }: SummaryOptions): Summary {
  const verdicts = verdictsOfOnePoll(endpoints, now).filter(({ inhibitedBy }) => inhibitedBy === null);
  const worst = failOn === undefined ? undefined : worstFrom(verdicts, failOn);
  return {
    lines: summaryLines(verdicts, polledTargets(endpoints)),
    failure: worst && `${worst.target} is ${worst.severity} (--fail-on=${failOn}): ${sentenceText(worst.sentence)}`,
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
