import type { KnownEndpoint } from '../poll/known-endpoint.js';
import { keptInput } from '../poll/items.js';
import { registeredMembers, watchedEntries } from '../facts/bridge/orchestrators.js';
import { orEmpty } from '../facts/required-fields.js';
import { documents } from '../documents.js';
import { renderEndpoints } from '../exposition/metrics-page.js';
import { remedyOf } from '../http/failure-reasons.js';
import { clock } from '../clock.js';
import type { StepContext } from '../poll/step.js';
import { count } from '../text/format.js';
import { type CommandContext, type ExitCode, printWarnings } from './context.js';
import type { Summarize } from './summary.js';

/* The output of `once` and `replay`, which read every document once. */

/** An endpoint after its only poll. */
export interface ReadEndpoint extends KnownEndpoint {
  readonly context: StepContext;
}

const plurals = { poll: 'polls', 'recorded body': 'recorded bodies' } as const;

const FILE_REMEDY = 'Check that it is the unchanged body of a response, and of the document that the flag names.';

/** Prints the metrics of the documents that could be read, and the reasons of the others. `summarize` is absent for recorded bodies. */
export function printDocuments(
  context: CommandContext,
  endpoints: readonly ReadEndpoint[],
  warnings: readonly string[],
  noun: keyof typeof plurals,
  summarize?: Summarize,
): ExitCode {
  const now = clock();
  context.print(
    renderEndpoints(
      endpoints.map(({ state }) => state),
      'text',
      now,
    ),
  );
  // Failures first: a warning about the same endpoint is most likely a consequence.
  let failures = 0;
  for (const { target, document, last, failure } of endpoints.map(({ state }) => state)) {
    if (last?.ok === true || failure === undefined) continue;
    if (!documents[document].isOptional) failures += 1;
    const { error } = failure;
    const { reason, message } = error;
    const remedy = noun === 'poll' || reason === 'too_large' ? remedyOf(error, document) : FILE_REMEDY;
    context.printError(`${target} ${document}: ${reason}: ${message}`);
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
  context.printError(`exit 1: ${failures} of ${count(endpoints.length, noun, plurals[noun])} failed`);
  return 1;
}

/** A warning if addresses of `bridge.watch` are in no validator. `name` is the target or the file. */
export function inactiveWatched(name: string, { context: { document, settings }, state: { success } }: ReadEndpoint) {
  if (document !== 'module_state' || success?.snapshot.document !== document || settings.watch.length === 0) return [];
  const input = keptInput(success.snapshot);
  // Without members, it is unknown who is one.
  if (input === undefined || orEmpty(() => registeredMembers(input)).length === 0) return [];
  const entries = orEmpty(() => watchedEntries(input));
  const inactive = settings.watch.filter(
    (own) => !entries.some(({ address, isActive }) => isActive && address === own),
  );
  if (inactive.length === 0) return [];
  return [`${name}: no member of the newest validator set has an address of bridge.watch: ${inactive.join(', ')}`];
}
