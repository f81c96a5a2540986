import type { Clock, Moment } from '../clock.js';
import { documentNames, type DocumentName } from '../document-types.js';
import { documents } from '../documents.js';
import { renderEndpoints } from '../exposition/metrics-page.js';
import { registeredMembers, watchedEntries } from '../facts/bridge/orchestrators.js';
import { countTokensWithoutMinimum } from '../facts/bridge/tokens.js';
import { orEmpty, orUndefined } from '../facts/required-fields.js';
import { chooseRemedy } from '../http/failure-reasons.js';
import { createEngine, type Endpoint } from '../engine/engine.js';
import { isDocument, type EndpointState } from '../engine/endpoint-state.js';
import type { EndpointJob, Source } from '../engine/source.js';
import { keptInput } from '../engine/kept-body.js';
import { severities, type Severity } from '../problems/problem.js';
import { problems } from '../problems/problems.js';
import { unknownMinimumsText } from '../problems/sentence.js';
import { formatSentence, listVerdicts, type TargetVerdicts, type Verdict } from '../engine/verdicts.js';
import { count, durationInWords } from '../text/format.js';
import { type CommandContext, type ExitCode, printWarnings } from './context.js';
import type { OnceFlags } from './flags.js';

/* `once` and `replay`, which read every document once: their polls and their output. */

/** Polls each endpoint once. */
export async function pollOnce<Job extends EndpointJob>(
  endpoints: readonly Endpoint<Job>[],
  source: Source<Job>,
  now: Clock,
): Promise<readonly Endpoint<Job>[]> {
  const engine = createEngine({ source, now });
  engine.replace(endpoints);
  const poll = async ({ job }: Endpoint<Job>): Promise<void> => (await engine.poll(job)).settled;
  const isFirst = ({ job: { context } }: Endpoint<Job>): boolean => documents[context.document].after === undefined;
  await Promise.all(endpoints.filter(isFirst).map(poll));
  await Promise.all(endpoints.filter((endpoint) => !isFirst(endpoint)).map(poll));
  return engine.endpoints();
}

const plurals = { poll: 'polls', 'recorded body': 'recorded bodies' } as const;

const FILE_REMEDY = 'Check that it is the unchanged body of a response, and of the document that the flag names.';

/** Prints metrics and the reasons of failures. Recorded bodies have no summary. */
export function reportDocuments(
  context: CommandContext,
  endpoints: readonly Endpoint[],
  warnings: readonly string[],
  noun: keyof typeof plurals,
  now: Moment,
  { summary, failOn }: Partial<OnceFlags> = { summary: false },
): ExitCode {
  const states = endpoints.map(({ state }) => state);
  context.print(renderEndpoints(states, 'text', now));
  // Failures first: a warning about the same endpoint is most likely a consequence.
  let failures = 0;
  for (const { target, document, lastPoll, lastFailure } of states) {
    if (lastPoll?.ok === true || lastFailure === undefined) continue;
    if (!documents[document].isOptional) failures += 1;
    const { error } = lastFailure;
    context.printError(`${target} ${document}: ${error.reason}: ${error.message}`);
    const isFile = noun === 'recorded body' && error.reason !== 'too_large';
    context.printError(`  ${isFile ? FILE_REMEDY : chooseRemedy(error, document)}`);
  }
  const { lines, failure: verdict } = summarize(states, now, failOn);
  if (summary ?? context.standardError.isTTY) for (const line of lines) context.printError(line);
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
export function inactiveWatched(name: string, { job: { context }, state: { lastSuccess } }: Endpoint) {
  const { document, settings } = context;
  const snapshot = lastSuccess?.snapshot;
  if (document !== 'module_state' || !isDocument(document, snapshot) || settings.watch.length === 0) return [];
  const input = keptInput(snapshot);
  if (input === undefined || orEmpty(() => registeredMembers(input)).length === 0) return [];
  const entries = orEmpty(() => watchedEntries(input));
  const inactive = entries.flatMap(({ address, isActive }) => (isActive === false ? [address] : []));
  if (inactive.length === 0) return [];
  return [`${name}: no member of the newest validator set has an address of bridge.watch: ${inactive.join(', ')}`];
}

/** More lines are for the status page. */
const MAX_LINES = 10;

export interface Summary {
  readonly lines: readonly string[];
  /** The verdict for which `--fail-on` ends with an error; `undefined` if there is none. */
  readonly failure: string | undefined;
}

/** The problems that a single poll of each endpoint proves, without failures of polls. */
export function summarize(states: readonly EndpointState[], now: Moment, failOn?: Severity): Summary {
  const targets = listVerdicts(states, now);
  const polled = states.filter(({ lastSuccess }) => lastSuccess !== undefined);
  const verdicts = targets.flatMap((target) => target.verdicts).filter(({ hiddenBy }) => hiddenBy === null);
  const firing = verdicts.filter(({ state }) => state === 'firing');
  const worst = firing.find(
    ({ severity }) => failOn !== undefined && severities.indexOf(severity) <= severities.indexOf(failOn),
  );
  const isPolled = ({ target, document }: Verdict): boolean =>
    polled.some((state) => state.target === target && state.document === document);
  const proven = firing.filter(isPolled);
  const isHealthy = ({ target }: TargetVerdicts): boolean =>
    !proven.some((verdict) => verdict.target === target) &&
    states.every((state) => state.target !== target || state.lastSuccess !== undefined);
  return {
    lines: [
      ...proven
        .slice(0, MAX_LINES)
        .map((verdict) => `${verdict.target}: ${verdict.severity}: ${formatSentence(verdict)}`),
      ...(proven.length > MAX_LINES ? [`and ${proven.length - MAX_LINES} more`] : []),
      ...targets.filter(isHealthy).map(({ target }) => `${target}: no problem that one poll can prove`),
      ...verdicts
        .filter((verdict) => verdict.state !== 'firing' && isPolled(verdict))
        .slice(0, MAX_LINES)
        .map(buildingUpLine),
      ...targets.flatMap((target) => notJudgedLines(target, states)),
      ...polled.flatMap(unknownMinimumsLine),
    ],
    failure: worst && `${worst.target} is ${worst.severity} (--fail-on=${failOn}): ${formatSentence(worst)}`,
  };
}

function buildingUpLine(verdict: Verdict): string {
  const { target, severity, ageSeconds, startSeconds, firesAtSeconds } = verdict;
  const left = durationInWords(firesAtSeconds - startSeconds - ageSeconds);
  return `${target}: building up, ${severity} in ${left}: ${formatSentence(verdict)}`;
}

/** Problems that the node does not serve or that need several polls, and documents not judged. */
function notJudgedLines(
  { target, notJudgedHere }: TargetVerdicts,
  states: readonly EndpointState[],
): readonly string[] {
  const byDocument = new Map(states.filter((state) => state.target === target).map((state) => [state.document, state]));
  const isPolled = (document: DocumentName): boolean => byDocument.get(document)?.lastSuccess !== undefined;
  const missing = documentNames
    .filter((document) => !isPolled(document))
    .map((document) => `${document} (${byDocument.has(document) ? 'its poll failed' : 'not configured'})`);
  const judged = problems.filter(({ document }) => isPolled(document));
  const provable = new Set(judged.flatMap(({ name, needsTime }) => (needsTime ? [] : [name])));
  const names = new Set([...notJudgedHere, ...judged.map(({ name }) => name).filter((name) => !provable.has(name))]);
  return [
    ...(names.size === 0 ? [] : [`${target}: not judged by this poll: ${Array.from(names).join(', ')}`]),
    ...(missing.length === 0 ? [] : [`${target}: nothing is judged of ${missing.join(', ')}`]),
  ];
}

/** Whether batches should be built and relayed depends on the fees that pay for them. */
function unknownMinimumsLine({ target, lastSuccess }: EndpointState): readonly string[] {
  const snapshot = lastSuccess?.snapshot;
  const input = isDocument('module_state', snapshot) ? keptInput(snapshot) : undefined;
  const text = input && unknownMinimumsText(orUndefined(() => countTokensWithoutMinimum(input)) ?? 0);
  return text ? [`${target}: ${text}`] : [];
}
