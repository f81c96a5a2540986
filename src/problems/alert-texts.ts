import type { PollProblemName } from './polls.js';
import type { ProblemName } from './problems.js';

/**
 * The fixed texts of an alert, the same for all its severities and subjects: a title, and the meaning, which follows
 * the sentence of the problem. Conditions and limits are in docs/alerts.md.
 */
export const alertTexts: Readonly<Record<ProblemName | PollProblemName, readonly [title: string, meaning: string]>> = {
  BridgeSnapshotStale: [
    'No poll of a document succeeds.',
    'Problems of this document are not judged until a poll succeeds. Alerts that have fired stay until then.',
  ],
  BridgeProblemUnjudged: [
    'A problem cannot be judged.',
    'A field that the problem reads is missing or invalid, or a query is not answered. Its alert cannot fire.',
  ],
  BridgeEndpointMisconfigured: ['Polls are rejected.', 'The node rejects the request or the credentials.'],
  BridgeEndpointDown: [
    'Polls fail.',
    'If no exporter gets data, BridgeSnapshotStale follows as critical. Exceptions: the contract, and a document that the node has never served.',
  ],
  BridgeResponseNearLimit: [
    'A response is near its size limit.',
    'Polls fail when a response is larger than the limit.',
  ],
  BridgeExporterSeriesDropped: [
    'Series are dropped.',
    'Series above the limit are omitted, or added up in one series whose labels have the value “other”.',
  ],
  BridgeHeightStalled: ['The hub height stands still.', 'No data of the document is current.'],
  CrosschainHeightStalled: [
    'The hub height of the cross-chain input stands still.',
    'No data of the document is current.',
  ],
  BridgeStateRolledBack: ['The hub was rolled back.', 'Events observed and batches executed since then may be undone.'],
  BridgeNodeBehind: ['The node is behind.', 'The data of the document is as old as the newest block of the node.'],
  BridgeNodeDown: ['A node is down.', 'No data is lost as long as another node answers.'],
  BridgeClockBehind: ['The clock of the exporter is wrong.', 'Ages on the pages and in the log are too short.'],
  BridgeContractPaused: [
    'The bridge contract is paused.',
    'The contract accepts no deposits, batches or validator sets until it is unpaused.',
  ],
  BridgeTokenUnbacked: [
    'A token is not backed by the bridge contract.',
    'Tokens were minted on the hub without a deposit, or taken out of the contract.',
  ],
  BridgeContractValsetMismatch: [
    'The bridge contract has a validator set that the hub did not create.',
    'Whoever controls that set controls all funds. If less than a third of the power claims it, a few validators are faulty or lie.',
  ],
  BridgeContractOwnerChanged: [
    'The owner or the implementation of the bridge contract has changed.',
    'The owner can pause the contract. A new implementation is new code at the same address.',
  ],
  BridgeOracleSilent: [
    'No event of the bridge contract reaches the hub.',
    'The hub does not learn of deposits and executed batches.',
  ],
  BridgePowerThresholdTooLow: [
    'The setting power_threshold is too low.',
    'Batches count as signed although the contract does not accept them.',
  ],
  BridgeClaimWithoutBatch: [
    'Validators claim the execution of a batch that does not exist.',
    'The hub halts when 66 % of the power claims it.',
  ],
  BridgeConflictingClaims: [
    'Validators claim different things for one event.',
    'While no claim has 66 % of the power, no later event is observed.',
  ],
  BridgeOracleStalled: [
    'An event of the bridge contract is not observed.',
    'Until 66 % of the power has claimed the event, no deposit and no executed batch reaches the hub.',
  ],
  BridgeBatchUnsigned: [
    'A batch is not signed.',
    'The transfers of the batch wait. If it times out, the problem continues with the next unsigned batch.',
  ],
  BridgeValsetUnsigned: [
    'The newest validator set is not signed.',
    'The set cannot be relayed. Withdrawals continue with the set in the contract.',
  ],
  BridgeBatchOverdue: [
    'A batch has timed out and is still held by the hub.',
    'The contract rejects the batch, and its transfers are locked until the hub observes the next event.',
  ],
  BridgeBatchNotRelayed: [
    'Signed batches are not relayed.',
    'Relayers wait for a lower gas price, have no funds, or do not run.',
  ],
  BridgeBatchTimeoutNear: ['A signed batch is near its timeout.', 'After its timeout, the contract rejects the batch.'],
  BridgeValsetDrift: [
    'The validator set of the bridge contract is old.',
    'Nothing can be relayed once the signers of that set no longer reach the threshold.',
  ],
  BridgeBacklogStuck: ['No batch is built from waiting transfers.', 'Withdrawals of the token do not move.'],
  BridgeBacklogHigh: ['Many transfers are pending.', 'The queue may still move.'],
  BridgeOrchestratorDeadlineNear: [
    'Validators are about to be jailed for a missing signature.',
    'A jailed validator neither signs nor votes.',
  ],
  BridgeOrchestratorMissingConfirms: [
    'Validators do not sign batches or validator sets.',
    'Nothing can be relayed without the signatures of 34 % of the power.',
  ],
  BridgeOrchestratorMissingVotes: [
    'Validators do not vote for events.',
    'No event is observed without the votes of 34 % of the power.',
  ],
  BridgeWatchedValidatorJailed: [
    'A watched validator is jailed.',
    'A jailed validator earns nothing, and neither signs nor votes.',
  ],
  BridgeWatchedValidatorSignsNoBlocks: [
    'A watched validator signs no blocks.',
    'A validator that misses too many blocks is jailed.',
  ],
  BridgeWatchedValidatorMissingBlocks: [
    'A watched validator misses blocks.',
    'A validator that misses too many blocks is jailed.',
  ],
  BridgeWatchedValidatorInactive: [
    'A watched validator is not in the validator set.',
    'Signatures and votes are monitored only of members of the set.',
  ],
  BridgeWatchedOrchestratorLagging: [
    'A watched orchestrator is behind.',
    'An orchestrator claims events in order, so it votes for no newer event until it catches up.',
  ],
  BridgeWatchedOrchestratorFundsLow: [
    'A watched orchestrator is running out of funds.',
    'Without funds, an orchestrator neither signs nor votes.',
  ],
  BridgeWatchedValidatorUnknown: [
    'The state of a watched validator is unknown.',
    'The node does not answer whether the validator is jailed or misses blocks.',
  ],
  BridgeParamsChanged: [
    'Parameters of the bridge have changed.',
    'The change was announced, or it is an attack. Another contract, bridge id or external chain usually means that the URL leads to a node of another chain.',
  ],
  BridgeBlacklistChanged: [
    'The blacklist of the bridge has changed.',
    'Admins can change the blacklist without a proposal.',
  ],
  CrosschainOutboundDisabled: [
    'Transactions to other chains are switched off.',
    'Pending transactions wait until the hub switches outbounds on again.',
  ],
  CrosschainFreezeNear: [
    'A chain is about to freeze.',
    'Nonces are scheduled only up to a limit above a missed one. At the limit, nothing more is sent to the chain.',
  ],
  CrosschainBacklogStuck: [
    'The transactions to a chain are stuck.',
    'All later nonces of the chain wait for the lowest one.',
  ],
  CrosschainOldestPendingTooOld: [
    'A transaction to a chain has been pending for too long.',
    'The sender of the transaction waits. The chain may be slow.',
  ],
  CrosschainCctxsMissed: [
    'Transactions to a chain have been missed.',
    'A chain freezes when too many nonces follow a missed one.',
  ],
  CrosschainCctxsUnlisted: [
    'Pending transactions have left the lists of the node.',
    'Observers no longer process these transactions.',
  ],
  CrosschainPendingListTruncated: [
    'The list of pending transactions is truncated.',
    'Counts by chain are lower bounds. Problems that need the whole list are not judged.',
  ],
  CrosschainBacklogHigh: ['Many cross-chain transactions are pending.', 'The queue may still move.'],
};
