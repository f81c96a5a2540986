import type { Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import type { NodeStatus } from '../document-types.js';

/* What a source observes of the nodes of an endpoint with several nodes. Plain data, which a state file has. */

/** Another one for another shape: then what a state file has of nodes is forgotten. */
export const NODES_VERSION = 1;

/** A node after a poll, with what was observed of it; a recording lacks that. */
export interface ObservedNode extends NodeStatus {
  readonly observation?: NodeObservation;
}

/** What was observed of a node. Each document and each probe replaces it as a whole. */
export interface NodeObservation {
  /** Host and port, with which messages begin. */
  readonly source: string;
  readonly addedAt: Instant;
  /** The last served document, and the first one since the last failure. */
  readonly served?: { readonly at: Instant; readonly since: Instant; readonly height: Numeral | undefined };
  /** The failure of the last document; absent while the last document was served. */
  readonly failed?: FailedDocument | undefined;
  /** How long the node waited for its last trial. */
  readonly lastWaitSeconds?: number;
  /** The last good probe. */
  readonly probe?: Probe;
  /** The first of the successive good probes of a node that is up to date. */
  readonly goodSince?: Instant | undefined;
  /** The last probe of a node that is behind or has a wrong time. */
  readonly unfit?: { readonly at: Instant; readonly reason: string } | undefined;
  /** The last failures of probes, until probes are good for a while. */
  readonly probeFailed?: FailedProbe | undefined;
  /** The chain, when it was asked last. */
  readonly chain?: { readonly id: string; readonly at: Instant };
  /** The id of the bridge in the last document. */
  readonly bridgeId?: string | undefined;
}

interface FailedDocument {
  readonly since: Instant;
  readonly at: Instant;
  /** When the next document is requested to find out whether the node is usable. */
  readonly trialAt: Instant;
  readonly isHang: boolean;
  readonly message: string;
}

interface FailedProbe {
  readonly since: Instant;
  readonly at: Instant;
  /** Failures since the last good probe. */
  readonly count: number;
  readonly message: string;
}

/** The newest block of a node. */
export interface Probe {
  readonly at: Instant;
  readonly height: Numeral;
  /** The time of the observation minus the time of the block. */
  readonly lagSeconds: number;
  readonly isSyncing: boolean;
  readonly chainId?: string | undefined;
}
