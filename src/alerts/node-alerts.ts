import { duration } from '../text/format.js';
import { dataAlert, endpointAlert } from './alert.js';
import { findingIf, type Finding, type PollView } from './view.js';

/* Alerts on nodes that answer, and are behind the chain. */

export const NODE_BEHIND_SECONDS = 300;

const BLOCK_TIME = 'bridge_exporter_node_block_timestamp_seconds';
const SYNCING = 'bridge_exporter_node_syncing';

function findBehind({ samples, now }: PollView<typeof BLOCK_TIME | typeof SYNCING>): readonly Finding[] {
  const blockTime = samples.value(BLOCK_TIME);
  const age = blockTime === undefined ? 0 : now.epochSeconds - blockTime;
  return age > NODE_BEHIND_SECONDS || samples.value(SYNCING) === 1 ? [{ labels: {}, value: age }] : [];
}

const texts = {
  name: 'BridgeNodeBehind',
  severity: 'warning',
  dashboard: 'bridge-exporter',
  summary: 'the node of {{ $labels.document }} is behind the chain.',
} as const;

function nodeBehind(document: 'module_state' | 'rate_limiter_input') {
  return dataAlert(document, {
    ...texts,
    description: `The newest block of the node is more than ${NODE_BEHIND_SECONDS / 60} minutes old, or the node is catching up, although polls succeed and its height moves. Everything that polls show is as old.`,
    expr: `time() - ${BLOCK_TIME}{document="${document}"} > ${NODE_BEHIND_SECONDS}
or
${SYNCING}{document="${document}"} == 1`,
    forMinutes: 10,
    linksToPending: false,
    families: [BLOCK_TIME, SYNCING],
    find: findBehind,
    action:
      'Wait until the node has caught up, or poll another one; if it does not catch up, check its peers and its load.',
    sentence: ({ oldest, duration: lasting }) =>
      oldest.value > NODE_BEHIND_SECONDS
        ? `the newest block of the node of ${document} is ${duration(oldest.value)} old, and the node has been behind for ${lasting}`
        : `the node of ${document} has been catching up for ${lasting}`,
  });
}

const EXTERNAL_TIME = 'bridge_external_timestamp_seconds';

/** No alert is about the height of the external chain, so this one is also about a node that stands still. */
const externalNodeBehind = endpointAlert({
  ...texts,
  document: 'external_contract',
  description: `The newest block of the external chain that the node has is more than ${NODE_BEHIND_SECONDS / 60} minutes old, although polls succeed. What it says about the contract is as old, and backing is not judged.`,
  expr: `time() - ${EXTERNAL_TIME} > ${NODE_BEHIND_SECONDS}`,
  forMinutes: 10,
  keepFiringMinutes: 5,
  families: [EXTERNAL_TIME],
  find: ({ samples, now }) => {
    const blockTime = samples.value(EXTERNAL_TIME);
    if (blockTime === undefined) return [];
    return findingIf(now.epochSeconds - blockTime > NODE_BEHIND_SECONDS, now.epochSeconds - blockTime);
  },
  action: 'Use another JSON-RPC endpoint, or check whether the external chain has halted.',
  sentence: ({ oldest }) => `the newest block of the external chain is ${duration(oldest.value)} old`,
});

export const nodeAlerts = [nodeBehind('module_state'), nodeBehind('rate_limiter_input'), externalNodeBehind];
