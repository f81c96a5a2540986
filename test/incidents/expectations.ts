import type { DocumentName } from '../../src/document-types.js';
import type { Subject } from '../../src/problems/problem.js';
import type { AlertKey } from '../problems/incident.js';
import { START_SECONDS } from '../problems/recording.js';
import type { Fault } from './faults.js';
import {
  batchesOf,
  drift,
  executedBatches,
  faultsOf,
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

export interface Expectation {
  readonly alert: AlertKey;
  /** By default the document of the name; without one, it is about the exporter or its nodes. */
  readonly seenIn?: readonly DocumentName[];
  readonly truths: (world: World) => readonly Truth[];
  readonly minutes: {
    /** For which it has to be true before somebody may hear of it. */
    readonly earliest: number;
    /** For which it is true until somebody has to have heard of it. */
    readonly latest: number;
    /** After it is true no more in which the alert has to end. */
    readonly ends: number;
  };
  readonly reason: string;
}

/** The documents that show what is expected. */
export const documentsOf = ({ alert, seenIn }: Expectation): readonly DocumentName[] =>
  seenIn ?? [alert.startsWith('Crosschain') ? 'rate_limiter_input' : 'module_state'];

const CONTRACT = ['module_state', 'external_contract'] as const;
/** Where a half, a third or two thirds begin, shares differ a little by what they are shares of. */
const MARGIN = 0.02;
/** What peggo and the hub require. */
const QUORUM = 0.66;
const THIRD = 1 / 3;

/** Changes are news for at least this long. */
const NEWS_MINUTES = 300;

const SURE: readonly Truth[] = [{ isSure: true }];
const NOTHING: readonly Truth[] = [];
const whenever = (isTrue: boolean): readonly Truth[] => (isTrue ? SURE : NOTHING);
const ofFaults = (faults: readonly Fault[], truthOf: (fault: Fault) => Truth = () => ({ isSure: true })) =>
  faults.slice(0, 1).map(truthOf);

/** A value that has to be heard from one limit on, and may be from another. */
const above = (value: number, sure: number, may: number): readonly Truth[] =>
  value >= sure ? SURE : value >= may ? [{ isSure: false }] : NOTHING;

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

/** Orchestrators sign within minutes. */
const UNSIGNED_MINUTES = 15;

export const expectations: readonly Expectation[] = [
  // Signatures
  {
    alert: 'BridgeBatchUnsigned/critical',
    truths: (world) => {
      const unsigned = batchesOf(world).filter(({ signed }) => signed < QUORUM);
      const [first] = unsigned.toSorted((a, b) => a.nonce - b.nonce);
      if (first === undefined) return NOTHING;
      const isSure = unsigned.some(({ signed, isExecuted }) => signed < QUORUM - MARGIN && !isExecuted);
      // One that becomes the first because others are canceled is as old as its block.
      const earliest = Math.max(0, UNSIGNED_MINUTES - first.ageMinutes);
      return [{ isSure, identity: first.nonce, earliest }];
    },
    minutes: { earliest: UNSIGNED_MINUTES, latest: 45, ends: 10 },
    reason: 'Orchestrators sign within minutes. A batch below 66 % cannot be relayed, and its transfers are locked.',
  },
  {
    alert: 'BridgeValsetUnsigned/warning',
    truths: (world) => {
      const newest = unrelayedValset(world);
      if (newest === undefined || newest.signed >= QUORUM) return NOTHING;
      // One that is replaced before it is signed is no progress.
      return [{ isSure: newest.signed < QUORUM - MARGIN }];
    },
    minutes: { earliest: 15, latest: 90, ends: 10 },
    reason: 'Withdrawals go on with the old set, so that hours are left; but nobody can relay the new one.',
  },
  {
    alert: 'BridgeOrchestratorMissingConfirms/warning',
    truths: (world) =>
      above(missingConfirms(world).others, 0.15 + MARGIN, 0.15 - MARGIN).map((truth) => ({
        ...truth,
        about: { watched: 'false' },
      })),
    minutes: { earliest: 30, latest: 90, ends: 15 },
    reason: 'From 34 % on nothing can be relayed. Half of that is worth a word to a colleague, within days.',
  },
  {
    alert: 'BridgeOrchestratorMissingConfirms/warning',
    truths: (world) =>
      whenever(missingConfirms(world).watched).map((truth) => ({ ...truth, about: { watched: 'true' } })),
    minutes: { earliest: 30, latest: 90, ends: 15 },
    reason: 'The own validator is jailed 3.7 days later.',
  },
  {
    // A batch that is signed by others is gone before anybody can say that this validator is late.
    alert: 'BridgeOrchestratorMissingConfirms/warning',
    truths: (world) =>
      faultsOf(
        world,
        'watched validator silent',
        'watched validator jailed',
        'validators silent',
        'validators jailed',
      ).map(() => ({ isSure: false })),
    minutes: { earliest: 45, latest: Infinity, ends: 15 },
    reason: 'Whoever is silent may be late with a batch as well.',
  },
  // Relayers
  {
    alert: 'BridgeBatchNotRelayed/warning',
    truths: notRelayed,
    minutes: { earliest: 30, latest: 100, ends: 10 },
    reason:
      'Relayers look every five minutes. Hours of nothing in several tokens are a gas price, or relayers without funds.',
  },
  {
    alert: 'BridgeBatchNotRelayed/critical',
    truths: notRelayed,
    minutes: { earliest: 90, latest: 260, ends: 10 },
    reason: 'A batch lives for 9.6 hours. Half of that is left to find a relayer.',
  },
  {
    alert: 'BridgeBatchTimeoutNear/warning',
    truths: (world) => {
      const near = relayable(world).filter(({ blocksLeft }) => blocksLeft <= 1200);
      if (near.length === 0) return NOTHING;
      return [{ isSure: near.some(({ blocksLeft, isExecuted }) => blocksLeft <= 500 && !isExecuted) }];
    },
    minutes: { earliest: 0, latest: 15, ends: 10 },
    reason: 'Less than two hours are left until the contract rejects a batch for which somebody would pay.',
  },
  {
    alert: 'BridgeBatchOverdue/critical',
    truths: (world) => {
      const overdue = batchesOf(world).filter(({ isWorthwhile, blocksLeft }) => isWorthwhile && blocksLeft <= 2);
      if (overdue.length === 0) return NOTHING;
      return [
        {
          isSure: overdue.some(
            ({ isExecuted, signed, blocksLeft }) => !isExecuted && signed >= QUORUM && blocksLeft < -5,
          ),
        },
      ];
    },
    minutes: { earliest: 10, latest: 45, ends: 10 },
    reason: 'Its transfers are neither executable nor cancellable until the hub observes another event.',
  },
  {
    alert: 'BridgeBatchOverdue/warning',
    truths: (world) => {
      const overdue = batchesOf(world).filter(({ isWorthwhile, blocksLeft }) => isWorthwhile && blocksLeft <= 2);
      return overdue.length === 0 ? NOTHING : [{ isSure: false }];
    },
    minutes: { earliest: 10, latest: Infinity, ends: 10 },
    reason: 'The same of a batch that was never signed; nobody can do more about it.',
  },
  // The queue
  {
    alert: 'BridgeBacklogStuck/critical',
    truths: (world) =>
      tokensWorthABatch(world).map(({ token, batches }) => ({
        about: { token_contract: token.contract.toLowerCase() },
        identity: batches,
        isSure: true,
      })),
    minutes: { earliest: 20, latest: 60, ends: 10 },
    reason: 'Batch creators look once a minute, and anybody can request a batch.',
  },
  {
    alert: 'BridgeBacklogHigh/warning',
    truths: (world) => above(waitingTransfers(world), 505, 495),
    minutes: { earliest: 15, latest: 45, ends: 10 },
    reason: 'The limit is a setting, here 500.',
  },
  // The oracle
  {
    alert: 'BridgeOracleStalled/critical',
    truths: (world) => {
      const next = nextEvent(world);
      return above(next?.shares[0] ?? 0, THIRD + MARGIN, THIRD - MARGIN).map((truth) => ({
        ...truth,
        identity: next?.nonce ?? 0,
      }));
    },
    minutes: { earliest: 10, latest: 35, ends: 10 },
    reason:
      'Orchestrators vote within minutes. Two thirds do not vote for what a third says has happened: no deposit arrives.',
  },
  {
    alert: 'BridgeOracleStalled/warning',
    truths: (world) => {
      const next = nextEvent(world);
      const share = next?.shares[0];
      if (next === undefined || share === undefined || share >= THIRD + MARGIN) return NOTHING;
      return [{ isSure: share < THIRD - MARGIN, identity: next.nonce }];
    },
    minutes: { earliest: 45, latest: 80, ends: 10 },
    reason:
      'A claim of a few: the event does not exist, or only they have seen it. Not urgent, but somebody should look.',
  },
  {
    alert: 'BridgeConflictingClaims/critical',
    truths: (world) => {
      const state = conflict(world);
      const identity = nextEvent(world)?.nonce ?? 0;
      return state === 'blocked' || state === 'close' ? [{ isSure: state === 'blocked', identity }] : NOTHING;
    },
    minutes: { earliest: 5, latest: 20, ends: 10 },
    reason: 'Votes cannot be changed. No claim can win any more, so nothing arrives until governance acts.',
  },
  {
    alert: 'BridgeConflictingClaims/warning',
    truths: (world) => {
      const state = conflict(world);
      return state === 'none' ? NOTHING : [{ isSure: state === 'open', identity: nextEvent(world)?.nonce ?? 0 }];
    },
    minutes: { earliest: 5, latest: 20, ends: 10 },
    reason: 'One claim can still win, but one of the groups reads something else than the others.',
  },
  {
    alert: 'BridgeOracleSilent/critical',
    seenIn: CONTRACT,
    truths: (world) => {
      const { count, lastObserved } = unobservedEvents(world);
      return count > 0 ? [{ isSure: true, identity: lastObserved }] : NOTHING;
    },
    minutes: { earliest: 45, latest: 90, ends: 10 },
    reason:
      'Events are claimed three minutes later. The contract has events that the hub does not observe for an hour.',
  },
  {
    alert: 'BridgeOrchestratorMissingVotes/warning',
    truths: (world) =>
      above(missingVotes(world).others, 0.15 + MARGIN, 0.15 - MARGIN).map((truth) => ({
        // Whoever is slow votes for each event in the end.
        isSure: truth.isSure && faultsOf(world, 'validators slow').length === 0,
        about: { watched: 'false' },
      })),
    minutes: { earliest: 10, latest: 45, ends: 10 },
    reason: 'From 34 % on no event is observed. Two validators of 7 % never vote, which is no news.',
  },
  {
    alert: 'BridgeOrchestratorMissingVotes/warning',
    truths: (world) => whenever(missingVotes(world).watched).map((truth) => ({ ...truth, about: { watched: 'true' } })),
    minutes: { earliest: 10, latest: 45, ends: 10 },
    reason: 'The own orchestrator does not read the external chain.',
  },
  {
    // The event that it does not vote for is not observed, so that its position is not behind the hub.
    alert: 'BridgeOrchestratorMissingVotes/warning',
    truths: (world) =>
      whenever(nextEvent(world) !== undefined).map(() => ({ isSure: false, identity: nextEvent(world)?.nonce ?? 0 })),
    minutes: { earliest: 20, latest: Infinity, ends: 10 },
    reason: 'While an event is stalled, whoever has not voted for it may be named.',
  },
  {
    alert: 'BridgeWatchedOrchestratorLagging/warning',
    truths: (world) => {
      const isNamed = faultsOf(world, 'watched validator silent', 'watched validator jailed').length > 0;
      if (missingVotes(world).watched) return [{ isSure: isNamed }];
      return nextEvent(world) === undefined ? NOTHING : [{ isSure: false }];
    },
    minutes: { earliest: 10, latest: 50, ends: 10 },
    reason: 'The same by the claim position that the node has of it.',
  },
  {
    alert: 'BridgeClaimWithoutBatch/critical',
    truths: phantom('batch that does not exist', 'MsgWithdrawClaim', isThird),
    minutes: { earliest: 0, latest: 6, ends: 10 },
    reason: 'At 66 % every node of the hub panics. There are minutes to stop orchestrators.',
  },
  {
    alert: 'BridgeClaimWithoutBatch/warning',
    truths: phantom('batch that does not exist', 'MsgWithdrawClaim', isLess),
    minutes: { earliest: 2, latest: 15, ends: 10 },
    reason: 'One lying validator alone cannot halt the hub.',
  },
  {
    alert: 'BridgeContractValsetMismatch/critical',
    truths: phantom('validator set claimed that does not exist', 'MsgValsetUpdatedClaim', isThird),
    minutes: { earliest: 0, latest: 6, ends: 10 },
    reason: 'A third says that the contract has a set which the hub did not make: somebody else may control the funds.',
  },
  {
    alert: 'BridgeContractValsetMismatch/warning',
    truths: phantom('validator set claimed that does not exist', 'MsgValsetUpdatedClaim', isLess),
    minutes: { earliest: 2, latest: 15, ends: 10 },
    reason: 'One lying validator.',
  },
  {
    alert: 'BridgeContractValsetMismatch/critical',
    seenIn: CONTRACT,
    truths: (world) => ofFaults(faultsOf(world, 'validator set forged')),
    minutes: { earliest: 0, latest: 15, ends: 0 },
    reason: 'A theft in progress. The contract shows it before the hub observes it.',
  },
  // The validator sets
  {
    alert: 'BridgeValsetDrift/warning',
    truths: (world) => above(drift(world), 0.1 + MARGIN / 2, 0.1 - MARGIN / 2),
    minutes: { earliest: 60, latest: 140, ends: 10 },
    reason: 'Relayers take hours for a set. From 68 % on the old members may not reach the quorum, so 10 % are early.',
  },
  {
    alert: 'BridgeWatchedValidatorJailed/critical',
    truths: (world) => ofFaults(faultsOf(world, 'watched validator jailed')),
    minutes: { earliest: 0, latest: 8, ends: 10 },
    reason: 'It earns nothing. Unjailing takes one transaction.',
  },
  {
    alert: 'BridgeWatchedValidatorInactive/critical',
    truths: (world) => ofFaults(faultsOf(world, 'watched validator jailed')),
    minutes: { earliest: 5, latest: 18, ends: 10 },
    reason: 'The same by the newest set.',
  },
  {
    alert: 'BridgeWatchedValidatorInactive/warning',
    truths: (world) => ofFaults(faultsOf(world, 'watched validator jailed'), () => ({ isSure: false })),
    minutes: { earliest: 5, latest: Infinity, ends: 10 },
    reason: 'A process that has never seen it in a set cannot tell that it left.',
  },
  {
    alert: 'BridgeWatchedValidatorUnknown/warning',
    truths: (world) => ofFaults(faultsOf(world, 'queries refused')),
    minutes: { earliest: 45, latest: 80, ends: 10 },
    reason: 'Whether the own validator is jailed is not known any more.',
  },
  // The contract
  {
    alert: 'BridgeContractPaused/critical',
    seenIn: CONTRACT,
    truths: (world) => ofFaults(faultsOf(world, 'contract paused')),
    minutes: { earliest: 0, latest: 8, ends: 10 },
    reason: 'Nothing goes through. Somebody has stopped the bridge, who knows why.',
  },
  {
    alert: 'BridgeTokenUnbacked/critical',
    seenIn: CONTRACT,
    truths: (world) =>
      ofFaults(faultsOf(world, 'contract drained'), ({ tokenContract = '' }) => ({
        about: { token_contract: tokenContract },
        isSure: true,
      })),
    minutes: { earliest: 5, latest: 25, ends: 20 },
    reason: 'Balances are read every five minutes, and events in flight have to arrive.',
  },
  {
    alert: 'BridgeContractOwnerChanged/critical',
    seenIn: CONTRACT,
    truths: (world) =>
      ofFaults(
        faultsOf(world, 'contract upgraded', 'contract has another owner').filter(
          ({ fromMinute }) => world.minute < fromMinute + NEWS_MINUTES,
        ),
      ),
    minutes: { earliest: 0, latest: 70, ends: 130 },
    reason: 'Owner and implementation are read once an hour. It is news until somebody has seen it, and not for ever.',
  },
  {
    alert: 'BridgePowerThresholdTooLow/warning',
    seenIn: CONTRACT,
    truths: (world) => ofFaults(faultsOf(world, 'contract requires more power')),
    minutes: { earliest: 5, latest: 85, ends: 75 },
    reason: 'The threshold is read once an hour.',
  },
  // Governance
  {
    alert: 'BridgeParamsChanged/info',
    truths: (world) => ofFaults(faultsOf(world, 'parameter changed')),
    minutes: { earliest: 0, latest: 5, ends: 75 },
    reason: 'For the record.',
  },
  {
    alert: 'BridgeParamsChanged/warning',
    truths: (world) => ofFaults(faultsOf(world, 'admins changed')),
    minutes: { earliest: 0, latest: 5, ends: 75 },
    reason: 'Admins act without a proposal.',
  },
  {
    alert: 'BridgeBlacklistChanged/info',
    truths: (world) => ofFaults(faultsOf(world, 'blacklist changed')),
    minutes: { earliest: 0, latest: 5, ends: 75 },
    reason: 'Admins act without a proposal, and whoever is listed asks the support.',
  },
  {
    alert: 'BridgeParamsChanged/critical',
    truths: (world) => ofFaults(faultsOf(world, 'contract replaced')),
    minutes: { earliest: 0, latest: 5, ends: 370 },
    reason: 'A migration that was announced, or an attack.',
  },
  // Cross-chain transactions
  {
    alert: 'CrosschainBacklogStuck/critical',
    truths: (world) =>
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
    minutes: { earliest: 0, latest: 0, ends: 10 },
    reason:
      'Nonces finish in order: the lowest one does not move for longer than one ever takes, so nothing of the chain does.',
  },
  {
    alert: 'CrosschainOldestPendingTooOld/warning',
    truths: oldest(usualMinutes),
    minutes: { earliest: 0, latest: 10, ends: 10 },
    reason: 'Longer than a healthy one takes, 99.9 % of the time.',
  },
  {
    alert: 'CrosschainOldestPendingTooOld/critical',
    truths: oldest(staleMinutes),
    minutes: { earliest: 0, latest: 10, ends: 10 },
    reason: 'Gas price increases, five within an hour, have not helped.',
  },
  {
    alert: 'BridgeBatchUnsigned/critical',
    truths: (world) => ofFaults(faultsOf(world, 'validator set forged'), () => ({ isSure: false })),
    minutes: { earliest: 0, latest: Infinity, ends: 10 },
    reason: 'The contract of an attacker accepts nothing that the validators of the hub have signed.',
  },
  {
    alert: 'BridgeOracleSilent/critical',
    seenIn: [],
    truths: (world) => faultsOf(world, 'node rolled back').map(() => ({ isSure: false })),
    minutes: { earliest: 0, latest: Infinity, ends: 10 },
    reason: 'A hub that was rolled back has not observed the events of hours.',
  },
  ...(['CrosschainBacklogStuck/critical', 'CrosschainOldestPendingTooOld/critical'] as const).map(
    (alert): Expectation => ({
      alert,
      seenIn: [],
      truths: (world) => faultsOf(world, 'node rolled back').map(() => ({ isSure: false })),
      minutes: { earliest: 0, latest: Infinity, ends: 10 },
      reason: 'On a hub that was rolled back, transactions are pending again that were created before.',
    }),
  ),
  {
    alert: 'CrosschainCctxsMissed/warning',
    truths: (world) =>
      queues(world)
        .filter(({ newlyMissed }) => newlyMissed > 0)
        .map(({ chainId, isMissedSinceBegin }) => ({ about: { chain_id: chainId }, isSure: isMissedSinceBegin })),
    minutes: { earliest: 8, latest: 30, ends: 10 },
    reason:
      'Its hash was lost. Somebody has to post it, before the chain freezes. A new exporter cannot know since when it is missed.',
  },
  {
    alert: 'CrosschainFreezeNear/warning',
    truths: freezes(0.55, 0.45),
    minutes: { earliest: 0, latest: 15, ends: 10 },
    reason: 'Clients send nothing whose nonce is further above the lowest missed one than their lookahead.',
  },
  {
    alert: 'CrosschainFreezeNear/critical',
    truths: freezes(0.85, 0.75),
    minutes: { earliest: 0, latest: 10, ends: 10 },
    reason: 'A dozen transactions later the chain stops.',
  },
  {
    alert: 'CrosschainCctxsUnlisted/warning',
    truths: (world) =>
      queues(world)
        .filter(({ unlisted }) => unlisted > 0)
        .map(({ chainId }) => ({ about: { chain_id: chainId }, isSure: true })),
    minutes: { earliest: 8, latest: 45, ends: 15 },
    reason: 'No client works on it any more.',
  },
  {
    alert: 'CrosschainOutboundDisabled/warning',
    truths: (world) => ofFaults(faultsOf(world, 'chains switched off')),
    minutes: { earliest: 0, latest: 6, ends: 10 },
    reason: 'Switched off on purpose, but not by everybody who waits.',
  },
  {
    alert: 'CrosschainBacklogHigh/warning',
    truths: (world) =>
      above(
        queues(world).reduce((sum, { pending }) => sum + pending, 0),
        215,
        190,
      ),
    minutes: { earliest: 15, latest: 45, ends: 10 },
    reason: 'The limit is a setting, here 200.',
  },
  {
    alert: 'CrosschainPendingListTruncated/warning',
    truths: (world) => above(allPending(world), MAX_LISTED + 5, MAX_LISTED - 5),
    minutes: { earliest: 5, latest: 25, ends: 10 },
    reason: 'The node lists 500.',
  },
  // Nodes and polls
  ...(
    [
      ['BridgeHeightStalled/critical', 'module_state'],
      ['CrosschainHeightStalled/critical', 'rate_limiter_input'],
    ] as const
  ).map(([alert, polled]): Expectation => ({
    alert,
    seenIn: [],
    truths: (world) => {
      const isPolled = failing(world).every(({ document }) => document !== polled);
      return ofFaults(faultsOf(world, 'hub halted', 'node stuck'), () => ({ isSure: isPolled }));
    },
    minutes: { earliest: 8, latest: 22, ends: 8 },
    reason: 'The hub makes a block every second. A quarter of an hour without one is a halt, or a node that hangs.',
  })),
  {
    alert: 'BridgeNodeBehind/warning',
    seenIn: [],
    truths: (world) => [
      ...ofFaults(faultsOf(world, 'hub halted', 'node stuck'), () => ({ isSure: false })),
      ...faultsOf(world, 'node behind').flatMap(({ lag }) => above(lag?.minutes ?? 0, 7, 2)),
      ...faultsOf(world, 'node of the external chain behind').map(() => ({ isSure: true })),
    ],
    minutes: { earliest: 0, latest: 20, ends: 10 },
    reason: 'Everything that the node says is as old. The time of its newest block proves since when.',
  },
  {
    alert: 'BridgeStateRolledBack/critical',
    seenIn: [],
    // When the height is past what it was before, nothing shows it any more.
    truths: (world) =>
      faultsOf(world, 'node rolled back')
        .filter(({ fromMinute, lag }) => world.minute - fromMinute < (lag?.minutes ?? 0))
        .map(() => ({ isSure: true })),
    minutes: { earliest: 3, latest: 30, ends: 10 },
    reason: 'What was final is not. Not a minute or two, which another node may be behind.',
  },
  {
    alert: 'BridgeEndpointDown/warning',
    seenIn: [],
    truths: failing,
    minutes: { earliest: 1, latest: 8, ends: 3 },
    reason: 'A node that restarts is back within minutes.',
  },
  {
    alert: 'BridgeSnapshotStale/critical',
    seenIn: [],
    truths: (world) => failing(world).filter((truth) => !isOptional(truth)),
    minutes: { earliest: 8, latest: 14, ends: 3 },
    reason: 'Nobody hears of anything else.',
  },
  {
    alert: 'BridgeSnapshotStale/warning',
    seenIn: [],
    truths: (world) => failing(world).filter(isOptional),
    minutes: { earliest: 8, latest: 20, ends: 3 },
    reason: 'What the hub says is still there.',
  },
  {
    alert: 'BridgeEndpointMisconfigured/warning',
    seenIn: [],
    truths: (world) => (faultsOf(world, 'node refuses').length > 0 ? failing(world) : NOTHING),
    minutes: { earliest: 1, latest: 10, ends: 3 },
    reason: 'Somebody has to change the configuration.',
  },
  {
    alert: 'BridgeResponseNearLimit/warning',
    seenIn: [],
    truths: (world) => (faultsOf(world, 'document too large for the node').length > 0 ? failing(world) : NOTHING),
    minutes: { earliest: 1, latest: 10, ends: 3 },
    reason: 'Somebody has to change the limit of the node.',
  },
  {
    alert: 'BridgeProblemUnjudged/warning',
    seenIn: [],
    truths: (world) => [
      ...ofFaults(faultsOf(world, 'field missing')),
      ...ofFaults(faultsOf(world, 'queries refused'), () => ({ isSure: false })),
      // The contract is compared with what the hub says.
      ...ofFaults(
        world.faults.filter(({ blinds = [] }) => blinds.includes('module_state')),
        () => ({ document: 'external_contract', isSure: false }),
      ),
    ],
    minutes: { earliest: 5, latest: 15, ends: 5 },
    reason: 'What cannot be judged may be wrong.',
  },
  {
    alert: 'BridgeProblemUnjudged/critical',
    seenIn: [],
    truths: (world) => ofFaults(faultsOf(world, 'field missing'), () => ({ isSure: false })),
    minutes: { earliest: 5, latest: Infinity, ends: 5 },
    reason: 'The same of a problem that was there before.',
  },
];
