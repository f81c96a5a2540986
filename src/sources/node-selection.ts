import type { Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import type { NodeObservation, Probe } from '../engine/node-observation.js';
import type { PollError } from '../http/failure-reasons.js';
import { BEHIND_SECONDS, CLOCK_BEHIND_SECONDS } from '../queries/node-status.js';
import { durationInWords } from '../text/format.js';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../units.js';

/*
 * Which of several nodes of an endpoint is polled, as a pure function of what was observed of them. A node proves that
 * it is usable by a document: after a failed one, a good probe is not enough. A node that was ruled out by its block or
 * by a failed probe must have had good probes for a while, so that a node that comes and goes causes no switches.
 */

/** What was observed of all nodes, in the order of the configuration. */
export interface Observations {
  /** The index of the node that served the last document. */
  readonly inUse: number | undefined;
  /** The chain of the endpoint: the first one of a node in use. */
  readonly chainId: string | undefined;
  readonly nodeObservations: readonly NodeObservation[];
}

const PROBE_SECONDS = MINUTE_SECONDS;
const MAX_PROBE_SECONDS = 10 * MINUTE_SECONDS;
/** An older lag says nothing. */
const FRESH_SECONDS = 2 * MINUTE_SECONDS;
const FIRST_TRIAL_SECONDS = 5 * MINUTE_SECONDS;
const MAX_TRIAL_SECONDS = HOUR_SECONDS;
/** How long probes must be good before a node is used again. */
const GOOD_SECONDS = 5 * MINUTE_SECONDS;
/** How long a greater height of another node keeps a lower one from being accepted. */
const HEIGHT_SECONDS = 10 * MINUTE_SECONDS;

/**
 * The nodes to poll in turn, first those that are usable in the order of preference. A node of another chain is not
 * polled.
 */
export function select<Node>(nodes: readonly Node[], observations: Observations, now: Instant): readonly Node[] {
  const { inUse, nodeObservations } = observations;
  const judged = nodes.flatMap((node, index) => {
    const observation = nodeObservations[index];
    if (observation === undefined || findOtherChain(observation, observations) !== undefined) return [];
    return [{ node, index, observation, rank: rankNode(observation, now) }];
  });
  return judged
    .toSorted((a, b) => {
      if (a.rank !== b.rank) return a.rank - b.rank;
      if (a.rank === 0) return a.index - b.index;
      const [hangA, hangB] = [hangAt(a.observation), hangAt(b.observation)];
      if (hangA === 0 && hangB === 0) return Number(b.index === inUse) - Number(a.index === inUse) || a.index - b.index;
      // A node that hung is polled last. The later one is first, so that the next poll starts at another node.
      return hangA === 0 || hangB === 0 ? hangA - hangB : hangB - hangA || b.index - a.index;
    })
    .map(({ node }) => node);
}

/** 0: usable. The others are polled when no better node has a document. */
function rankNode(observation: NodeObservation, now: Instant): number {
  if (observation.failed !== undefined) return 3;
  if (isUnfit(observation, now)) return 2;
  return isProbeFailing(observation, now) ? 1 : 0;
}

function hangAt({ failed }: NodeObservation): number {
  return failed?.isHang === true ? failed.at : 0;
}

function isUnfit({ unfit, goodSince }: NodeObservation, now: Instant): boolean {
  return unfit !== undefined && !hasBeenGood(goodSince, now);
}

function hasBeenGood(goodSince: Instant | undefined, now: Instant): boolean {
  return goodSince !== undefined && now - goodSince >= GOOD_SECONDS;
}

/** A document that was served meanwhile proves that only the probe fails. */
function isProbeFailing({ probeFailed, goodSince, served }: NodeObservation, now: Instant): boolean {
  if (probeFailed === undefined || hasBeenGood(goodSince, now)) return false;
  return served === undefined || served.at < probeFailed.since;
}

/** The nodes that are not of another chain, without this one. */
export function othersOfChain(observation: NodeObservation, observations: Observations): readonly NodeObservation[] {
  return observations.nodeObservations.filter(
    (other) => other !== observation && findOtherChain(other, observations) === undefined,
  );
}

/** Whether the chain of a node is asked: once an hour, and while nodes name different ones. */
export function isChainDue({ chain }: NodeObservation, { nodeObservations }: Observations, now: Instant): boolean {
  if (chain === undefined || now - chain.at >= HOUR_SECONDS) return true;
  return nodeObservations.some((other) => other.chain !== undefined && other.chain.id !== chain.id);
}

/**
 * The chain of a node that is not that of the endpoint. When all nodes are of the same other chain, the chain was
 * renamed.
 */
function findOtherChain({ chain }: NodeObservation, { chainId, nodeObservations }: Observations): string | undefined {
  if (chain === undefined || chainId === undefined || chain.id === chainId) return undefined;
  return nodeObservations.every((other) => other.chain?.id === chain.id) ? undefined : chain.id;
}

/** What is wrong with a node, since when; `undefined` for a usable node. */
export function findTrouble(
  observation: NodeObservation,
  observations: Observations,
  now: Instant,
): { readonly since: Instant; readonly message: string; readonly isDown: boolean } | undefined {
  const { source, addedAt, served, failed, unfit, probe, probeFailed, chain } = observation;
  const otherChain = findOtherChain(observation, observations);
  if (otherChain !== undefined) {
    const message = `${source} is a node of chain ${otherChain}, not of chain ${observations.chainId}`;
    return { since: chain?.at ?? now, message, isDown: true };
  }
  const lastGoodAt = Math.max(probe?.at ?? addedAt, served?.at ?? addedAt);
  if (failed !== undefined) {
    // Good probes do not mean that the document can be read; its last one can be an hour old.
    const since = probeFailed === undefined ? failed.since : Math.min(failed.since, lastGoodAt);
    return { since, message: failed.message, isDown: true };
  }
  if (probeFailed !== undefined && isProbeFailing(observation, now)) {
    return { since: lastGoodAt, message: probeFailed.message, isDown: probeFailed.count > 0 };
  }
  if (unfit !== undefined && isUnfit(observation, now)) {
    return { since: unfit.at, message: `${source} ${unfit.reason}`, isDown: false };
  }
  return undefined;
}

export function withServed(before: NodeObservation, at: Instant, height: Numeral | undefined): NodeObservation {
  const since = before.failed === undefined ? (before.served?.since ?? at) : at;
  return { ...before, served: { at, since, height }, failed: undefined };
}

/** The time until the next trial doubles with each one that has failed, or was followed by a failure soon after. */
export function withFailed(before: NodeObservation, at: Instant, error: PollError): NodeObservation {
  const { failed, served, lastWaitSeconds = 0 } = before;
  const { message, reason, retryAfterMs = 0 } = error;
  const isHang = reason === 'timeout';
  if (failed !== undefined && at < failed.trialAt) return { ...before, failed: { ...failed, at, isHang, message } };
  const isProven = failed === undefined && (served === undefined || at - served.since >= lastWaitSeconds);
  const doubled = isProven ? FIRST_TRIAL_SECONDS : Math.max(FIRST_TRIAL_SECONDS, 2 * lastWaitSeconds);
  const waitSeconds = Math.min(MAX_TRIAL_SECONDS, Math.max(doubled, retryAfterMs / 1000));
  const trial = { since: failed?.since ?? at, at, trialAt: at + waitSeconds, isHang, message };
  return { ...before, failed: trial, lastWaitSeconds: waitSeconds };
}

export function withProbe(before: NodeObservation, probe: Probe, others: readonly NodeObservation[]): NodeObservation {
  const { at, chainId } = probe;
  const reason = unfitReason(probe, others);
  const isProven = hasBeenGood(before.goodSince, at);
  return {
    ...before,
    probe,
    probeFailed: isProven || before.probeFailed === undefined ? undefined : { ...before.probeFailed, count: 0 },
    goodSince: reason === undefined ? (before.goodSince ?? at) : undefined,
    unfit: reason === undefined ? (isProven ? undefined : before.unfit) : { at, reason },
    ...(chainId !== undefined && { chain: { id: chainId, at } }),
  };
}

function isFresh(probe: Probe | undefined, now: Instant): probe is Probe {
  return probe !== undefined && now - probe.at <= FRESH_SECONDS;
}

/** A block in the future says that the clock of the exporter is wrong, unless the block of another node is not. */
function unfitReason({ at, lagSeconds, isSyncing }: Probe, others: readonly NodeObservation[]): string | undefined {
  if (lagSeconds > BEHIND_SECONDS) return `is ${durationInWords(lagSeconds)} behind the chain`;
  if (isSyncing) return 'is catching up';
  const isAhead = (seconds: number): boolean => -seconds > CLOCK_BEHIND_SECONDS;
  const isAlone = others.some(({ probe }) => isFresh(probe, at) && !isAhead(probe.lagSeconds));
  return isAhead(lagSeconds) && isAlone ? 'has a block in the future, which other nodes have not' : undefined;
}

export function withFailedProbe(before: NodeObservation, at: Instant, message: string): NodeObservation {
  const { since, count = 0 } = before.probeFailed ?? {};
  const probeFailed = { since: count === 0 ? at : (since ?? at), at, count: count + 1, message };
  return { ...before, goodSince: undefined, probeFailed };
}

/** Whether a node is probed. A failing one is probed less often. */
export function isProbeDue({ probe, probeFailed }: NodeObservation, now: Instant): boolean {
  if (probeFailed === undefined || probeFailed.count === 0) return probe === undefined || now > probe.at;
  const waitSeconds = Math.min(MAX_PROBE_SECONDS, PROBE_SECONDS * 2 ** (probeFailed.count - 1));
  // Probes have a timer with jitter.
  return now - probeFailed.at >= waitSeconds * 0.8;
}

/** Whether a failed node is asked for its document. */
export function isTrialDue({ failed, probe, goodSince }: NodeObservation, now: Instant): boolean {
  if (failed === undefined) return false;
  // A gateway can serve the document and not the paths of probes.
  const isProbed = probe !== undefined && now < failed.trialAt + MAX_TRIAL_SECONDS;
  return now >= failed.trialAt && (!isProbed || hasBeenGood(goodSince, now));
}

/** Whether another node has shown a greater height, of late. */
export function hasShownMore(height: Numeral, others: readonly NodeObservation[], now: Instant): boolean {
  return others.some(({ served, probe }) => {
    const last = served !== undefined && (probe === undefined || probe.at < served.at) ? served : probe;
    return last?.height !== undefined && last.height > height && now - last.at <= HEIGHT_SECONDS;
  });
}
