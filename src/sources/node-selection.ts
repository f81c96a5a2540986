import type { Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import type { NodeStatus } from '../document-types.js';
import { durationInWords } from '../text/format.js';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../units.js';

/*
 * In which order the nodes of an endpoint are polled, as a pure function of what was observed of them. The node in use
 * stays until a poll of it fails or it is behind another one; an earlier one is used again when it has been good for
 * ten minutes. So a node that comes and goes causes two switches in ten minutes at most.
 */

/** What was observed of a node. Each document and each probe replaces it as a whole. */
export interface NodeObservation {
  /** Host and port, with which messages begin. */
  readonly source: string;
  /** The id of the bridge in its last document. */
  readonly bridgeId?: string | undefined;
  readonly document?: { readonly at: Instant; readonly height: Numeral | undefined };
  /** The newest blocks that its probes have shown within ten minutes, the last one first. */
  readonly blocks: readonly ShownBlock[];
  /** The failure of a document, or of a probe between documents, until a document is served. */
  readonly failed?:
    | {
        readonly since: Instant;
        readonly message: string;
        /** When its document has last failed. */
        readonly documentAt: Instant | undefined;
      }
    | undefined;
  readonly behind?: { readonly since: Instant; readonly message: string } | undefined;
  /** Since when it has neither failed nor been behind. */
  readonly goodSince?: Instant | undefined;
}

/** A block, and when a node has shown it as its newest one. */
export interface ShownBlock {
  readonly at: Instant;
  readonly height: Numeral;
  /** Block time in Unix seconds, at most the wall time of `at`: a node with a fast clock does not look newer. */
  readonly seconds: number;
}

const BEHIND_SECONDS = MINUTE_SECONDS;
/** Blocks that were shown further apart are not compared. */
const COMPARED_SECONDS = 2 * MINUTE_SECONDS;
/** How long blocks are kept, and how long a node must be good before it is used again. */
const GOOD_SECONDS = 10 * MINUTE_SECONDS;

/** The nodes in the order in which they are polled until one serves the document. `inUse`: of the last document. */
export function orderNodes<Node extends { readonly observation: NodeObservation }>(
  nodes: readonly Node[],
  inUse: Node | undefined,
  now: Instant,
): readonly Node[] {
  const indexInUse = inUse === undefined ? 0 : nodes.indexOf(inUse);
  const rank = ({ observation }: Node, index: number): number => {
    // A failed node that answers probes again (2) may serve a newer document than a node that is behind (3).
    if (findTrouble(observation, now)?.isDown === true) return observation.goodSince === undefined ? 4 : 2;
    if (observation.behind !== undefined) return 3;
    return index < indexInUse && !hasBeenGood(observation, now) ? 1 : 0;
  };
  const ranks = new Map(nodes.map((node, index) => [node, rank(node, index)]));
  return nodes.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
}

function hasBeenGood({ goodSince }: NodeObservation, now: Instant): boolean {
  return goodSince !== undefined && now - goodSince >= GOOD_SECONDS;
}

/** Why a node is polled only after others, since when; `undefined` for a usable node. */
export function findTrouble(observation: NodeObservation, now: Instant): NodeStatus['trouble'] {
  const { failed, behind } = observation;
  if (behind !== undefined && failed === undefined) return { ...behind, isDown: false };
  // A failed node that has answered probes for ten minutes is asked for its document again when it is needed.
  if (failed === undefined || hasBeenGood(observation, now)) return undefined;
  return { since: failed.since, message: failed.message, isDown: true };
}

export function withServed(before: NodeObservation, at: Instant): NodeObservation {
  return { ...before, failed: undefined, goodSince: before.goodSince ?? at };
}

/**
 * A failure lasts until the node has been good for ten minutes. Only after that is its document requested again: if
 * this fails within an hour of the last failure, the node has served none in between, and the failure is the old one.
 */
export function withFailed(
  before: NodeObservation,
  at: Instant,
  message: string,
  request: 'document' | 'probe',
): NodeObservation {
  const isRepeated = request === 'document' && at - (before.failed?.documentAt ?? -Infinity) <= HOUR_SECONDS;
  const last = isRepeated || !hasBeenGood(before, at) ? before.failed : undefined;
  const documentAt = request === 'document' ? at : last?.documentAt;
  return { ...before, failed: { since: last?.since ?? at, message, documentAt }, goodSince: undefined };
}

/** `block`: `undefined` if the node has no path for it. */
export function withProbe(before: NodeObservation, at: Instant, block: ShownBlock | undefined): NodeObservation {
  const kept = before.blocks.filter((shown) => at - shown.at <= GOOD_SECONDS);
  const blocks = block === undefined ? kept : [block, ...kept];
  return { ...before, blocks, goodSince: before.goodSince ?? at };
}

/**
 * Whether a node is behind another one, after all were probed or after its document. The block of its last document
 * counts as well as that of its last probe, because a cache can keep documents and not the small responses to probes.
 */
export function withDelay(
  observation: NodeObservation,
  nodes: readonly NodeObservation[],
  at: Instant,
  isInUse: boolean,
): NodeObservation {
  const { source, bridgeId, blocks, document } = observation;
  const peers = nodes.filter((node) => (node.bridgeId ?? bridgeId) === (bridgeId ?? node.bridgeId));
  const others = peers.filter((node) => node.source !== source);
  const isCurrent = document !== undefined && (isInUse || at - document.at <= COMPARED_SECONDS);
  const own = [...blocks.slice(0, 1), ...(isCurrent ? findDocumentBlock(document, peers) : [])];
  const delays = own.flatMap((block) =>
    others.flatMap((node) =>
      node.blocks.map((other) => ({ source: node.source, seconds: measureDelay(block, other) })),
    ),
  );
  const [longest] = delays.toSorted((a, b) => b.seconds - a.seconds);
  if (longest === undefined || longest.seconds <= BEHIND_SECONDS) return { ...observation, behind: undefined };
  const message = `${source} is ${durationInWords(longest.seconds)} behind ${longest.source}`;
  return { ...observation, goodSince: undefined, behind: { since: observation.behind?.since ?? at, message } };
}

/** The lower delay, by block times (a chain can stand) or by ages (nodes are asked at different times). */
function measureDelay(block: ShownBlock, other: ShownBlock): number {
  if (Math.abs(block.at - other.at) > COMPARED_SECONDS) return 0;
  const newerSeconds = other.seconds - block.seconds;
  return Math.min(newerSeconds, newerSeconds - (other.at - block.at));
}

/** The block of a document, with the time of the first later block that a node had shown by then: it is older. */
function findDocumentBlock(
  { at, height }: NonNullable<NodeObservation['document']>,
  nodes: readonly NodeObservation[],
): readonly ShownBlock[] {
  if (height === undefined) return [];
  const later = nodes.flatMap(({ blocks }) => blocks.filter((shown) => shown.at <= at && shown.height > height));
  return later.length === 0 ? [] : [{ at, height, seconds: Math.min(...later.map(({ seconds }) => seconds)) }];
}
