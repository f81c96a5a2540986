import type { WatchedItem } from '../facts/items/items.js';
import { backlogStatistics, type StatisticView } from './backlog.js';
import type { EndpointStatus } from './endpoint-view.js';
import type { StatusView } from './status-page.js';
import { targetJson, type TargetJson } from './target-view.js';

/** An endpoint in the JSON of the status page, whose keys are fixed. The items themselves are in that of `/pending`. */
interface EndpointJson extends Pick<
  EndpointStatus,
  | 'target'
  | 'document'
  | 'host'
  | 'availability'
  | 'up'
  | 'asOf'
  | 'ageSeconds'
  | 'shown'
  | 'lastFailure'
  | 'withdrawal'
  | 'invalidFields'
  | 'flow'
  | 'node'
> {
  /** The numbers of the page; `null` unless the last success is shown. */
  readonly backlog: readonly StatisticView[] | null;
  /** One for each entry of `watch`. */
  readonly watched: readonly WatchedItem[];
}

export interface StatusJson extends Omit<StatusView, 'endpoints' | 'targets'> {
  readonly targets: readonly TargetJson[];
  readonly endpoints: readonly EndpointJson[];
}

/** What the status page shows, with the same numbers. */
export function statusJson(document: StatusView): StatusJson {
  const { generatedAt, targets, validatorNames, instance } = document;
  const views = new Map(targets.map((view) => [view.target, view]));
  const endpoints = document.endpoints.map((endpoint): EndpointJson => {
    const { target, items } = endpoint;
    const view = views.get(target);
    return {
      target,
      document: endpoint.document,
      host: endpoint.host,
      availability: endpoint.availability,
      up: endpoint.up,
      asOf: endpoint.asOf,
      ageSeconds: endpoint.ageSeconds,
      shown: endpoint.shown,
      lastFailure: endpoint.lastFailure,
      withdrawal: endpoint.withdrawal,
      invalidFields: endpoint.invalidFields,
      flow: endpoint.flow,
      node: endpoint.node,
      backlog: view === undefined || items === null ? null : backlogStatistics(view, items, Date.parse(generatedAt)),
      watched: items?.document === 'module_state' ? items.watched : [],
    };
  });
  return { generatedAt, targets: targets.map((target) => targetJson(target)), endpoints, validatorNames, instance };
}
