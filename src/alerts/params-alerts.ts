import { endpointAlert } from './alert.js';
import { promDuration } from './promql.js';
import { MINUTE_MS, msBetween, type ChangingFamily, type Finding, type PollView } from './view.js';

/* Alerts on changes of the parameters and of the blacklist. */

/** The range keeps the alert active for an hour. */
const CHANGED_MINUTES = 60;

/** A change within the last hour, as far as this process observed it. */
function changed(family: ChangingFamily) {
  return ({ history, now }: PollView<never>): readonly Finding[] => {
    const change = history.changes.get(family);
    if (change?.at === undefined || msBetween(change.at, now) >= CHANGED_MINUTES * MINUTE_MS) return [];
    return [{ labels: {}, value: change.value, since: change.at }];
  };
}

export const paramsAlerts = [
  endpointAlert({
    name: 'BridgeParamsChanged',
    severity: 'info',
    document: 'module_state',
    group: 'bridge',
    comment: 'Only governance or an upgrade changes parameters. The range keeps the alert active for an hour.',
    when: 'A parameter of the bridge changed within the last hour.',
    expr: `changes(bridge_params_hash[${promDuration(CHANGED_MINUTES)}]) > 0`,
    families: ['bridge_params_hash'],
    find: changed('bridge_params_hash'),
    summary: 'bridge parameters changed.',
    description: 'The parameters of {{ $labels.target }} changed {{ $value }} times in the last hour.',
    action: 'Check that a governance proposal or an upgrade announced the change.',
    sentence: ({ duration }) => `bridge parameters changed ${duration} ago`,
  }),
  endpointAlert({
    name: 'BridgeBlacklistChanged',
    severity: 'info',
    document: 'module_state',
    group: 'bridge',
    when: 'The external blacklist changed within the last hour.',
    expr: `changes(bridge_external_blacklist_hash[${promDuration(CHANGED_MINUTES)}]) > 0`,
    families: ['bridge_external_blacklist_hash'],
    find: changed('bridge_external_blacklist_hash'),
    summary: 'the blacklist changed.',
    description: 'The external blacklist of {{ $labels.target }} changed {{ $value }} times in the last hour.',
    action: 'Ask an admin of the bridge whether the change is intended.',
    sentence: ({ duration }) => `the blacklist changed ${duration} ago`,
  }),
];
