import { createClock, type Clock, type Moment } from '../clock.js';
import { documents } from '../documents.js';
import { createEndpoint, createEngine, type Endpoint } from '../engine/engine.js';
import type { EndpointState } from '../engine/endpoint-state.js';
import { createJobs } from '../engine/jobs.js';
import type { EndpointJob, Source } from '../engine/source.js';
import { formatSentence, judgeTargets, type JudgedTarget, type TargetProblem } from '../engine/target-problems.js';
import { renderEndpoints } from '../exposition/metrics-page.js';
import { chooseRemedy } from '../http/failure-reasons.js';
import { severities, type Severity } from '../problems/problem.js';
import { count, durationInWords } from '../text/format.js';
import { configOrExitCode } from './configuration.js';
import { type CommandContext, type ExitCode, userAgent } from './context.js';
import type { OnceFlags } from './flags.js';

/* `once`, and the polls and the output that `replay` shares with it: both read every document once. */

/** `once`: polls every endpoint once and prints the metrics. */
export async function runOnce(options: OnceFlags, context: CommandContext): Promise<ExitCode> {
  const config = await configOrExitCode(context, options);
  if (typeof config === 'number') return config;
  // Not imported for `replay`, because loading it takes as long as starting Node.js.
  const { createNetwork } = await import('../sources/network.js');
  const clock = createClock();
  const network = createNetwork(userAgent(context), clock, context.env);
  try {
    // One document is enough for a problem.
    const jobs = createJobs(config).map((job) => ({ ...job, context: { ...job.context, isSinglePoll: true } }));
    const addedAt = clock().at;
    const endpoints = await pollOnce(
      jobs.map((job) => createEndpoint(job, addedAt)),
      network,
      clock,
    );
    const { summary = context.standardError.isTTY, failOn } = options;
    return reportDocuments(context, endpoints, clock(), { summary, failOn });
  } finally {
    network.close();
  }
}

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

/** Prints metrics, the reasons of failures, and what is wrong. `fileRemedy`: of a failure of a recorded body. */
export function reportDocuments(
  context: CommandContext,
  endpoints: readonly Endpoint[],
  now: Moment,
  { summary = false, failOn, fileRemedy }: Partial<OnceFlags> & { readonly fileRemedy?: string },
): ExitCode {
  const states = endpoints.map(({ state }) => state);
  context.print(renderEndpoints(states, 'text', now));
  let failures = 0;
  for (const { target, document, lastPoll, lastFailure } of states) {
    if (lastPoll?.ok === true || lastFailure === undefined) continue;
    if (!documents[document].isOptional) failures += 1;
    const { error } = lastFailure;
    context.printError(`${target} ${document}: ${error.reason}: ${error.message}`);
    const recordedRemedy = error.reason === 'too_large' ? undefined : fileRemedy;
    context.printError(`  ${recordedRemedy ?? chooseRemedy(error)}`);
  }
  const { lines, failure } = summarize(states, now, failOn);
  if (summary) for (const line of lines) context.printError(line);
  if (failure !== undefined) {
    context.printError(`exit 3: --fail-on=${failOn}: ${failure}`);
    return 3;
  }
  if (failures === 0) return 0;
  context.printError(`exit 1: ${failures} of ${count(endpoints.length, 'document')} failed`);
  return 1;
}

/** "demo: critical: batch 7 …, for 12 min; …", or what builds up: "demo: critical in 12 min: …". */
export function problemLine(problem: TargetProblem): string {
  const { target, severity, state, ageSeconds, startSeconds, firesAtSeconds } = problem;
  const when = state === 'firing' ? '' : ` in ${durationInWords(firesAtSeconds - startSeconds - ageSeconds)}`;
  return `${target}: ${severity}${when}: ${formatSentence(problem)}`;
}

export interface Summary {
  readonly lines: readonly string[];
  /** The problem for which `--fail-on` ends with an error; `undefined` if there is none. */
  readonly failure: string | undefined;
}

/** The problems that a single poll of each endpoint proves, without failures of polls, which have their own lines. */
export function summarize(states: readonly EndpointState[], now: Moment, failOn?: Severity): Summary {
  const targets = judgeTargets(states, now);
  const isPolled = ({ target, document }: Pick<TargetProblem, 'target' | 'document'>): boolean =>
    states.some((state) => state.target === target && state.document === document && state.lastSuccess !== undefined);
  const problems = targets.flatMap((target) => target.problems).filter(({ hiddenBy }) => hiddenBy === null);
  const firing = problems.filter(({ state }) => state === 'firing');
  const worst = firing.find(
    ({ severity }) => failOn !== undefined && severities.indexOf(severity) <= severities.indexOf(failOn),
  );
  const shown = [...firing, ...problems.filter(({ state }) => state !== 'firing')].filter(isPolled);
  const isHealthy = ({ target }: JudgedTarget): boolean =>
    !firing.some((problem) => problem.target === target && isPolled(problem)) &&
    states.every((state) => state.target !== target || isPolled(state));
  return {
    lines: [
      ...shown.map(problemLine),
      ...targets.filter(isHealthy).map(({ target }) => `${target}: no problem that one poll can prove`),
      ...targets.flatMap(({ target, notJudgedHere }) =>
        notJudgedHere.length === 0 ? [] : [`${target}: not judged by this poll: ${notJudgedHere.join(', ')}`],
      ),
    ],
    failure: worst && problemLine(worst),
  };
}
