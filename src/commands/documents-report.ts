import type { Config } from '../config/config.js';
import { documents } from '../documents.js';
import { renderEndpoints } from '../exposition/metrics-page.js';
import { remedyOf } from '../http/failure-reasons.js';
import { clock } from '../clock.js';
import { initialState, stateAfter } from '../poll/endpoint-state.js';
import type { PollResult, DecodeOptions, Snapshot } from '../poll/poll.js';
import { count } from '../text/format.js';
import { type CommandContext, type ExitCode, printWarnings } from './context.js';
import type { Summarize } from './summary.js';

/* The output of `once` and `replay`, which read every document once. */

export interface ReadDocument {
  readonly options: DecodeOptions;
  readonly result: PollResult;
}

const plurals = { poll: 'polls', 'recorded body': 'recorded bodies' } as const;

const FILE_REMEDY = 'Check that it is the unchanged body of a response, and of the document that the flag names.';

/** Prints the metrics of the documents that could be read, and the reasons of the others. `summarize` is absent for recorded bodies. */
export function printDocuments(
  context: CommandContext,
  { poll }: Config,
  read: readonly ReadDocument[],
  warnings: readonly string[],
  noun: keyof typeof plurals,
  summarize?: Summarize,
): ExitCode {
  const now = clock();
  const endpoints = read.map(({ options, result }) => {
    const before = initialState(options, poll, now);
    return { before, after: stateAfter(before, result, now) };
  });
  const states = endpoints.map(({ after }) => after);
  context.print(renderEndpoints(states, 'text', now));
  // Failures first: a warning about the same endpoint is most likely a consequence.
  let failures = 0;
  for (const { options, result } of read) {
    if (result.outcome.ok) continue;
    if (!documents[options.document].isOptional) failures += 1;
    const { error } = result.outcome;
    const { reason, message } = error;
    const remedy = noun === 'poll' || reason === 'too_large' ? remedyOf(error, options.document) : FILE_REMEDY;
    context.printError(`${options.target} ${options.document}: ${reason}: ${message}`);
    context.printError(`  ${remedy}`);
  }
  const summary = summarize?.(endpoints, now);
  for (const line of summary?.lines ?? []) context.printError(line);
  printWarnings(context, warnings);
  if (summary?.failure !== undefined) {
    context.printError(`exit 3: ${summary.failure}`);
    return 3;
  }
  if (failures === 0) return 0;
  context.printError(`exit 1: ${failures} of ${count(read.length, noun, plurals[noun])} failed`);
  return 1;
}

/** A warning if addresses of `bridge.watch` are in no validator. `name` is the target or the file. */
export function inactiveWatched(name: string, options: DecodeOptions, { families }: Snapshot): string[] {
  const seriesOf = (family: string) => families.find((own) => own.name === family);
  // Without it, the members of the validator set are unknown.
  if (options.document !== 'module_state' || seriesOf('bridge_orchestrator_info') === undefined) return [];
  const entries = seriesOf('bridge_watched_validator_active')?.samples ?? [];
  const active = new Set(entries.filter(({ value }) => value === 1).map(({ labels }) => labels['address']));
  const inactive = options.settings.watch.filter((address) => !active.has(address));
  if (inactive.length === 0) return [];
  return [`${name}: no member of the newest validator set has an address of bridge.watch: ${inactive.join(', ')}`];
}
