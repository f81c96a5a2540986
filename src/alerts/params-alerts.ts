import { msBetween } from '../clock.js';
import { MINUTE_MS } from '../config/units.js';
import { endpointAlert } from './alert.js';
import { IDENTITY_HOURS, identityChanged } from './identity-changes.js';
import { promDuration } from './promql.js';
import { REMEMBERED_MINUTES, type ChangingFamily } from './poll-history.js';
import { withList } from './sentences.js';
import type { DatedFindings, Finding, PollView } from './view.js';

/* Alerts on changes of the parameters and of the blacklist. */

/** How long an alert on a change fires. */
const CHANGED_MINUTES = 60;

const memory = promDuration(REMEMBERED_MINUTES);

/** A change within the last hour, or since the last sample before it, so that an outage of the node or of the exporter hides none. */
function changedExpr(family: ChangingFamily): string {
  const hour = promDuration(CHANGED_MINUTES);
  return `changes(${family}[${hour}]) > 0
or ${family} != last_over_time(${family}[${memory}] offset ${hour})`;
}

/** A change within the last hour, as far as this process observed it. */
function changed(family: ChangingFamily) {
  return ({ history, now }: PollView<never>): readonly Finding[] => {
    const change = history.changes.get(family);
    if (change?.at === undefined || msBetween(change.at, now) >= CHANGED_MINUTES * MINUTE_MS) return [];
    return [{ labels: {}, value: change.value, start: { kind: 'shown', since: change.at, mayBeOlder: false } }];
  };
}

const sentenceOf =
  (what: string) =>
  ({ duration }: DatedFindings): string =>
    `${what} changed ${duration} ago`;

export const paramsAlerts = [
  endpointAlert({
    name: 'BridgeParamsChanged',
    severity: 'critical',
    document: 'module_state',
    group: 'bridge',
    description: `The contract address, the bridge id or the external chain id changed within the last ${IDENTITY_HOURS} hours: a migration that was announced, or an attack.`,
    ...identityChanged('bridge_params_info'),
    summary:
      'the bridge has another contract, id or external chain: now contract {{ $labels.bridge_external_address }}, id {{ $labels.bridge_id }}, chain {{ $labels.bridge_chain_id }}.',
    action:
      'Check at once that governance or an upgrade announced this contract; if not, warn the validators and stop your relayers and orchestrators.',
    sentence: ({ oldest: { labels }, duration }) =>
      withList(
        `contract, bridge id or external chain changed ${duration} ago`,
        `now contract ${labels['bridge_external_address']}, bridge id ${labels['bridge_id']}, external chain ${labels['bridge_chain_id']}`,
      ),
    // A migration resets the nonces, and changes parameters.
    inhibits: [{ alert: 'BridgeStateRolledBack' }, { alert: 'BridgeParamsChanged', severity: 'info' }],
  }),
  endpointAlert({
    name: 'BridgeParamsChanged',
    severity: 'warning',
    document: 'module_state',
    group: 'bridge',
    description:
      'The list of admins changed within the last hour, or during an outage before it. Admins manage the blacklist and the limits without a proposal.',
    expr: changedExpr('bridge_params_admins_hash'),
    families: ['bridge_params_admins_hash'],
    find: changed('bridge_params_admins_hash'),
    summary: 'the bridge has other admins.',
    action: 'Check that a governance proposal or an upgrade announced the new admins.',
    sentence: sentenceOf('the list of admins'),
    inhibits: [{ alert: 'BridgeParamsChanged', severity: 'info' }],
  }),
  endpointAlert({
    name: 'BridgeParamsChanged',
    severity: 'info',
    document: 'module_state',
    group: 'bridge',
    description: 'A parameter of the bridge changed within the last hour, or during an outage before it.',
    expr: changedExpr('bridge_params_hash'),
    families: ['bridge_params_hash'],
    find: changed('bridge_params_hash'),
    summary: 'bridge parameters changed.',
    action: 'Check that a governance proposal or an upgrade announced the change.',
    sentence: sentenceOf('bridge parameters'),
  }),
  endpointAlert({
    name: 'BridgeBlacklistChanged',
    severity: 'info',
    document: 'module_state',
    group: 'bridge',
    description: 'The external blacklist changed within the last hour, or during an outage before it.',
    expr: changedExpr('bridge_external_blacklist_hash'),
    families: ['bridge_external_blacklist_hash'],
    find: changed('bridge_external_blacklist_hash'),
    summary: 'the blacklist changed.',
    action: 'Ask an admin of the bridge whether the change is intended.',
    sentence: sentenceOf('the blacklist'),
  }),
];
