import type { SummaryOptions } from '../cli/options.js';
import { clock, type Instant } from '../clock.js';
import type { StepContext } from '../document-types.js';
import { documents } from '../documents.js';
import { renderEndpoints } from '../exposition/metrics-page.js';
import { registeredMembers, watchedEntries } from '../facts/bridge/orchestrators.js';
import { countTokensWithoutMinimum } from '../facts/bridge/tokens.js';
import { orEmpty, orUndefined } from '../facts/required-fields.js';
import { remedyOf } from '../http/failure-reasons.js';
import { isOf, type EndpointState } from '../poll/endpoint-state.js';
import { keptInput } from '../poll/kept-body.js';
import { severities, type Severity } from '../problems/problem.js';
import { problems } from '../problems/problems.js';
import { sentenceText, unknownMinimumsText } from '../problems/sentence.js';
import { verdictsOf, type TargetVerdicts, type Verdict } from '../poll/verdicts.js';
import { count, duration } from '../text/format.js';
import { type CommandContext, type ExitCode, printWarnings } from './context.js';

/* The output of `once` and `replay`, which read every document once. */

/** An endpoint after its only poll. */
export interface ReadEndpoint {
  readonly state: EndpointState;
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
  const { lines, failure: verdict } = summarize(
    endpoints.map(({ state }) => state),
    now,
    options,
  );
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
export function inactiveWatched(name: string, { context: { document, settings }, state: { success } }: ReadEndpoint) {
  const snapshot = success?.snapshot;
  if (document !== 'module_state' || !isOf(document, snapshot) || settings.watch.length === 0) return [];
  const input = keptInput(snapshot);
  // Without members, it is unknown who is one.
  if (input === undefined || orEmpty(() => registeredMembers(input)).length === 0) return [];
  const entries = orEmpty(() => watchedEntries(input));
  const inactive = settings.watch.filter(
    (watched) => !entries.some(({ address, isActive }) => isActive && address === watched),
  );
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

/** What is wrong, by one poll of each endpoint, in the sentences of the status page. What has failed is printed before. */
export function summarize(states: readonly EndpointState[], now: Instant, { failOn }: SummaryOptions): Summary {
  const targets = verdictsOf(states, now);
  const verdicts = targets.flatMap((target) => target.verdicts).filter(({ inhibitedBy }) => inhibitedBy === null);
  const worst = failOn === undefined ? undefined : worstFrom(verdicts, failOn);
  const polled = states.filter(({ success }) => success !== undefined);
  const isPolled = (verdict: Verdict): boolean =>
    polled.some(({ target, document }) => verdict.target === target && verdict.document === document);
  return {
    lines: [
      ...summaryLines(verdicts.filter(isPolled), polledTargets(states)),
      ...targets.flatMap((target) => notJudgedLine(target, polled)),
      ...polled.flatMap(unknownMinimumsLine),
    ],
    failure: worst && `${worst.target} is ${worst.severity} (--fail-on=${failOn}): ${sentenceText(worst.sentence)}`,
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
      .filter((target) => !firing.some((verdict) => verdict.target === target))
      .map((target) => `${target}: no problem that one poll can prove`),
    ...pending.slice(0, MAX_LINES).map(pendingLine),
  ];
}

/** What the node has not served the fields for, and what one poll never proves. */
function notJudgedLine({ target, notJudgedHere }: TargetVerdicts, polled: readonly EndpointState[]): readonly string[] {
  const polledDocuments = new Set(polled.flatMap((state) => (state.target === target ? [state.document] : [])));
  const judged = problems.filter(({ document }) => polledDocuments.has(document));
  const provable = new Set(judged.flatMap(({ name, needsTime }) => (needsTime ? [] : [name])));
  const names = new Set([...notJudgedHere, ...judged.map(({ name }) => name).filter((name) => !provable.has(name))]);
  return names.size === 0 ? [] : [`${target}: not judged by this poll: ${Array.from(names).join(', ')}`];
}

/** Whether somebody should take transfers depends on what they pay. */
function unknownMinimumsLine({ target, success }: EndpointState): readonly string[] {
  const snapshot = success?.snapshot;
  const input = isOf('module_state', snapshot) ? keptInput(snapshot) : undefined;
  const text = input && unknownMinimumsText(orUndefined(() => countTokensWithoutMinimum(input)) ?? 0);
  return text ? [`${target}: ${text}`] : [];
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
