import type { WatchedOrchestrator } from '../facts/bridge/bridge-input.js';
import { watchedOrchestrators } from '../facts/bridge/registrations.js';
import { toLabelValue } from '../facts/plain-values.js';
import { WITHDRAWN } from '../facts/required-fields.js';
import type { NodeQuery } from '../queries/query.js';
import type { Evidence, Finding, Findings, Found, Subject } from './problem.js';
import { yourValidator } from './sentence.js';

/* What the answers of the node say about the validators of `watch`. */

export const identifySubject = ({ orchestrator }: WatchedOrchestrator): Subject => ({
  orchestrator: toLabelValue(orchestrator),
  watched: 'true',
});

export function yours({ orchestrator: address, name, hasNamesake }: WatchedOrchestrator): string {
  return yourValidator({ name, address, hasNamesake });
}

/** The finding in an answer about a validator; `undefined` for none, `null` if the answer does not show it. */
export type FoundInAnswer = Omit<Found, 'subject'> | undefined | null;

/**
 * The findings in the new answers about watched validators. A validator without a new answer keeps those of its last
 * one (BridgeWatchedValidatorUnknown fires if no more come). Withdrawn before the node has answered about any.
 */
export function eachAnswered<Value>(
  { input, newAnswers, answeredAt }: Evidence<'module_state'>,
  query: Pick<NodeQuery<unknown, Value>, 'name' | 'getAnswer'>,
  find: (watched: WatchedOrchestrator, value: Value, who: string) => FoundInAnswer,
): Findings {
  const all = watchedOrchestrators(input);
  const isAnswered = all.some(({ orchestrator }) => answeredAt(query.name, orchestrator) !== undefined);
  if (all.length > 0 && !isAnswered) throw WITHDRAWN;
  return all.map((watched): Finding => {
    const value = query.getAnswer(newAnswers, watched.orchestrator);
    const found = value === undefined ? null : find(watched, value, yours(watched));
    const subject = identifySubject(watched);
    return found === null ? { notShown: subject } : found && { ...found, subject };
  });
}
