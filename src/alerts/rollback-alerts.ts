import { msBetween } from '../clock.js';
import { MINUTE_MS } from '../config/units.js';
import type { DocumentName } from '../documents.js';
import { list } from '../text/format.js';
import { endpointAlert } from './alert.js';
import { withList } from './sentences.js';
import { ON_EXPORTER, parenthesized, promDuration, TARGET } from './promql.js';
import { REMEMBERED_MINUTES, rollbackFamilies, type RollbackFamily } from './poll-history.js';

/* The alert on a state that is older than one before. */

const range = promDuration(REMEMBERED_MINUTES);

/** How far a family is below its highest value, where no exporter of the target has that value. */
function loweredBy(family: RollbackFamily, document: DocumentName): string {
  return `label_replace(
  label_replace(
    (max_over_time(${family}[${range}]) and ${family})
    - on (cluster, target) group_left () max by (cluster, target) (${family})
    > 0,
    "family", "${family}", "", ""
  ),
  "document", "${document}", "", ""
)`;
}

const lowered = Object.entries(rollbackFamilies).flatMap(([document, families]) =>
  // The keys are the names of documents.
  families.map((family) => loweredBy(family, document as DocumentName)),
);

const movedToAnotherNode = `changes(bridge_exporter_endpoint_added_timestamp_seconds[${range}]) > 0
and ${ON_EXPORTER} changes(bridge_exporter_config_hash[${range}]) > 0`;

export const rollbackAlerts = [
  endpointAlert({
    name: 'BridgeStateRolledBack',
    severity: 'critical',
    // 15 minutes outlast a node that is behind others of a load balancer, and one that catches up after a restart. An
    // exporter whose configuration and endpoint have both changed within the day reads another node, which may be
    // behind.
    description:
      'The hub height, the last observed nonce or the id of the last batch has been below its highest value of the last day for 15 minutes: the hub was rolled back, or the node is far behind.',
    expr: `${parenthesized(lowered.join('\nor\n'))}
unless on (${TARGET}, document) ${parenthesized(movedToAnotherNode)}`,
    forMinutes: 15,
    keepFiringMinutes: 20,
    families: Object.values(rollbackFamilies).flat(),
    find: ({ samples, history, state: { document }, now }) =>
      rollbackFamilies[document].flatMap((family) => {
        const value = samples.value(family);
        const highest = history.highest.get(family);
        if (value === undefined || highest === undefined || value >= highest.value) return [];
        if (msBetween(highest.at, now) > REMEMBERED_MINUTES * MINUTE_MS) return [];
        return [{ labels: { family }, value: highest.value - value }];
      }),
    summary: 'the state of the hub went back, {{ $labels.family }} by {{ $value | printf "%.0f" }}.',
    action:
      'Compare height and last observed nonce with other nodes. If the hub was rolled back, compare its nonces with those of the contract: events and batches after that point may be executed twice or lost.',
    sentence: (findings) => {
      const amounts = findings.all.map(({ labels, value }) => `${labels['family']} by ${value}`);
      return withList(`the state has been older than before for ${findings.duration}`, list(amounts));
    },
  }),
];
