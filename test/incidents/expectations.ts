import type { DocumentName } from '../../src/document-types.js';
import type { Subject } from '../../src/problems/problem.js';
import type { AlertKey } from '../problems/incident.js';
import { START_SECONDS } from '../problems/recording.js';
import type { FaultKind } from './faults.js';
import {
  batchesOf,
  drift,
  executedBatches,
  faultsOf,
  isBlind,
  missingConfirms,
  missingVotes,
  nextEvent,
  phantomShare,
  queuesOf,
  tokensWorthABatch,
  unobservedEvents,
  unrelayedValset,
  waitingTransfers,
  type World,
} from './world.js';

/*
 * What has to be heard of a bridge on which things are broken, about whom, from when to when, and why. It is written from what the chains do and
 * what people can do about it, in minutes that leave room for a choice of the limit. Whatever else fires is a false alert.
 */

/** Something that is true. */
export interface Truth {
  /** Labels of the alert that have to be these. */
  readonly about?: Subject;
  readonly document?: DocumentName;
  /** What progress changes: then the time begins anew. */
  readonly identity?: string | number;
  /** Whether it has to be heard; else it may be. */
  readonly isSure: boolean;
  /** Instead of those of the expectation. */
  readonly earliest?: number;
  readonly latest?: number;
}

const CONTRACT = ['module_state', 'external_contract'] as const;
/** Where a half, a third or two thirds begin, shares differ a little by what they are shares of. */
const MARGIN = 0.02;
/** What peggo and the hub require. */
const QUORUM = 0.66;
const THIRD = 1 / 3;

const SURE: readonly Truth[] = [{ isSure: true }];
const NOTHING: readonly Truth[] = [];
const whenever = (isTrue: boolean): readonly Truth[] => (isTrue ? SURE : NOTHING);
const POSSIBLE: readonly Truth[] = [{ isSure: false }];

/** What is true while one of these faults is there. */
const during =
  (...kinds: readonly FaultKind[]) =>
  (world: World): readonly Truth[] =>
    whenever(faultsOf(world, ...kinds).length > 0);

/** What may be heard while one of these faults is there. */
const perhapsDuring =
  (...kinds: readonly FaultKind[]) =>
  (world: World): readonly Truth[] =>
    faultsOf(world, ...kinds).length > 0 ? POSSIBLE : NOTHING;

/** A value that has to be heard from one limit on, and may be from another. */
const above = (value: number, sure: number, may: number): readonly Truth[] =>
  value >= sure ? SURE : value >= may ? POSSIBLE : NOTHING;

const relayable = (world: World) =>
  batchesOf(world).filter(({ signed, isWorthwhile, blocksLeft }) => signed >= QUORUM && isWorthwhile && blocksLeft > 0);

/** Batches of two tokens have waited for more than an hour, and none is executed. */
function notRelayed(world: World): readonly Truth[] {
  const isOld = ({ ageMinutes }: { readonly ageMinutes: number }): boolean => ageMinutes >= 60;
  const tokensOf = (batches: ReturnType<typeof relayable>): number => new Set(batches.map(({ token }) => token)).size;
  const waiting = relayable(world).filter(isOld);
  const identity = executedBatches(world);
  if (tokensOf(waiting.filter(({ isExecuted }) => !isExecuted)) >= 2) return [{ isSure: true, identity }];
  return tokensOf(waiting) >= 2 ? [{ isSure: false, identity }] : NOTHING;
}

/** Whether a claim of the next event can still win. */
function conflict(world: World): 'none' | 'open' | 'close' | 'blocked' {
  const { shares = [] } = nextEvent(world) ?? {};
  if (shares.length < 2) return 'none';
  const unvoted = Math.max(0, 1 - shares.reduce((sum, share) => sum + share, 0));
  const best = (shares[0] ?? 0) + unvoted;
  return best < QUORUM - MARGIN ? 'blocked' : best < QUORUM + MARGIN ? 'close' : 'open';
}

const phantom =
  (kind: Parameters<typeof faultsOf>[1], type: string, isPart: (share: number) => boolean | undefined) =>
  (world: World): readonly Truth[] => {
    const shares = faultsOf(world, kind).map((fault) => phantomShare(world, fault, type));
    return shares.flatMap((share) => {
      const isSure = share === undefined ? undefined : isPart(share);
      return isSure === undefined ? [] : [{ isSure }];
    });
  };

const isThird = (share: number): boolean | undefined =>
  share >= THIRD + MARGIN ? true : share >= THIRD - MARGIN ? false : undefined;
const isLess = (share: number): boolean | undefined =>
  share < THIRD - MARGIN ? true : share < THIRD + MARGIN ? false : undefined;

const queues = (world: World) => queuesOf(world, START_SECONDS);

/** The truths about each watched or other validator that is late. */
const late = (watched: 'true' | 'false', truths: readonly Truth[]): readonly Truth[] =>
  truths.map((truth) => ({ ...truth, about: { watched } }));

/** Half an hour, and two on Bitcoin, whose blocks come at random. */
const usualMinutes = (chainId: string): number => (chainId === '8332' ? 120 : 30);
const staleMinutes = (chainId: string): number => (chainId === '8332' ? 240 : 120);

/** What has waited because outbounds were off is no news until it had the usual time to move. */
const isCatchingUp = ({ over, minute }: World, minutes: number): boolean =>
  over.some(({ kind, untilMinute }) => kind === 'chains switched off' && minute < untilMinute + minutes);

/** The pending ones of all chains; the node lists 500 of them, so that one chain can hide another. */
const allPending = (world: World): number => queues(world).reduce((sum, { pending }) => sum + pending, 0);
const MAX_LISTED = 500;

const oldest =
  (limitOf: (chainId: string) => number) =>
  (world: World): readonly Truth[] =>
    queues(world)
      .filter(({ chainId, oldestMinutes }) => oldestMinutes >= limitOf(chainId) - 3)
      .map(({ chainId, oldestMinutes }) => ({
        about: { chain_id: chainId },
        isSure:
          oldestMinutes >= limitOf(chainId) &&
          !isCatchingUp(world, limitOf(chainId) + 5) &&
          allPending(world) <= MAX_LISTED,
      }));

/** How much of the distance to the lowest missed nonce is used up, at which clients stop. */
const freezes =
  (sure: number, may: number) =>
  (world: World): readonly Truth[] =>
    queues(world).flatMap(({ chainId, highestNonce, lowestMissedNonce, lookahead, newlyMissed }) => {
      if (highestNonce === undefined || lowestMissedNonce === undefined || lookahead === undefined) return [];
      const used = (highestNonce - lowestMissedNonce) / lookahead;
      const isSure = used >= sure && allPending(world) <= MAX_LISTED;
      return used >= may && newlyMissed > 0 ? [{ about: { chain_id: chainId }, isSure }] : [];
    });

/** Polls of a document fail. */
const failing = (world: World): readonly Truth[] =>
  world.faults.flatMap(({ documents = [] }) => documents.map((document) => ({ document, isSure: true })));

const isOptional = ({ document }: Truth): boolean => document === 'external_contract';

/** Batches that pay for their relay and that the contract does not accept any more. */
const overdueBatches = (world: World) =>
  batchesOf(world).filter(({ isWorthwhile, blocksLeft }) => isWorthwhile && blocksLeft <= 2);

/** The height does not change although the document is polled. */
const standsStill =
  (polled: DocumentName) =>
  (world: World): readonly Truth[] =>
    faultsOf(world, 'hub halted', 'node stuck').length === 0
      ? NOTHING
      : [{ isSure: failing(world).every(({ document }) => document !== polled) }];

/** Orchestrators sign within minutes. */
const UNSIGNED_MINUTES = 15;

/**
 * What somebody has to hear. The minutes: for which it has to be true before somebody may hear of it; for which it is true until somebody has
 * to have heard of it; and after it is true no more in which the alert has to end.
 */
type Row = readonly [
  alert: AlertKey,
  minutes: readonly [earliest: number, latest: number, ends: number],
  truths: (world: World) => readonly Truth[],
  /** By default the document of the name; without one, it is about the exporter or its nodes. */
  seenIn?: readonly DocumentName[],
];

const rows: readonly Row[] = [
  // Signatures. A batch below 66 % cannot be relayed, and its transfers are locked.
  [
    'BridgeBatchUnsigned/critical',
    [UNSIGNED_MINUTES, 45, 10],
    (world) => {
      const unsigned = batchesOf(world).filter(({ signed }) => signed < QUORUM);
      const [first] = unsigned.toSorted((a, b) => a.nonce - b.nonce);
      if (first === undefined) return NOTHING;
      const isSure = unsigned.some(({ signed, isExecuted }) => signed < QUORUM - MARGIN && !isExecuted);
      // One that becomes the first because others are canceled is as old as its block.
      const earliest = Math.max(0, UNSIGNED_MINUTES - first.ageMinutes);
      return [{ isSure, identity: first.nonce, earliest }];
    },
  ],
  // The contract of an attacker accepts nothing that the validators of the hub have signed.
  ['BridgeBatchUnsigned/critical', [0, Infinity, 10], perhapsDuring('validator set forged')],
  // Withdrawals go on with the old set. One that is replaced before it is signed is no progress.
  [
    'BridgeValsetUnsigned/warning',
    [15, 90, 10],
    (world) => {
      const newest = unrelayedValset(world);
      return newest === undefined || newest.signed >= QUORUM ? NOTHING : [{ isSure: newest.signed < QUORUM - MARGIN }];
    },
  ],
  // From 34 % on nothing can be relayed.
  [
    'BridgeOrchestratorMissingConfirms/warning',
    [30, 90, 15],
    (world) => late('false', above(missingConfirms(world).others, 0.15 + MARGIN, 0.15 - MARGIN)),
  ],
  [
    'BridgeOrchestratorMissingConfirms/warning',
    [30, 90, 15],
    (world) => late('true', whenever(missingConfirms(world).watched)),
  ],
  // A batch that is signed by others is gone before anybody can say that this validator is late.
  [
    'BridgeOrchestratorMissingConfirms/warning',
    [45, Infinity, 15],
    perhapsDuring('watched validator silent', 'watched validator jailed', 'validators silent', 'validators jailed'),
  ],
  // Relayers look every five minutes, and a batch lives for 9.6 hours.
  ['BridgeBatchNotRelayed/warning', [30, 100, 10], notRelayed],
  ['BridgeBatchNotRelayed/critical', [90, 260, 10], notRelayed],
  [
    'BridgeBatchTimeoutNear/warning',
    [0, 15, 10],
    (world) => {
      const near = relayable(world).filter(({ blocksLeft }) => blocksLeft <= 1200);
      if (near.length === 0) return NOTHING;
      return [{ isSure: near.some(({ blocksLeft, isExecuted }) => blocksLeft <= 500 && !isExecuted) }];
    },
  ],
  // Its transfers are neither executable nor cancellable until the hub observes another event.
  [
    'BridgeBatchOverdue/critical',
    [10, 45, 10],
    (world) => {
      const overdue = overdueBatches(world);
      if (overdue.length === 0) return NOTHING;
      return [{ isSure: overdue.some((own) => !own.isExecuted && own.signed >= QUORUM && own.blocksLeft < -5) }];
    },
  ],
  // Nobody can do more about one that was never signed.
  [
    'BridgeBatchOverdue/warning',
    [10, Infinity, 10],
    (world) => (overdueBatches(world).length > 0 ? POSSIBLE : NOTHING),
  ],
  // The queue. Batch creators look once a minute, and anybody can request a batch.
  [
    'BridgeBacklogStuck/critical',
    [20, 60, 10],
    (world) =>
      tokensWorthABatch(world).map(({ token, batches }) => ({
        about: { token_contract: token.contract.toLowerCase() },
        identity: batches,
        isSure: true,
      })),
  ],
  ['BridgeBacklogHigh/warning', [15, 45, 10], (world) => above(waitingTransfers(world), 505, 495)],
  // The oracle. Orchestrators vote within minutes.
  [
    'BridgeOracleStalled/critical',
    [10, 35, 10],
    (world) => {
      const next = nextEvent(world);
      return above(next?.shares[0] ?? 0, THIRD + MARGIN, THIRD - MARGIN).map((truth) => ({
        ...truth,
        identity: next?.nonce ?? 0,
      }));
    },
  ],
  // A claim of a few: the event does not exist, or only they have seen it.
  [
    'BridgeOracleStalled/warning',
    [45, 80, 10],
    (world) => {
      const next = nextEvent(world);
      const share = next?.shares[0];
      if (next === undefined || share === undefined || share >= THIRD + MARGIN) return NOTHING;
      return [{ isSure: share < THIRD - MARGIN, identity: next.nonce }];
    },
  ],
  // Votes cannot be changed: when no claim can win any more, nothing arrives until governance acts.
  [
    'BridgeConflictingClaims/critical',
    [5, 20, 10],
    (world) => {
      const state = conflict(world);
      const identity = nextEvent(world)?.nonce ?? 0;
      return state === 'blocked' || state === 'close' ? [{ isSure: state === 'blocked', identity }] : NOTHING;
    },
  ],
  [
    'BridgeConflictingClaims/warning',
    [5, 20, 10],
    (world) => {
      const state = conflict(world);
      return state === 'none' ? NOTHING : [{ isSure: state === 'open', identity: nextEvent(world)?.nonce ?? 0 }];
    },
  ],
  // Events are claimed three minutes later.
  [
    'BridgeOracleSilent/critical',
    [45, 90, 10],
    (world) => {
      const { count, lastObserved } = unobservedEvents(world);
      return count > 0 ? [{ isSure: true, identity: lastObserved }] : NOTHING;
    },
    CONTRACT,
  ],
  // A hub that was rolled back has not observed the events of hours.
  ['BridgeOracleSilent/critical', [0, Infinity, 10], perhapsDuring('node rolled back'), []],
  // From 34 % on no event is observed. Two validators of 7 % never vote, which is no news. Slow ones vote for each event in the end.
  [
    'BridgeOrchestratorMissingVotes/warning',
    [10, 45, 10],
    (world) =>
      late('false', above(missingVotes(world).others, 0.15 + MARGIN, 0.15 - MARGIN)).map((truth) => ({
        ...truth,
        isSure: truth.isSure && faultsOf(world, 'validators slow').length === 0,
      })),
  ],
  [
    'BridgeOrchestratorMissingVotes/warning',
    [10, 45, 10],
    (world) => late('true', whenever(missingVotes(world).watched)),
  ],
  // The event that it does not vote for is not observed, so that its position is not behind the hub.
  [
    'BridgeOrchestratorMissingVotes/warning',
    [20, Infinity, 10],
    (world) => {
      const next = nextEvent(world);
      return next === undefined ? NOTHING : [{ isSure: false, identity: next.nonce }];
    },
  ],
  [
    'BridgeWatchedOrchestratorLagging/warning',
    [10, 50, 10],
    (world) => {
      const isNamed = faultsOf(world, 'watched validator silent', 'watched validator jailed').length > 0;
      if (missingVotes(world).watched) return [{ isSure: isNamed }];
      return nextEvent(world) === undefined ? NOTHING : POSSIBLE;
    },
  ],
  // At 66 % every node of the hub panics. One lying validator alone cannot halt it.
  ['BridgeClaimWithoutBatch/critical', [0, 6, 10], phantom('batch that does not exist', 'MsgWithdrawClaim', isThird)],
  ['BridgeClaimWithoutBatch/warning', [2, 15, 10], phantom('batch that does not exist', 'MsgWithdrawClaim', isLess)],
  // A third says that the contract has a set which the hub did not make: somebody else may control the funds.
  [
    'BridgeContractValsetMismatch/critical',
    [0, 6, 10],
    phantom('validator set claimed that does not exist', 'MsgValsetUpdatedClaim', isThird),
  ],
  [
    'BridgeContractValsetMismatch/warning',
    [2, 15, 10],
    phantom('validator set claimed that does not exist', 'MsgValsetUpdatedClaim', isLess),
  ],
  // A theft in progress. The contract shows it before the hub observes it.
  ['BridgeContractValsetMismatch/critical', [0, 15, 0], during('validator set forged'), CONTRACT],
  // The validator sets. Relayers take hours for a set. From 68 % on the old members may not reach the quorum.
  ['BridgeValsetDrift/warning', [60, 140, 10], (world) => above(drift(world), 0.1 + MARGIN / 2, 0.1 - MARGIN / 2)],
  ['BridgeWatchedValidatorJailed/critical', [0, 8, 10], during('watched validator jailed')],
  // BridgeWatchedValidatorJailed says it, while the node answers.
  ['BridgeWatchedValidatorInactive/critical', [5, Infinity, 10], perhapsDuring('watched validator jailed')],
  // A process that has never seen it in a set cannot tell that it left.
  ['BridgeWatchedValidatorInactive/warning', [5, Infinity, 10], perhapsDuring('watched validator jailed')],
  ['BridgeWatchedValidatorUnknown/warning', [45, 80, 10], during('queries refused')],
  // The contract
  ['BridgeContractPaused/critical', [0, 8, 10], during('contract paused'), CONTRACT],
  // Balances are read every five minutes, and events in flight have to arrive.
  [
    'BridgeTokenUnbacked/critical',
    [5, 25, 20],
    (world) =>
      faultsOf(world, 'contract drained').map(({ tokenContract = '' }) => ({
        about: { token_contract: tokenContract },
        isSure: true,
      })),
    CONTRACT,
  ],
  // Owner and implementation are read once an hour. A change is news for five hours at least, and not for ever.
  [
    'BridgeContractOwnerChanged/critical',
    [0, 70, 130],
    (world) =>
      whenever(
        faultsOf(world, 'contract upgraded', 'contract has another owner').some(
          ({ fromMinute }) => world.minute < fromMinute + 300,
        ),
      ),
    CONTRACT,
  ],
  // The threshold is read once an hour.
  ['BridgePowerThresholdTooLow/warning', [5, 85, 75], during('contract requires more power'), CONTRACT],
  // Governance. Admins act without a proposal.
  ['BridgeParamsChanged/info', [0, 5, 75], during('parameter changed')],
  ['BridgeParamsChanged/warning', [0, 5, 75], during('admins changed')],
  ['BridgeBlacklistChanged/info', [0, 5, 75], during('blacklist changed')],
  ['BridgeParamsChanged/critical', [0, 5, 370], during('contract replaced')],
  // Cross-chain transactions. Nonces finish in order: the lowest one does not move for longer than one ever takes.
  [
    'CrosschainBacklogStuck/critical',
    [0, 0, 10],
    (world) =>
      queues(world).flatMap(({ chainId, lowestNonce }) =>
        lowestNonce === undefined
          ? []
          : [
              {
                about: { chain_id: chainId },
                identity: lowestNonce,
                isSure: !isCatchingUp(world, usualMinutes(chainId) + 15) && allPending(world) <= MAX_LISTED,
                earliest: usualMinutes(chainId) - 5,
                latest: usualMinutes(chainId) + 15,
              },
            ],
      ),
  ],
  // After CrosschainBacklogStuck, which is its cause unless the chain moves.
  ['CrosschainOldestPendingTooOld/warning', [10, 25, 10], oldest(usualMinutes)],
  ['CrosschainOldestPendingTooOld/critical', [0, 10, 10], oldest(staleMinutes)],
  // On a hub that was rolled back, transactions are pending again that were created before.
  ['CrosschainBacklogStuck/critical', [0, Infinity, 10], perhapsDuring('node rolled back'), []],
  ['CrosschainOldestPendingTooOld/critical', [0, Infinity, 10], perhapsDuring('node rolled back'), []],
  // Its hash was lost. A new exporter cannot know since when it is missed.
  [
    'CrosschainCctxsMissed/warning',
    [8, 30, 10],
    (world) =>
      queues(world)
        .filter(({ newlyMissed }) => newlyMissed > 0)
        .map(({ chainId, isMissedSinceBegin }) => ({ about: { chain_id: chainId }, isSure: isMissedSinceBegin })),
  ],
  ['CrosschainFreezeNear/warning', [0, 15, 10], freezes(0.55, 0.45)],
  ['CrosschainFreezeNear/critical', [0, 10, 10], freezes(0.85, 0.75)],
  // No client works on it any more.
  [
    'CrosschainCctxsUnlisted/warning',
    [8, 45, 15],
    (world) =>
      queues(world)
        .filter(({ unlisted }) => unlisted > 0)
        .map(({ chainId }) => ({ about: { chain_id: chainId }, isSure: true })),
  ],
  ['CrosschainOutboundDisabled/warning', [0, 6, 10], during('chains switched off')],
  ['CrosschainBacklogHigh/warning', [15, 45, 10], (world) => above(allPending(world), 215, 190)],
  [
    'CrosschainPendingListTruncated/warning',
    [5, 25, 10],
    (world) => above(allPending(world), MAX_LISTED + 5, MAX_LISTED - 5),
  ],
  // Nodes and polls. The hub makes a block every second.
  ['BridgeHeightStalled/critical', [8, 22, 8], standsStill('module_state'), []],
  ['CrosschainHeightStalled/critical', [8, 22, 8], standsStill('rate_limiter_input'), []],
  // Everything that the node says is as old as its newest block.
  [
    'BridgeNodeBehind/warning',
    [0, 20, 10],
    (world) => [
      ...perhapsDuring('hub halted', 'node stuck')(world),
      ...faultsOf(world, 'node behind').flatMap(({ lag }) => above(lag?.minutes ?? 0, 7, 2)),
      ...during('node of the external chain behind')(world),
    ],
    [],
  ],
  // When the node does not catch up within an hour. A halt says so itself.
  [
    'BridgeNodeBehind/critical',
    [58, 75, 10],
    (world) => {
      const isSeen = failing(world).length === 0 && faultsOf(world, 'queries refused').length === 0;
      return faultsOf(world, 'node behind').flatMap(({ lag }) => above(lag?.minutes ?? 0, isSeen ? 7 : Infinity, 2));
    },
    [],
  ],
  // When the height is past what it was before, nothing shows it any more.
  [
    'BridgeStateRolledBack/critical',
    [3, 30, 10],
    (world) =>
      whenever(
        faultsOf(world, 'node rolled back').some(
          ({ fromMinute, lag }) => world.minute - fromMinute < (lag?.minutes ?? 0),
        ),
      ),
    [],
  ],
  ['BridgeEndpointDown/warning', [1, 8, 3], failing, []],
  ['BridgeSnapshotStale/critical', [8, 14, 3], (world) => failing(world).filter((truth) => !isOptional(truth)), []],
  [
    'BridgeEndpointMisconfigured/warning',
    [1, 10, 3],
    (world) => (faultsOf(world, 'node refuses').length > 0 ? failing(world) : NOTHING),
    [],
  ],
  [
    'BridgeResponseNearLimit/warning',
    [1, 10, 3],
    (world) => (faultsOf(world, 'document too large for the node').length > 0 ? failing(world) : NOTHING),
    [],
  ],
  // What cannot be judged may be wrong. The contract is compared with what the hub says.
  [
    'BridgeProblemUnjudged/warning',
    // It ends when all documents of 20 minutes could be judged.
    [5, 15, 27],
    (world) => [
      ...during('field missing')(world),
      ...perhapsDuring('queries refused')(world),
      ...(isBlind(world, 'module_state') ? [{ document: 'external_contract', isSure: false } as const] : []),
    ],
    [],
  ],
  ['BridgeProblemUnjudged/critical', [5, Infinity, 5], perhapsDuring('field missing'), []],
];

export const expectations = rows.map(([alert, [earliest, latest, ends], truths, seenIn]) => ({
  alert,
  minutes: { earliest, latest, ends },
  truths,
  /** The documents that show it. */
  documents: seenIn ?? [alert.startsWith('Crosschain') ? ('rate_limiter_input' as const) : ('module_state' as const)],
}));

export type Expectation = (typeof expectations)[number];
