import type { DocumentName } from '../documents.js';
import { duration } from '../text/format.js';
import { dataAlert } from './alert.js';
import type { Finding, PollView } from './view.js';

/* Alerts on nodes that answer, and are behind the chain. */

export const NODE_BEHIND_SECONDS = 300;

const BLOCK_TIME = 'bridge_exporter_node_block_timestamp_seconds';
const SYNCING = 'bridge_exporter_node_syncing';

function findBehind({ samples, now }: PollView<typeof BLOCK_TIME | typeof SYNCING>): readonly Finding[] {
  const blockTime = samples.value(BLOCK_TIME);
  const age = blockTime === undefined ? 0 : now.epochSeconds - blockTime;
  return age > NODE_BEHIND_SECONDS || samples.value(SYNCING) === 1 ? [{ labels: {}, value: age }] : [];
}

function nodeBehind(document: DocumentName) {
  return dataAlert(document, {
    name: 'BridgeNodeBehind',
    severity: 'warning',
    dashboard: 'bridge-exporter',
    comment: `Blocks take seconds, and the time of the newest one is asked for every minute. A node that stands still is the matter of the alerts on
heights, which suspend this one.`,
    when: `The newest block of a node is more than ${NODE_BEHIND_SECONDS / 60} minutes old, or the node is catching up, although polls succeed and its height moves.`,
    expr: `time() - ${BLOCK_TIME}{document="${document}"} > ${NODE_BEHIND_SECONDS}
or
${SYNCING}{document="${document}"} == 1`,
    forMinutes: 10,
    linksToPending: false,
    families: [BLOCK_TIME, SYNCING],
    find: findBehind,
    summary: 'the node of {{ $labels.document }} is behind the chain.',
    description:
      'The newest block of the node of {{ $labels.target }} {{ $labels.document }} is minutes old, or the node says that it is catching up. Polls succeed, and everything they show is as old.',
    action:
      'Wait until the node has caught up, or poll another one; if it does not catch up, check its peers and its load.',
    sentence: ({ oldest, duration: lasting }) =>
      oldest.value > NODE_BEHIND_SECONDS
        ? `the newest block of the node of ${document} is ${duration(oldest.value)} old, and the node has been behind for ${lasting}`
        : `the node of ${document} has been catching up for ${lasting}`,
  });
}

export const nodeAlerts = [nodeBehind('module_state'), nodeBehind('rate_limiter_input')];
