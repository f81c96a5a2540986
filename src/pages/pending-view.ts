import { exportedSuccess, type EndpointKey, type EndpointState } from '../poll/endpoint-state.js';
import { keptInput } from '../poll/items.js';
import type { Contacts } from '../queries/validators.js';
import type { Instant } from '../clock.js';
import { samplesOf } from '../metrics/samples.js';
import type { EndpointMemories } from '../poll/known-endpoint.js';
import type { EndedProblem } from '../problems/memory.js';
import type { TargetVerdicts } from '../poll/verdicts.js';
import { searchCctxs, type SearchResult } from '../facts/items/search.js';
import { blockingValidators, type BlockingValidator } from './blocking.js';
import { withContacts, type ContactsByTarget } from './contacts.js';
import { endpointView, type EndpointView } from './endpoint-view.js';
import type { ExternalLinks } from './external-links.js';
import { resolvedProblems, type ResolvedProblem } from './resolved.js';
import { firingVerdicts, targetJson, targetViews, type TargetJson, type TargetView } from './target-view.js';
import { isoTime } from './time.js';

/** What `/pending` shows. */
export interface PendingView {
  readonly generatedAt: string;
  readonly endpoints: readonly EndpointView[];
  readonly targets: readonly PendingTarget[];
  /** The cross-chain transactions of the target that match `?q=`; `null` without it, for several targets, and without their lists. */
  readonly search: SearchResult | null;
}

export interface PendingTarget extends TargetView {
  /** The validators that are late to sign or vote; `null` without a bridge whose items are shown. */
  readonly blocking: readonly BlockingValidator[] | null;
  /** The problems that have ended within a week, the newest first. */
  readonly resolved: readonly ResolvedProblem[];
}

/** The JSON of `/pending`, whose keys are fixed: new ones can be added. */
export interface PendingJson extends Omit<PendingView, 'targets'> {
  readonly targets: readonly TargetJson<PendingTarget>[];
}

export function pendingJson({ generatedAt, endpoints, targets, search }: PendingView): PendingJson {
  return { generatedAt, endpoints, targets: targets.map((target) => targetJson(target)), search };
}

/** All targets, or the one with a name; `undefined` if there is no such target. */
export function pendingView(
  states: readonly EndpointState[],
  verdicts: readonly TargetVerdicts[],
  links: ExternalLinks,
  now: Instant,
  name?: string,
  query?: string,
  { memories, contacts }: { readonly memories?: EndpointMemories; readonly contacts?: ContactsByTarget } = {},
): PendingView | undefined {
  const isSelected = ({ target }: { readonly target: string }): boolean => name === undefined || target === name;
  const endpoints = states.filter(isSelected).map((state) => endpointView(state, now, memories?.get(state)));
  if (name !== undefined && endpoints.length === 0) return undefined;
  const targets = targetViews(verdicts.filter(isSelected), endpoints, links).map((view) => ({
    ...view,
    blocking: blockingOf(states, endpoints, view, contacts?.get(view.target)),
    resolved: resolvedProblems(endedIn(states, view, memories), now),
  }));
  const search = query === undefined || targets.length !== 1 ? null : searchIn(states.filter(isSelected), query, now);
  return { generatedAt: isoTime(now.epochSeconds), endpoints, targets, search };
}

function endedIn(
  states: readonly EndpointState[],
  { target }: TargetView,
  memories: EndpointMemories | undefined,
): readonly EndedProblem[] {
  const own = states.filter((state) => state.target === target);
  return own.flatMap((state) => memories?.get(state)?.problems.ended ?? []);
}

function searchIn(states: readonly EndpointState[], query: string, now: Instant): SearchResult | null {
  const state = states.find(({ document }) => document === 'rate_limiter_input');
  const snapshot = state && exportedSuccess(state, now)?.snapshot;
  const input = snapshot?.document === 'rate_limiter_input' ? keptInput(snapshot) : undefined;
  return input === undefined ? null : searchCctxs(input, query);
}

function blockingOf(
  states: readonly EndpointState[],
  endpoints: readonly EndpointView[],
  view: TargetView,
  contacts: Contacts | undefined,
): readonly BlockingValidator[] | null {
  const isBridge = ({ target, document }: EndpointKey): boolean =>
    target === view.target && document === 'module_state';
  const items = endpoints.find(isBridge)?.items;
  if (items?.document !== 'module_state') return null;
  const snapshot = states.find(isBridge)?.success?.snapshot;
  const samples = samplesOf(snapshot?.families ?? []);
  return withContacts(blockingValidators(items, samples, firingVerdicts(view)), samples, contacts);
}
