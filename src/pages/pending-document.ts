import type { EndpointStore } from '../poll/endpoint-store.js';
import type { Instant } from '../poll/clock.js';
import type { TargetVerdicts } from '../verdicts/verdict.js';
import { blockingValidators, type BlockingValidator } from './blocking.js';
import { endpointViews, type EndpointView } from './endpoint-view.js';
import type { ExternalLinks } from './external-links.js';
import { targetViews, type TargetView } from './target-view.js';
import { isoTime } from './time.js';

/** The JSON of `/pending`, whose keys are fixed: new ones can be added. */
export interface PendingDocument {
  readonly generatedAt: string;
  readonly endpoints: readonly EndpointView[];
  readonly targets: readonly PendingTarget[];
}

export interface PendingTarget extends TargetView {
  /** `null` without a bridge whose items are shown. */
  readonly blocking: readonly BlockingValidator[] | null;
}

/** All targets, or the one with a name; `undefined` if there is no such target. */
export function pendingDocument(
  store: EndpointStore,
  verdicts: readonly TargetVerdicts[],
  links: ExternalLinks,
  now: Instant,
  name?: string,
): PendingDocument | undefined {
  const isSelected = ({ target }: { readonly target: string }): boolean => name === undefined || target === name;
  const endpoints = endpointViews(store, now).filter(isSelected);
  if (name !== undefined && endpoints.length === 0) return undefined;
  const targets = targetViews(verdicts.filter(isSelected), endpoints, links, now).map((view) => ({
    ...view,
    blocking: blockingOf(endpoints, view.target),
  }));
  return { generatedAt: isoTime(now.epochSeconds), endpoints, targets };
}

function blockingOf(endpoints: readonly EndpointView[], name: string): readonly BlockingValidator[] | null {
  for (const { target, items } of endpoints) {
    if (target === name && items?.document === 'module_state') return blockingValidators(items);
  }
  return null;
}
