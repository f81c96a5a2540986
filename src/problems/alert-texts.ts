import type { PollProblemName } from './polls.js';
import type { ProblemName } from './problems.js';

/**
 * The fixed texts of an alert, the same for all its severities and subjects: a title, and the meaning, which follows
 * the sentence of the problem. Conditions and limits are in docs/alerts.md.
 */
export const alertTexts: Readonly<Record<ProblemName | PollProblemName, readonly [title: string, meaning: string]>> = {
  BridgeSnapshotStale: [
    'A document has not been polled successfully.',
    'Nothing new is judged of it; what has fired stays until it is judged again.',
  ],
  BridgeProblemUnjudged: [
    'A problem cannot be judged.',
    'A field that it reads is missing or invalid, or a query is not answered: its alert cannot fire.',
  ],
  BridgeEndpointMisconfigured: ['Polls are rejected.', 'The node rejects the request or the credentials.'],
  BridgeEndpointDown: [
    'Polls fail.',
    'BridgeSnapshotStale is the critical alert, when no exporter has current data; the contract has none.',
  ],
  BridgeResponseNearLimit: ['A response is near its size limit.', 'Above the limit every poll fails.'],
  BridgeExporterSeriesDropped: [
    'Series are dropped.',
    'The others of the metric are left out, or added up in one series whose labels read other.',
  ],
  BridgeHeightStalled: ['The hub height stands still.', 'Nothing else that the document shows is current.'],
  CrosschainHeightStalled: [
    'The hub height of the cross-chain input stands still.',
    'Nothing else that the document shows is current.',
  ],
  BridgeStateRolledBack: ['The hub was rolled back.', 'What was observed or executed after that may be undone.'],
  BridgeNodeBehind: ['The node is behind.', 'What is shown of the document is as old as the newest block of the node.'],
  BridgeNodeDown: ['A node is down.', 'Nothing is lost as long as another one answers.'],
  BridgeClockBehind: ['The clock of the exporter is wrong.', 'Ages on the pages and in the log are too short.'],
  BridgeContractPaused: [
    'The bridge contract is paused.',
    'It accepts no deposits, batches and validator sets until it is unpaused.',
  ],
  BridgeTokenUnbacked: [
    'A token is not backed by the bridge contract.',
    'Tokens were minted without a deposit, or taken out of the contract.',
  ],
  BridgeContractValsetMismatch: [
    'The bridge contract has a validator set that the hub did not make.',
    'Whoever controls that set controls all funds. A claim by less than a third of the power is one faulty or lying validator.',
  ],
  BridgeContractOwnerChanged: [
    'The owner or the implementation of the bridge contract has changed.',
    'The owner can pause the contract; another implementation is another contract at the same address.',
  ],
  BridgeOracleSilent: [
    'No event of the bridge contract reaches the hub.',
    'Deposits and executions are not known there.',
  ],
  BridgePowerThresholdTooLow: [
    'The setting power_threshold is too low.',
    'Batches count as signed that the contract does not accept.',
  ],
  BridgeClaimWithoutBatch: [
    'Validators claim the execution of a batch that does not exist.',
    'At 66 % of the power the hub halts.',
  ],
  BridgeConflictingClaims: [
    'Validators claim different things for one event.',
    'While no claim has 66 % of the power, no later event is observed.',
  ],
  BridgeOracleStalled: [
    'An event of the bridge contract is not observed.',
    'Until 66 % of the power has claimed it, no deposit and no executed batch reaches the hub.',
  ],
  BridgeBatchUnsigned: ['A batch is not signed.', 'Its transfers wait. The problem goes on when it times out.'],
  BridgeValsetUnsigned: [
    'The newest validator set is not signed.',
    'It cannot be relayed; withdrawals go on with the old one.',
  ],
  BridgeBatchOverdue: [
    'A batch has timed out and is still held by the hub.',
    'The contract rejects it, and its transfers are locked until the hub observes the next event.',
  ],
  BridgeBatchNotRelayed: [
    'Signed batches are not relayed.',
    'Relayers wait for a lower gas price, have no funds, or do not run.',
  ],
  BridgeBatchTimeoutNear: ['A signed batch is near its timeout.', 'After that the contract rejects it.'],
  BridgeValsetDrift: [
    'The validator set of the bridge contract is old.',
    'When its members no longer reach the threshold, nothing can be relayed.',
  ],
  BridgeBacklogStuck: ['No batch is built of waiting transfers.', 'Withdrawals of the token do not move.'],
  BridgeBacklogHigh: ['Many transfers are pending.', 'The queue may still move.'],
  BridgeOrchestratorDeadlineNear: [
    'Validators are about to be jailed for a missing signature.',
    'Who is jailed neither signs nor votes.',
  ],
  BridgeOrchestratorMissingConfirms: ['Validators do not sign.', 'From 34 % of the power on, nothing can be relayed.'],
  BridgeOrchestratorMissingVotes: [
    'Validators do not vote for events.',
    'From 34 % of the power on, no event is observed.',
  ],
  BridgeWatchedValidatorJailed: [
    'A watched validator is jailed.',
    'It earns nothing, and signs and votes for nothing.',
  ],
  BridgeWatchedValidatorSignsNoBlocks: [
    'A watched validator signs no blocks.',
    'When it has missed too many, it is jailed.',
  ],
  BridgeWatchedValidatorMissingBlocks: [
    'A watched validator misses blocks.',
    'When it has missed too many, it is jailed.',
  ],
  BridgeWatchedValidatorInactive: [
    'A watched validator is not in the validator set.',
    'Its signatures and votes are not monitored.',
  ],
  BridgeWatchedOrchestratorLagging: [
    'A watched orchestrator is behind.',
    'It claims events in order, so it votes for none until it moves.',
  ],
  BridgeWatchedOrchestratorFundsLow: [
    'A watched orchestrator is running out of funds.',
    'Without funds it neither signs nor votes.',
  ],
  BridgeWatchedValidatorUnknown: [
    'The state of a watched validator is unknown.',
    'The node does not answer whether it is jailed or misses blocks.',
  ],
  BridgeParamsChanged: [
    'Parameters of the bridge have changed.',
    'It was announced, or it is an attack; another contract, bridge id or chain is most likely a node of another chain behind the URL.',
  ],
  BridgeBlacklistChanged: ['The blacklist of the bridge has changed.', 'Admins change it without a proposal.'],
  CrosschainOutboundDisabled: [
    'Transactions to other chains are switched off.',
    'Pending ones wait until the hub switches them on again.',
  ],
  CrosschainFreezeNear: ['A chain is about to freeze.', 'When no nonce is left, nothing more is sent to it.'],
  CrosschainBacklogStuck: [
    'The transactions to a chain are stuck.',
    'All later nonces of the chain wait for the lowest one.',
  ],
  CrosschainOldestPendingTooOld: [
    'A transaction to a chain has been pending for too long.',
    'Its sender waits; the chain may be slow.',
  ],
  CrosschainCctxsMissed: [
    'Transactions to a chain have been missed.',
    'With too many nonces above one, the chain freezes.',
  ],
  CrosschainCctxsUnlisted: ['Pending transactions have left the lists.', 'No observer works on them any more.'],
  CrosschainPendingListTruncated: [
    'The list of pending transactions is truncated.',
    'Counts by chain are lower bounds, and what needs the whole list is not judged.',
  ],
  CrosschainBacklogHigh: ['Many cross-chain transactions are pending.', 'The queue may still move.'],
};
